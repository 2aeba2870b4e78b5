/* SPDX-License-Identifier: Apache-2.0 */
/* The table of pools, and asking them. */
#include "recorder/hooks/pools.h"

#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/cuda/real.h"
#include "recorder/recorder.h"
#include "record/clock.h"

#define SLOTS   64 /* pools at once; further ones are weighed */
#define DEVICES 64
#define SPINS   100000 /* some milliseconds: asking takes less than one microsecond */

enum { FREE, CLAIMED, LIVE, OUT };

static struct pool {
	CUmemoryPool handle;
	int state;
	uint32_t readers;
	int device;
	uint32_t number;
	enum tare_pool_kind kind;
	uint32_t lock;                  /* of what was last recorded; tried, never waited for */
	bool is_stale;                  /* that is not known */
	uint64_t reserved, used, stamp; /* stamp: when it was asked last */
} pools[SLOTS];
TARE_OF_PROCESS(pools);

static CUmemoryPool current[DEVICES];
TARE_OF_PROCESS(current);
static uint32_t made;
TARE_OF_PROCESS(made);
uint32_t tare_pools_watched;
TARE_OF_PROCESS(tare_pools_watched);

static struct pool *find(CUmemoryPool handle)
{
	int i;

	for (i = 0; handle && i < SLOTS; i++)
		if (__atomic_load_n(&pools[i].state, __ATOMIC_ACQUIRE) >= LIVE && pools[i].handle == handle)
			return &pools[i];
	return NULL;
}

/*
 * A pool's attributes are among what a capture does not bear, unless the thread says that it knows
 * what it does. The mode is the thread's own, so nobody else notices.
 */
static bool begin_asking(CUstreamCaptureMode *mode)
{
	*mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	return tare_real.cuMemPoolGetAttribute && tare_real.cuThreadExchangeStreamCaptureMode &&
	       tare_real.cuThreadExchangeStreamCaptureMode(mode) == CUDA_SUCCESS;
}

static void end_asking(CUstreamCaptureMode *mode)
{
	tare_real.cuThreadExchangeStreamCaptureMode(mode);
}

static bool ask(CUmemoryPool handle, struct tare_pool_state *state)
{
	cuuint64_t reserved = 0, used = 0;

	if (tare_real.cuMemPoolGetAttribute(handle, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) != CUDA_SUCCESS ||
	    tare_real.cuMemPoolGetAttribute(handle, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) != CUDA_SUCCESS)
		return false;
	state->reserved = reserved;
	state->used = used < reserved ? used : reserved;
	return true;
}

static bool ask_slot(struct pool *pool, struct tare_pool_state *state)
{
	bool is_known = false;

	__atomic_fetch_add(&pool->readers, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&pool->state, __ATOMIC_SEQ_CST) == LIVE && pool->kind == TARE_POOL_ASKED)
		is_known = ask(pool->handle, state);
	state->device = pool->device;
	state->number = pool->number;
	__atomic_fetch_sub(&pool->readers, 1, __ATOMIC_SEQ_CST);
	return is_known;
}

/*
 * Threads that ask at once may write in another order than they asked. A stamp is taken before its
 * pool is asked, so the one with the last stamp saw all that the others did, and is the one to compare
 * with. What cannot be compared is written.
 */
static void compare(struct pool *pool, uint64_t stamp, struct tare_pool_state *state)
{
	if (__atomic_exchange_n(&pool->lock, 1, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&pool->is_stale, true, __ATOMIC_RELAXED);
		state->has_changed = state->has_moved = true;
		state->seen = __atomic_load_n(&pool->stamp, __ATOMIC_RELAXED);
		return;
	}
	state->seen = pool->stamp;
	state->has_moved = state->reserved != pool->reserved;
	state->has_changed = __atomic_exchange_n(&pool->is_stale, false, __ATOMIC_RELAXED) ||
	                     state->reserved != pool->reserved || state->used != pool->used;
	state->has_grown = state->reserved > pool->reserved;
	if (stamp >= pool->stamp) {
		__atomic_store_n(&pool->stamp, stamp, __ATOMIC_RELAXED);
		pool->reserved = state->reserved;
		pool->used = state->used;
	}
	__atomic_store_n(&pool->lock, 0, __ATOMIC_RELEASE);
}

bool tare_pool_ask(CUmemoryPool handle, uint64_t stamp, struct tare_pool_state *state)
{
	struct pool *pool = find(handle);
	CUstreamCaptureMode mode;
	bool is_known;

	memset(state, 0, sizeof(*state));
	if (!pool || !begin_asking(&mode))
		return false;
	is_known = ask_slot(pool, state);
	end_asking(&mode);
	if (is_known)
		compare(pool, stamp, state);
	return is_known;
}

/* What it says is what we compare with from here on: nothing, for a new one. */
static void learn_kind(struct pool *pool)
{
	struct tare_pool_state state;
	CUstreamCaptureMode mode;

	if (pool->kind != TARE_POOL_ASKED)
		return;
	pool->kind = TARE_POOL_WEIGHED;
	if (!begin_asking(&mode))
		return;
	if (ask(pool->handle, &state))
		pool->kind = TARE_POOL_ASKED;
	end_asking(&mode);
}

enum tare_pool_kind tare_pool_add(CUmemoryPool handle, int device, enum tare_pool_kind kind)
{
	struct pool *known = find(handle);
	int i, empty;

