/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions were launched before. A launch is the hottest call there is, so a launch that is
 * not the first costs one look into this table and nothing else.
 *
 * The key is (handle, context): a CUkernel is shared by contexts. Handles are reused after an unload,
 * which takes them out again, and a limit changes what the next launch needs, which empties the table;
 * then every function is weighed once more, which costs microseconds and is always right.
 */
#include "recorder/cuda/first.h"

#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/cuda/context.h"
#include "recorder/recorder.h"

#define SLOTS  65536u /* a power of two */
#define PROBES 32u

static uint64_t seen[SLOTS];
TARE_OF_PROCESS(seen);
uint64_t tare_first_epoch_now = 1;

static uint64_t key_of(const void *handle, uint64_t what)
{
	uint64_t key = (uint64_t)(uintptr_t)handle ^ what * 0x9e3779b97f4a7c15u;

	/* One context is by far the usual case, and then its handle adds nothing. */
	if (unlikely(tare_context_count() > 1))
		key ^= (uint64_t)(uintptr_t)tare_context_current() * 0xc2b2ae3d27d4eb4fu;
	key *= 0xff51afd7ed558ccdu;
	key ^= key >> 33;
	return key | 1;
}

bool tare_first_time_with(const void *handle, uint64_t what)
{
	uint64_t key = key_of(handle, what);
	uint32_t i;

	for (i = 0; i < PROBES; i++) {
		uint64_t *slot = &seen[((key >> 8) + i) & (SLOTS - 1)];
		uint64_t old = __atomic_load_n(slot, __ATOMIC_RELAXED);

		if (likely(old == key))
			return false;
		/* A slot once freed stays out of use until the table is emptied. */
		if (old == 0 && __atomic_compare_exchange_n(slot, &old, key, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
		if (old == key)
			return false;
	}
	tare_first_rearm(); /* crowded: start again */
	return true;
}

bool tare_first_time(const void *handle)
{
	return tare_first_time_with(handle, 0);
}

static void forget(uint64_t key)
{
	uint32_t i;

	for (i = 0; i < PROBES; i++) {
		uint64_t *slot = &seen[((key >> 8) + i) & (SLOTS - 1)];

		if (__atomic_load_n(slot, __ATOMIC_RELAXED) == key)
			/* Not 0: probing must go on past it. 2 is nobody's key. */
			__atomic_store_n(slot, 2, __ATOMIC_RELAXED);
	}
}

void tare_first_forget(const void *handle)
{
	forget(key_of(handle, 0));
	forget(key_of(handle, 1));
}

void tare_first_rearm(void)
{
	__atomic_fetch_add(&tare_first_epoch_now, 1, __ATOMIC_RELAXED);
	memset(seen, 0, sizeof(seen));
}
