/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the malloc and its kin that the recorder's call, and serves requests that come before they are found. */
#include "recorder/heap/next.h"

#include <errno.h>
#include <stdint.h>

#include "recorder/elf/libdl.h"

struct tare_heap_next tare_next TARE_HOT_DATA;
enum tare_next_state tare_next_state TARE_HOT_DATA;
TARE_TLS struct tare_heap_last tare_heap_last;

/* There is one thread then. */
enum { EARLY = 64 << 10, ALIGNMENT = 16 };
static uint8_t early[EARLY] __attribute__((aligned(ALIGNMENT)));
static size_t early_used;

TARE_COLD bool tare_next_find(void)
{
	if (tare_next_state == TARE_NEXT_FINDING)
		return false;
	tare_next_state = TARE_NEXT_FINDING;
#define X(name, result, params) tare_next.name = (result(*) params)tare_resolve_next(#name);
	TARE_NEXT_MAP(X)
#undef X
	tare_operators_find();
	tare_next_state = TARE_NEXT_FOUND;
	return true;
}

bool tare_early_is(const void *block)
{
	return (const uint8_t *)block >= early && (const uint8_t *)block < early + EARLY;
}

size_t tare_early_behind(const void *block)
{
	return EARLY - (size_t)((const uint8_t *)block - early);
}

/* free() is to look at them as at recorded ones. */
TARE_COLD void *tare_early_take(size_t bytes)
{
	uint8_t *block = early + early_used;

	if (bytes > EARLY - early_used) {
		errno = ENOMEM;
		return NULL;
	}
	early_used += (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	tare_sampled_suspect(block);
	return block;
}

TARE_HOT void *tare_heap_ask(size_t bytes)
{
	void *block;

	if (!tare_next_is_found())
		return tare_early_take(bytes);
	block = tare_next.malloc(bytes);
	tare_heap_last.asked = block;
	tare_heap_record(block, bytes); /* the caller has seen that it does not pass */
	return block;
}

TARE_HOT void tare_heap_give_back(void *block)
{
	struct tare_heap_leaving leaving;

	if (unlikely(tare_early_is(block)) || !tare_next_is_found())
		return;
	if (tare_config.heap_mean > 1)
		__atomic_store_n(&tare_next.free_unknown, tare_next.free, __ATOMIC_RELAXED);
	tare_heap_last.given_back = block;
	if (tare_heap_may_know(block)) {
		leaving = tare_heap_leave(block);
		tare_heap_gone(&leaving);
	}
	tare_next.free(block);
}