	if (known)
		return known->kind;
	for (i = 0; i < SLOTS; i++) {
		struct pool *pool = &pools[i];

		empty = FREE;
		if (!__atomic_compare_exchange_n(&pool->state, &empty, CLAIMED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			continue;
		pool->handle = handle;
		pool->device = device;
		pool->number = 0;
		pool->kind = kind;
		pool->reserved = pool->used = 0;
		pool->stamp = tare_clock_ticks();
		learn_kind(pool);
		if (pool->kind == TARE_POOL_ASKED)
			__atomic_fetch_add(&tare_pools_watched, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&pool->state, LIVE, __ATOMIC_RELEASE);
		return pool->kind;
	}
	return kind == TARE_POOL_ASKED ? TARE_POOL_WEIGHED : kind;
}

void tare_pool_set_number(CUmemoryPool handle)
{
	struct pool *pool = find(handle);

	if (pool)
		pool->number = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
}

enum tare_pool_kind tare_pool_kind(CUmemoryPool handle)
{
	struct pool *pool = find(handle);

	return pool ? pool->kind : TARE_POOL_WEIGHED;
}

CUmemoryPool tare_pool_current(int device)
{
	CUmemoryPool pool = NULL;

	if (device < 0 || device >= DEVICES)
		return NULL;
	pool = __atomic_load_n(&current[device], __ATOMIC_ACQUIRE);
	if (pool || !tare_real.cuDeviceGetMemPool || tare_real.cuDeviceGetMemPool(&pool, device) != CUDA_SUCCESS || !pool)
		return pool;
	tare_pool_add(pool, device, TARE_POOL_ASKED);
	__atomic_store_n(&current[device], pool, __ATOMIC_RELEASE);
	return pool;
}

void tare_pool_set_current(int device, CUmemoryPool pool)
{
	if (device >= 0 && device < DEVICES)
		__atomic_store_n(&current[device], pool, __ATOMIC_RELEASE);
}

bool tare_pool_of(CUdeviceptr at, CUmemoryPool *pool)
{
	*pool = NULL;
	return tare_real.cuPointerGetAttribute &&
	       tare_real.cuPointerGetAttribute(pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at) == CUDA_SUCCESS;
}

/* ---- pools that go ---- */
static void take_out(struct pool *pool)
{
	int i;

	__atomic_store_n(&pool->state, OUT, __ATOMIC_SEQ_CST);
	for (i = 0; i < SPINS && __atomic_load_n(&pool->readers, __ATOMIC_SEQ_CST); i++)
		continue;
}

static void remove_slot(struct pool *pool)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		if (__atomic_load_n(&current[i], __ATOMIC_RELAXED) == pool->handle)
			__atomic_store_n(&current[i], NULL, __ATOMIC_RELAXED);
	if (pool->kind == TARE_POOL_ASKED)
		__atomic_fetch_sub(&tare_pools_watched, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&pool->state, FREE, __ATOMIC_RELEASE);
}

static void put_back(struct pool *pool)
{
	__atomic_store_n(&pool->state, LIVE, __ATOMIC_RELEASE);
}

static void of_handle(CUmemoryPool handle, void (*act)(struct pool *pool))
{
	struct pool *pool = find(handle);

	if (pool)
		act(pool);
}

void tare_pool_take_out(CUmemoryPool handle)
{
	of_handle(handle, take_out);
}

void tare_pool_put_back(CUmemoryPool handle)
{
	of_handle(handle, put_back);
}

void tare_pool_remove(CUmemoryPool handle)
{
	of_handle(handle, remove_slot);
}

static void of_device(int device, void (*act)(struct pool *pool))
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (__atomic_load_n(&pools[i].state, __ATOMIC_ACQUIRE) >= LIVE && pools[i].device == device)
			act(&pools[i]);
}

void tare_pools_take_out(int device)
{
	of_device(device, take_out);
}

void tare_pools_put_back(int device)
{
	of_device(device, put_back);
}

void tare_pools_remove(int device)
{
	of_device(device, remove_slot);
}

/* ---- looking ---- */
static bool is_fresh(const struct pool *pool, CUmemoryPool only, uint64_t since)
{
	return __atomic_load_n(&pool->state, __ATOMIC_ACQUIRE) != LIVE || (only && pool->handle != only) ||
	       __atomic_load_n(&pool->stamp, __ATOMIC_RELAXED) >= since;
}

static void look(const struct tare_call *call, bool is_recorded, CUmemoryPool only, uint64_t since)
{
	struct tare_pool_state state;
	uint64_t stamp;
	CUstreamCaptureMode mode;
	int i;

	if (likely(!__atomic_load_n(&tare_pools_watched, __ATOMIC_RELAXED)) || !begin_asking(&mode))
		return;
	stamp = call ? call->end : tare_clock_ticks();
	for (i = 0; i < SLOTS; i++) {
		memset(&state, 0, sizeof(state));
		if (!is_fresh(&pools[i], only, since) && ask_slot(&pools[i], &state))
			compare(&pools[i], stamp, &state);
		if (state.has_changed)
			tare_pool_emit(call, is_recorded, pools[i].handle, stamp, &state);
	}
	end_asking(&mode);
}

void tare_pools_look(const struct tare_call *call, bool is_recorded)
{
	look(call, is_recorded, NULL, UINT64_MAX);
}

void tare_pools_refresh(CUmemoryPool only, uint64_t since)
{
	int i;

	if (!since)
		since = UINT64_MAX;
	for (i = 0; i < SLOTS; i++)
		if (!is_fresh(&pools[i], only, since)) {
			look(NULL, false, only, since);
			return;
		}
}
