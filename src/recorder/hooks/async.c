/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks of asynchronous allocation, and what they write of pools. */
#include "recorder/hooks/pools.h"

#include <errno.h>
#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/base/peek.h"
#include "recorder/base/sys.h"
#include "recorder/cuda/context.h"
#include "recorder/cuda/handles.h"
#include "recorder/hooks/custom.h"
#include "recorder/log/emit.h"
#include "recorder/recorder.h"
#include "record/clock.h"

/* Plain allocations that a stream is to free: they are there until the program waits. */
#define WAITING 64
static struct {
	CUdeviceptr at; /* 0: empty */
	int device;
	uint64_t context;
} waiting[WAITING];
TARE_OF_PROCESS(waiting);
static uint32_t waiting_nr;
TARE_OF_PROCESS(waiting_nr);

/* When the thread's last call ended: what began before is not of its next one. */
static TARE_TLS uint64_t last_end;

/* ---- what is written ---- */
static uint32_t short_ticks(uint64_t from, uint64_t to)
{
	return to <= from ? 0 : to - from < UINT32_MAX ? (uint32_t)(to - from) : UINT32_MAX;
}

/*
 * Another thread may have changed the pool in a call of its own that has not ended yet: what we see
 * happened at some time since somebody saw it otherwise.
 */
void tare_pool_emit(const struct tare_call *call, bool is_recorded, CUmemoryPool pool, uint64_t stamp,
                    const struct tare_pool_state *state)
{
	uint64_t begin = call ? call->begin : stamp;
	struct tare_rec_pool rec;

	if (state->has_moved && state->seen < begin)
		begin = state->seen;
	memset(&rec, 0, sizeof(rec));
	rec.tid = tare_sys_gettid() | (is_recorded || begin < last_end ? TARE_TID_INSIDE : 0);
	rec.device = (int16_t)state->device;
	rec.number = state->number;
	rec.handle = (uint64_t)(uintptr_t)pool;
	rec.reserved = state->reserved;
	rec.used = state->used;
	rec.since = short_ticks(begin, stamp);
	if (call) {
		rec.api = tare_emit_string(tare_api_rows[call->api].symbol);
		rec.ticks = short_ticks(call->begin, call->end);
	}
	tare_emit_pool(&rec, stamp);
}

void tare_pools_wait(struct tare_call *call)
{
	tare_pools_refresh(NULL, last_end);
	errno = call->saved_errno;
	call->begin = tare_clock_ticks();
}

void tare_pools_ended(uint64_t end)
{
	last_end = end;
}

static void emit_free(CUdeviceptr at, int device, uint64_t context, uint64_t begin, uint64_t end)
{
	struct tare_call call;

	memset(&call, 0, sizeof(call));
	call.api = CU_API_cuMemFreeAsync;
	call.class = TARE_CLASS_DEVICE;
	call.effect = TARE_EFFECT_DEL;
	call.device = device;
	call.context = context;
	call.handle = at;
	call.before = call.after = call.peers_before = call.peers_after = TARE_NOT_KNOWN;
	call.begin = begin;
	call.end = end;
	call.is_inside = true;
	tare_call_emit(&call, CUDA_SUCCESS);
}

