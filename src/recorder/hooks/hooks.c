/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks, generated from cuda_api.def: a body per shape, exported under the driver's own name.
 *
 * Every body forwards the program's arguments untouched, hands back the driver's result bit for
 * bit, and records only what the driver said it did.
 */
#include "recorder/hooks/hooks.h"

#include <stddef.h>
#include <string.h>

#include "recorder/base/cost.h"
#include "recorder/base/peek.h"
#include "recorder/cuda/arrays.h"
#include "recorder/cuda/context.h"
#include "recorder/cuda/first.h"
#include "recorder/cuda/handles.h"
#include "recorder/cuda/real.h"
#include "recorder/hooks/call.h"
#include "recorder/hooks/custom.h"
#include "recorder/hooks/pools.h"
#include "recorder/recorder.h"
#include "record/clock.h"

/*
 * `sets` of a row runs twice: before the call it may only name the device (BEFORE), after it the rest; where
 * the driver had no memory, what was asked for (REFUSED). What must be known before the call takes nothing
 * from an answer (KNOWN). The tests are constant, so the compiler drops the others.
 */
enum { BEFORE, KNOWN, AFTER, REFUSED };
#define SET(field, value)                                                                                              \
	if (when == AFTER || when == KNOWN ||                                                                              \
	    (when == REFUSED && offsetof(struct tare_call, field) == offsetof(struct tare_call, asked)))                   \
		call.field = (uint64_t)(uintptr_t)(value);
#define ANSWER(out) TARE_ANSWER(result, out)
#define SET_NAME(text)                                                                                                 \
	if (when == AFTER)                                                                                                 \
		call.name = (text);
#define SET_DEVICE(ordinal)                                                                                            \
	if (when == BEFORE)                                                                                                \
		on_device = (ordinal);
/* The device of something that was made before; where that is not known, the current one. */
#define SET_DEVICE_OF(handle)                                                                                          \
	if (when == BEFORE)                                                                                                \
		on_device = tare_handle_device((uint64_t)(handle));
#define RUN_SETS(now, sets)                                                                                            \
	do {                                                                                                               \
		const int when = (now);                                                                                        \
		(void)when;                                                                                                    \
		sets                                                                                                           \
	} while (0)

