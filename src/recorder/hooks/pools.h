/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous pools by their own attributes: what a pool has reserved of the device and how much of
 * that is in use. Asking costs well under a microsecond, so it is asked after every call that may
 * change a pool, and only a change is recorded; no counter of the device is read for it.
 *
 * A pool that cannot be asked (CUDA 11.2, or no room in the table) is weighed as anything else.
 */
#ifndef TARE_RECORDER_HOOKS_POOLS_H
#define TARE_RECORDER_HOOKS_POOLS_H

#include "recorder/hooks/call.h"

/* Pools that can be asked, and frees that wait for a wait. 0: there is nothing to look at. */
extern uint32_t tare_pools_watched;

enum tare_pool_kind {
	TARE_POOL_ASKED,    /* by its attributes */
	TARE_POOL_WEIGHED,  /* it cannot be asked */
	TARE_POOL_IMPORTED, /* another process has it in its books */
	TARE_POOL_HOST,     /* no memory of a device */
};

enum tare_pool_kind tare_pool_add(CUmemoryPool pool, int device, enum tare_pool_kind kind);
void tare_pool_set_number(CUmemoryPool pool); /* one that the program made: the next, from 1 */
enum tare_pool_kind tare_pool_kind(CUmemoryPool pool);

/* The pool from which cuMemAllocAsync takes on this device; NULL: the driver does not say. */
CUmemoryPool tare_pool_current(int device);
void tare_pool_set_current(int device, CUmemoryPool pool);
/* The pool of an address. False: the driver does not say; NULL: it is of none. */
bool tare_pool_of(CUdeviceptr at, CUmemoryPool *pool);

/* Nobody asks it from here on, for the driver may not survive it; and back, if it is still there. */
void tare_pool_take_out(CUmemoryPool pool);
void tare_pool_put_back(CUmemoryPool pool);
void tare_pool_remove(CUmemoryPool pool);
/* The same for all of a device. */
void tare_pools_take_out(int device);
void tare_pools_put_back(int device);
void tare_pools_remove(int device);

struct tare_pool_state {
	uint64_t reserved, used;
	int device;
	uint32_t number;
	uint64_t seen;                          /* when it was last known to be what was recorded before */
	bool has_grown, has_moved, has_changed; /* since it was last recorded; moved: grown or shrunk */
};
/* What it is now; the caller records it if it has changed. False: it does not say. */
bool tare_pool_ask(CUmemoryPool pool, uint64_t stamp, struct tare_pool_state *state);

/*
 * Before a call that may change this pool, NULL: any: one that was last asked before `since`, when the
 * thread's last call ended, is asked now, so that a change can be told from an earlier one. 0: always.
 */
void tare_pools_refresh(CUmemoryPool pool, uint64_t since);
/*
 * Records every pool that has changed: inside `call`, which has ended; or, NULL, at some time before
 * now. `is_recorded`: that call is recorded too.
 */
void tare_pools_look(const struct tare_call *call, bool is_recorded);
/* Writes what a pool is now; the rest as above. */
void tare_pool_emit(const struct tare_call *call, bool is_recorded, CUmemoryPool pool, uint64_t stamp,
                    const struct tare_pool_state *state);

/*
 * async.c: a wait has ended. It gives back plain allocations that were freed in a stream, and is
 * recorded only if something changed: tare_pools_waited() is for one that was not weighed.
 */
void tare_async_settle(const struct tare_call *call);
/* cuMemAlloc has given the address of such a one again: its free was before. */
void tare_async_given(const struct tare_call *call);
void tare_pools_wait(struct tare_call *call); /* it begins */
void tare_pools_waited(struct tare_call *call, CUresult result);
void tare_pools_ended(uint64_t end); /* a call of this thread */

#endif