/* `only`: this address, which the driver has just given again; 0: all. */
static void settle_waiting(const struct tare_call *call, CUdeviceptr only)
{
	int i;

	for (i = 0; i < WAITING && __atomic_load_n(&waiting_nr, __ATOMIC_ACQUIRE); i++) {
		CUdeviceptr at = __atomic_load_n(&waiting[i].at, __ATOMIC_ACQUIRE);
		int device = waiting[i].device;
		uint64_t context = waiting[i].context;

		if (at <= 1 || (only && at != only) ||
		    !__atomic_compare_exchange_n(&waiting[i].at, &at, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		__atomic_fetch_sub(&waiting_nr, 1, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&tare_pools_watched, 1, __ATOMIC_RELAXED);
		emit_free(at, device, context, call->begin, only ? call->begin : call->end);
	}
}

void tare_async_settle(const struct tare_call *call)
{
	if (unlikely(__atomic_load_n(&waiting_nr, __ATOMIC_ACQUIRE)))
		settle_waiting(call, 0);
}

void tare_async_given(const struct tare_call *call)
{
	if (unlikely(__atomic_load_n(&waiting_nr, __ATOMIC_ACQUIRE)))
		settle_waiting(call, call->handle);
}

static void wait_for(CUdeviceptr at, const struct tare_call *call)
{
	int i;

	for (i = 0; i < WAITING; i++) {
		CUdeviceptr empty = 0;

		if (!__atomic_compare_exchange_n(&waiting[i].at, &empty, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		waiting[i].device = call->device;
		waiting[i].context = call->context;
		__atomic_store_n(&waiting[i].at, at, __ATOMIC_RELEASE);
		__atomic_fetch_add(&waiting_nr, 1, __ATOMIC_RELEASE);
		__atomic_fetch_add(&tare_pools_watched, 1, __ATOMIC_RELEASE);
		return;
	}
	emit_free(at, call->device, call->context, call->begin, call->end);
}

void tare_pools_waited(struct tare_call *call, CUresult result)
{
	call->end = tare_clock_ticks();
	call->saved_errno = errno;
	if (result == CUDA_SUCCESS)
		tare_async_settle(call);
	tare_pools_look(call, false);
	tare_call_drop(call);
}

/* ---- around a call that takes or gives ---- */

/* Last thing before the driver: the pool is known, and with it how its change will be. */
static enum tare_pool_kind prepare(struct tare_call *call, CUmemoryPool pool)
{
	enum tare_pool_kind kind = tare_pool_kind(pool);

	if (kind == TARE_POOL_WEIGHED)
		tare_call_weigh(call, TARE_CLASS_POOL, TARE_EFFECT_CHANGE);
	else if (kind == TARE_POOL_ASKED)
		tare_pools_refresh(pool, last_end);
	else if (kind == TARE_POOL_IMPORTED)
		tare_call_weigh(call, TARE_CLASS_IPC, TARE_EFFECT_CHANGE);
	errno = call->saved_errno;
	call->begin = tare_clock_ticks();
	return kind;
}

/*
 * A change is a short record, and mostly there is none. An allocation that made the pool grow is an
 * event besides, with a stack.
 */
static void record_state(struct tare_call *call, CUmemoryPool pool)
{
	struct tare_pool_state state;

	call->saved_errno = errno;
	if (tare_pool_ask(pool, call->end, &state) && state.has_changed) {
		tare_pool_emit(call, false, pool, call->end, &state);
		if (state.has_grown) {
			call->device = state.device;
			call->handle = (uint64_t)(uintptr_t)pool;
			tare_call_emit(call, CUDA_SUCCESS);
		}
	}
	tare_call_drop(call);
}

static void finish(struct tare_call *call, enum tare_pool_kind kind, CUmemoryPool pool, CUresult result)
{
	call->end = tare_clock_ticks();
	if (kind == TARE_POOL_HOST) {
		call->saved_errno = errno;
		tare_call_drop(call);
	} else if (kind == TARE_POOL_ASKED && result == CUDA_SUCCESS) {
		record_state(call, pool);
	} else {
		tare_call_end_at(call, result, call->end);
	}
}

/* In a process with several contexts the stream, not the current one, says on which device. */
static CUmemoryPool pool_of_new(CUmemoryPool pool, CUdeviceptr at, enum tare_pool_kind *kind)
{
	CUmemoryPool told;
	int device;

	if (*kind != TARE_POOL_ASKED || tare_context_count() < 2 || !tare_pool_of(at, &told) || !told || told == pool)
		return pool;
	if (tare_real.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at) != CUDA_SUCCESS)
		return pool;
	*kind = tare_pool_add(told, device, TARE_POOL_ASKED);
	return told;
}

#define ALLOC(symbol, params, args, chosen)                                                                            \
	CUresult tare_hook_##symbol params                                                                                 \
	{                                                                                                                  \
		enum tare_pool_kind kind;                                                                                      \
		struct tare_call call;                                                                                         \
		CUmemoryPool from;                                                                                             \
		CUresult result;                                                                                               \
                                                                                                                       \
		if (IS_MISSING(symbol))                                                                                        \
			return CUDA_ERROR_NOT_INITIALIZED;                                                                         \
		if (!tare_call_begin_unweighed(&call, CU_API_##symbol, TARE_CLASS_POOL_STATE, TARE_EFFECT_CHANGE))             \
			return tare_real.symbol args;                                                                              \
		from = chosen;                                                                                                 \
		kind = prepare(&call, from);                                                                                   \
		result = tare_real.symbol args;                                                                                \
		call.end = tare_clock_ticks();                                                                                 \
		if (result == CUDA_SUCCESS) {                                                                                  \
			call.parent = TARE_ANSWER(result, dptr);                                                                   \
			from = pool_of_new(from, call.parent, &kind);                                                              \
		}                                                                                                              \
		call.asked = bytesize;                                                                                         \
		finish(&call, kind, from, result);                                                                             \
		return result;                                                                                                 \
	}
ALLOC(cuMemAllocAsync, (CUdeviceptr * dptr, size_t bytesize, CUstream hStream), (dptr, bytesize, hStream),
      tare_pool_current(call.device))
ALLOC(cuMemAllocAsync_ptsz, (CUdeviceptr * dptr, size_t bytesize, CUstream hStream), (dptr, bytesize, hStream),
      tare_pool_current(call.device))
ALLOC(cuMemAllocFromPoolAsync, (CUdeviceptr * dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),
      (dptr, bytesize, pool, hStream), pool)
ALLOC(cuMemAllocFromPoolAsync_ptsz, (CUdeviceptr * dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),
      (dptr, bytesize, pool, hStream), pool)

#define FREE(symbol, params, args)                                                                                     \
	CUresult tare_hook_##symbol params                                                                                 \
	{                                                                                                                  \
		enum tare_pool_kind kind;                                                                                      \
		struct tare_call call;                                                                                         \
		CUmemoryPool pool;                                                                                             \
		CUresult result;                                                                                               \
		bool is_plain;                                                                                                 \
                                                                                                                       \
		if (IS_MISSING(symbol))                                                                                        \
			return CUDA_ERROR_NOT_INITIALIZED;                                                                         \
		if (!tare_call_begin_unweighed(&call, CU_API_##symbol, TARE_CLASS_POOL_STATE, TARE_EFFECT_CHANGE))             \
			return tare_real.symbol args;                                                                              \
		is_plain = tare_pool_of(dptr, &pool) && !pool;                                                                 \
		kind = is_plain ? TARE_POOL_HOST : prepare(&call, pool);                                                       \
		call.parent = dptr;                                                                                            \
		result = tare_real.symbol args;                                                                                \
		call.end = tare_clock_ticks();                                                                                 \
		if (is_plain && result == CUDA_SUCCESS)                                                                        \
			wait_for(dptr, &call);                                                                                     \
		finish(&call, kind, pool, result);                                                                             \
		return result;                                                                                                 \
	}
FREE(cuMemFreeAsync, (CUdeviceptr dptr, CUstream hStream), (dptr, hStream))
FREE(cuMemFreeAsync_ptsz, (CUdeviceptr dptr, CUstream hStream), (dptr, hStream))

/* It also takes what came from a pool. */
CUresult tare_hook_cuMemFree_v2(CUdeviceptr dptr)
{
	enum tare_pool_kind kind = TARE_POOL_WEIGHED;
	CUmemoryPool pool = NULL;
	struct tare_call call;
	CUresult result;

	if (IS_MISSING(cuMemFree_v2))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!tare_call_begin_unweighed(&call, CU_API_cuMemFree_v2, TARE_CLASS_DEVICE, TARE_EFFECT_DEL))
		return tare_real.cuMemFree_v2(dptr);
	if (unlikely(tare_pools_watched) && tare_pool_of(dptr, &pool) && pool) {
		call.class = TARE_CLASS_POOL_STATE;
		call.effect = TARE_EFFECT_CHANGE;
		kind = prepare(&call, pool);
	} else {
		tare_call_weigh(&call, TARE_CLASS_DEVICE, TARE_EFFECT_DEL);
		call.handle = dptr;
	}
	result = tare_real.cuMemFree_v2(dptr);
	finish(&call, kind, pool, result);
	return result;
}

/* ---- pools themselves ---- */
/* The device on which a pool is to take its memory; -1: on none. */
static int device_of_pool(const CUmemPoolProps *theirs)
{
	CUmemPoolProps props;

	return tare_peek(&props, theirs, sizeof(props)) && props.allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
	               props.location.type == CU_MEM_LOCATION_TYPE_DEVICE
	           ? props.location.id
	           : -1;
}

/* Memory of the host, or managed: what comes to the device of that is not the pool's to say. */
static void end_create(struct tare_call *call, CUmemoryPool pool, int device, uint64_t end)
{
	struct tare_pool_state state;
	CUcontext primary;

	if (device < 0) {
		tare_pool_add(pool, -1, TARE_POOL_HOST);
		call->class = TARE_CLASS_NONE;
		call->effect = TARE_EFFECT_CHANGE;
	} else if (tare_pool_add(pool, device, TARE_POOL_ASKED) == TARE_POOL_ASKED) {
		primary = tare_context_primary(device);
		if (primary)
			call->context = (uint64_t)(uintptr_t)primary;
		tare_pool_set_number(pool);
		tare_pool_ask(pool, end, &state);
		call->handle = (uint64_t)(uintptr_t)pool;
		call->granted = state.reserved;
		call->asked = state.used;
		call->limit = state.number;
	} else {
		call->class = TARE_CLASS_POOL;
		call->effect = TARE_EFFECT_CHANGE;
		call->parent = (uint64_t)(uintptr_t)pool;
	}
	tare_call_end_at(call, CUDA_SUCCESS, end);
}

CUresult tare_hook_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
	struct tare_call call;
	uint64_t end;
	CUresult result;
	int device;

	if (IS_MISSING(cuMemPoolCreate))
		return CUDA_ERROR_NOT_INITIALIZED;
	device = device_of_pool(poolProps);
	if (!(device >= 0
	          ? tare_call_begin_on(&call, CU_API_cuMemPoolCreate, TARE_CLASS_POOL_STATE, TARE_EFFECT_NEW, device)
	          : tare_call_begin_unweighed(&call, CU_API_cuMemPoolCreate, TARE_CLASS_POOL_STATE, TARE_EFFECT_NEW)))
		return tare_real.cuMemPoolCreate(pool, poolProps);
	result = tare_real.cuMemPoolCreate(pool, poolProps);
	end = tare_clock_ticks();
	call.saved_errno = errno;
	if (result == CUDA_SUCCESS)
		end_create(&call, TARE_ANSWER(result, pool), device, end);
	else
		tare_call_end_at(&call, result, end);
	return result;
}

/* What is still in use of it is given back later, and by then it cannot be asked any more. */
CUresult tare_hook_cuMemPoolDestroy(CUmemoryPool pool)
{
	struct tare_pool_state state;
	struct tare_call call;
	CUresult result;

	if (IS_MISSING(cuMemPoolDestroy))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!tare_call_begin_unweighed(&call, CU_API_cuMemPoolDestroy, TARE_CLASS_POOL_STATE, TARE_EFFECT_DEL))
		return tare_real.cuMemPoolDestroy(pool);
	if (tare_pool_ask(pool, tare_clock_ticks(), &state)) {
		call.device = state.device;
		if (state.has_changed)
			tare_pool_emit(NULL, false, pool, tare_clock_ticks(), &state);
		tare_call_weigh(&call, TARE_CLASS_POOL_STATE, TARE_EFFECT_DEL);
		call.handle = (uint64_t)(uintptr_t)pool;
		tare_pool_take_out(pool);
	} else if (tare_pool_kind(pool) == TARE_POOL_WEIGHED) {
		tare_call_weigh(&call, TARE_CLASS_POOL, TARE_EFFECT_CHANGE);
		call.parent = (uint64_t)(uintptr_t)pool;
	} else {
		call.class = TARE_CLASS_NONE;
		call.effect = TARE_EFFECT_CHANGE;
	}
	call.begin = tare_clock_ticks();
	result = tare_real.cuMemPoolDestroy(pool);
	if (result == CUDA_SUCCESS)
		tare_pool_remove(pool);
	else
		tare_pool_put_back(pool);
	tare_call_end(&call, result);
	if (result == CUDA_SUCCESS && call.handle && call.before - call.after < state.reserved &&
	    (call.flags & TARE_EVENT_WEIGHED))
		tare_sync_class = TARE_CLASS_POOL; /* the rest comes back while the program waits */
	return result;
}

CUresult tare_hook_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
	CUresult result;

	if (IS_MISSING(cuDeviceSetMemPool))
		return CUDA_ERROR_NOT_INITIALIZED;
	result = tare_real.cuDeviceSetMemPool(dev, pool);
	if (result == CUDA_SUCCESS)
		tare_pool_set_current(dev, NULL); /* asked for when it is needed */
	return result;
}

CUresult tare_hook_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
	CUresult result;

	if (IS_MISSING(cuMemSetMemPool))
		return CUDA_ERROR_NOT_INITIALIZED;
	result = tare_real.cuMemSetMemPool(location, type, pool);
	if (result == CUDA_SUCCESS)
		tare_pool_set_current(tare_device_of_location(location), NULL);
	return result;
}

/* Its memory is in the books of the process that made it. */
CUresult tare_hook_cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                                      CUmemAllocationHandleType handleType, unsigned long long flags)
{
	struct tare_call call;
	CUresult result;

	if (IS_MISSING(cuMemPoolImportFromShareableHandle))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!tare_call_begin(&call, CU_API_cuMemPoolImportFromShareableHandle, TARE_CLASS_IPC, TARE_EFFECT_CHANGE))
		return tare_real.cuMemPoolImportFromShareableHandle(pool_out, handle, handleType, flags);
	result = tare_real.cuMemPoolImportFromShareableHandle(pool_out, handle, handleType, flags);
	if (result == CUDA_SUCCESS) {
		CUmemoryPool imported = TARE_ANSWER(result, pool_out);

		call.parent = (uint64_t)(uintptr_t)imported;
		tare_pool_add(imported, -1, TARE_POOL_IMPORTED);
	}
	tare_call_end(&call, result);
	return result;
}