#define BEGIN(symbol, class, effect)                                                                                   \
	(on_device >= 0 ? tare_call_begin_on(&call, CU_API_##symbol, TARE_CLASS_##class, effect, on_device)                \
	                : tare_call_begin(&call, CU_API_##symbol, TARE_CLASS_##class, effect))

/* What most shapes have in common: `before` and `after` stand around the driver's call. */
#define BODY(symbol, params, args, sets, begin, before, after)                                                         \
	static CUresult hook_##symbol params                                                                               \
	{                                                                                                                  \
		struct tare_call call;                                                                                         \
		CUresult result;                                                                                               \
		int on_device = -1;                                                                                            \
		uint64_t cost = tare_cost_begin();                                                                             \
                                                                                                                       \
		if (IS_MISSING(symbol))                                                                                        \
			return CUDA_ERROR_NOT_INITIALIZED;                                                                         \
		RUN_SETS(BEFORE, sets);                                                                                        \
		if (!(begin)) {                                                                                                \
			tare_cost_end(TARE_COST_CALL, cost, 1);                                                                    \
			return tare_real.symbol args;                                                                              \
		}                                                                                                              \
		before;                                                                                                        \
		tare_cost_end(TARE_COST_CALL, cost, 1);                                                                        \
		result = tare_real.symbol args;                                                                                \
		cost = tare_cost_begin();                                                                                      \
		after;                                                                                                         \
		tare_call_end(&call, result);                                                                                  \
		tare_cost_end(TARE_COST_CALL, cost, 0);                                                                        \
		return result;                                                                                                 \
	}

/* Not formatted: clang-format takes this if for one without a body. */
/* clang-format off */
#define SETS_IF_DONE(sets)                                                                         \
	if (result == CUDA_SUCCESS)                                                                \
		RUN_SETS(AFTER, sets)
/* clang-format on */

#define BODY_NEW(symbol, class, params, args, sets)                                                                    \
	BODY(symbol, params, args, sets, BEGIN(symbol, class, TARE_EFFECT_NEW), , SETS_IF_DONE(sets);                      \
	     else if (result == CUDA_ERROR_OUT_OF_MEMORY) RUN_SETS(REFUSED, sets);                                         \
	     if (TARE_CLASS_##class == TARE_CLASS_CONTEXT && result == CUDA_SUCCESS)                                       \
	         tare_context_add((CUcontext)(uintptr_t)call.handle, on_device))

#define BODY_DEL(symbol, class, params, args, sets)                                                                    \
	BODY(symbol, params, args, sets, BEGIN(symbol, class, TARE_EFFECT_DEL), RUN_SETS(KNOWN, sets), )

#define BODY_WEIGH(symbol, class, params, args, sets)                                                                  \
	BODY(symbol, params, args, sets, BEGIN(symbol, class, TARE_EFFECT_CHANGE), , SETS_IF_DONE(sets))

/* No counter is read, for nothing of the device changes. */
#define BODY_NOTE(symbol, class, params, args, sets)                                                                   \
	BODY(symbol, params, args, sets,                                                                                   \
	     tare_call_begin_unweighed(&call, CU_API_##symbol, TARE_CLASS_##class, TARE_EFFECT_CHANGE),                    \
	     if (on_device >= 0) call.device = on_device, SETS_IF_DONE(sets))

/* The handle is all that `sets` names here, and it is known before the call. */
#define BODY_FIRST(symbol, class, params, args, sets)                                                                  \
	static CUresult hook_##symbol params                                                                               \
	{                                                                                                                  \
		struct tare_call call;                                                                                         \
		CUresult result;                                                                                               \
		int on_device = -1;                                                                                            \
		uint64_t cost = tare_cost_begin();                                                                             \
                                                                                                                       \
		RUN_SETS(KNOWN, sets);                                                                                         \
		if (likely(tare_real.symbol && (tare_config.nop || !tare_first_time((const void *)(uintptr_t)call.handle)))) { \
			tare_cost_end(TARE_COST_LAUNCH, cost, 1);                                                                  \
			return tare_real.symbol args;                                                                              \
		}                                                                                                              \
		if (IS_MISSING(symbol))                                                                                        \
			return CUDA_ERROR_NOT_INITIALIZED;                                                                         \
		if (!BEGIN(symbol, class, TARE_EFFECT_CHANGE)) {                                                               \
			RUN_SETS(KNOWN, sets);                                                                                     \
			tare_first_forget((const void *)(uintptr_t)call.handle);                                                   \
			return tare_real.symbol args;                                                                              \
		}                                                                                                              \
		RUN_SETS(KNOWN, sets);                                                                                         \
		result = tare_real.symbol args;                                                                                \
		tare_call_end(&call, result);                                                                                  \
		return result;                                                                                                 \
	}

#define BODY_SYNC(symbol, class, params, args, sets)                                                                   \
	static CUresult hook_##symbol params                                                                               \
	{                                                                                                                  \
		struct tare_call call;                                                                                         \
		CUresult result;                                                                                               \
		int on_device = -1;                                                                                            \
                                                                                                                       \
		if (IS_MISSING(symbol))                                                                                        \
			return CUDA_ERROR_NOT_INITIALIZED;                                                                         \
		if (likely(tare_sync_class == TARE_CLASS_NONE)) {                                                              \
			if (likely(!tare_pools_watched) ||                                                                         \
			    !tare_call_begin_unweighed(&call, CU_API_##symbol, TARE_CLASS_POOL_STATE, TARE_EFFECT_CHANGE))         \
				return tare_real.symbol args;                                                                          \
			tare_pools_wait(&call);                                                                                    \
			result = tare_real.symbol args;                                                                            \
			tare_pools_waited(&call, result);                                                                          \
			return result;                                                                                             \
		}                                                                                                              \
		if (!BEGIN(symbol, class, TARE_EFFECT_CHANGE))                                                                 \
			return tare_real.symbol args;                                                                              \
		tare_call_is_sync(&call);                                                                                      \
		result = tare_real.symbol args;                                                                                \
		call.end = tare_clock_ticks();                                                                                 \
		if (result == CUDA_SUCCESS)                                                                                    \
			tare_async_settle(&call);                                                                                  \
		tare_call_end_at(&call, result, call.end);                                                                     \
		return result;                                                                                                 \
	}

#define BODY_CUSTOM(symbol, class, params, args, sets)
#define BODY_ANSWER(symbol, class, params, args, sets)
#define BODY_CALL(symbol, class, params, args, sets)
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets)                                          \
	BODY_##shape(symbol, class, params, args, sets)
#include "recorder/cuda/cuda_api.def"
#undef CU_API

/* Exported under the driver's own names, for programs linked with -lcuda. */
#define EXPORT(symbol, params)                                                                                         \
	extern CUresult symbol params __attribute__((alias("hook_" #symbol), visibility("default")));
#define EXPORT_NEW                    EXPORT
#define EXPORT_DEL                    EXPORT
#define EXPORT_WEIGH                  EXPORT
#define EXPORT_FIRST                  EXPORT
#define EXPORT_NOTE                   EXPORT
#define EXPORT_SYNC                   EXPORT
#define EXPORT_CUSTOM(symbol, params) /* exported where it is written: custom.c */
#define EXPORT_ANSWER(symbol, params) /* answer.c */
#define EXPORT_CALL(symbol, params)
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) EXPORT_##shape(symbol, params)
#include "recorder/cuda/cuda_api.def"
#undef CU_API

#define HOOK_NEW(symbol)                                                      (void *)hook_##symbol
#define HOOK_DEL                                                              HOOK_NEW
#define HOOK_WEIGH                                                            HOOK_NEW
#define HOOK_FIRST                                                            HOOK_NEW
#define HOOK_NOTE                                                             HOOK_NEW
#define HOOK_SYNC                                                             HOOK_NEW
#define HOOK_CUSTOM(symbol)                                                   (void *)tare_hook_##symbol
#define HOOK_ANSWER                                                           HOOK_CUSTOM
#define HOOK_CALL(symbol)                                                     NULL
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) [CU_API_##symbol] = HOOK_##shape(symbol),
void *const tare_api_hooks[CU_API_NR] = {
#include "recorder/cuda/cuda_api.def"
};
#undef CU_API
