/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks that are written by hand: rows of shape CUSTOM. */
#ifndef TARE_RECORDER_HOOKS_CUSTOM_H
#define TARE_RECORDER_HOOKS_CUSTOM_H

#include "record/cuda_abi.h"
#include "recorder/cuda/real.h"
#include "recorder/hooks/call.h"

#define DECLARE_NEW(symbol, params)
#define DECLARE_DEL(symbol, params)
#define DECLARE_WEIGH(symbol, params)
#define DECLARE_FIRST(symbol, params)
#define DECLARE_SYNC(symbol, params)
#define DECLARE_NOTE(symbol, params)
#define DECLARE_CALL(symbol, params)
#define DECLARE_ANSWER                                                        DECLARE_CUSTOM /* answer.c */
#define DECLARE_CUSTOM(symbol, params)                                        CUresult tare_hook_##symbol params;
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) DECLARE_##shape(symbol, params)
#include "recorder/cuda/cuda_api.def"
#undef CU_API

/*
 * What most of them have in common. `begin` is whether the call is one to record, and begins it; `before` and
 * `after` stand around the driver's call.
 */
#define CUSTOM_HOOK(symbol, params, args, begin, before, after)                                                        \
	CUresult tare_hook_##symbol params                                                                                 \
	{                                                                                                                  \
		struct tare_call call;                                                                                         \
		CUresult result;                                                                                               \
                                                                                                                       \
		if (IS_MISSING(symbol))                                                                                        \
			return CUDA_ERROR_NOT_INITIALIZED;                                                                         \
		if (!(begin))                                                                                                  \
			return tare_real.symbol args;                                                                              \
		before;                                                                                                        \
		result = tare_real.symbol args;                                                                                \
		after;                                                                                                         \
		tare_call_end(&call, result);                                                                                  \
		return result;                                                                                                 \
	}

#endif
