/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program on a simulated device reads back that a kernel would have computed: counted by its place in the program.
 * A place is told when its count reaches 1, 2, 4, 8 …, and once more at the end, so that a loop of a million steps makes
 * twenty records, and a process that is killed has told of each of its places.
 */
#include "recorder/hooks/read_back.h"

#include <stdbool.h>

#include "recorder/base/fork.h"
#include "recorder/base/parts.h"
#include "recorder/log/emit.h"
#include "recorder/python/stack.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "record/clock.h"

enum { PLACES = 1024, PROBES = 16 };

static struct place {
	uint64_t key; /* of its stacks; 0: free */
	uint64_t count, bytes;
	uint64_t told; /* `count` of its last record */
	uint64_t is_overflow;
} places[PLACES];
TARE_OF_PROCESS(places);

static uint64_t key_of(uint32_t python, uint32_t stack)
{
	uint64_t key = (uint64_t)python << 32 | stack;

	return key ? key : UINT64_MAX;
}

/* Where all are taken, the last of those that it may have stands for several places. */
static struct place *place_of(uint64_t key)
{
	uint64_t hash = (key * 0x9e3779b97f4a7c15u) >> 40, free = 0;
	struct place *place = NULL;

	for (uint64_t i = 0; i < PROBES; i++, free = 0) {
		place = &places[(hash + i) % PLACES];
		if (__atomic_load_n(&place->key, __ATOMIC_RELAXED) == key ||
		    __atomic_compare_exchange_n(&place->key, &free, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    free == key)
			break;
	}
	return place;
}

static void tell(struct place *place, uint64_t count)
{
	uint64_t key = __atomic_load_n(&place->key, __ATOMIC_RELAXED);
	struct tare_rec_read_back rec = {
		.count = count,
		.bytes = __atomic_load_n(&place->bytes, __ATOMIC_RELAXED),
		.python = key == UINT64_MAX ? 0 : (uint32_t)(key >> 32),
		.stack = key == UINT64_MAX ? 0 : (uint32_t)key,
		.tid = tare_fork_tid(),
		.overflow = (uint32_t)__atomic_load_n(&place->is_overflow, __ATOMIC_RELAXED),
	};

	__atomic_store_n(&place->told, count, __ATOMIC_RELAXED);
	tare_emit_read_back(&rec, tare_clock_ticks());
}

void tare_read_back(uint64_t bytes, int is_overflow)
{
	struct place *place;
	uint64_t count;

	if (!tare_config.enabled || tare_config.nop)
		return;
	tare_fork_check();
	if (tare_ring_command() != TARE_COMMAND_RECORD)
		return;
	tare_thread.depth++;
	place = place_of(key_of(tare_python_stack(), tare_emit_stack()));
	__atomic_add_fetch(&place->bytes, bytes, __ATOMIC_RELAXED);
	if (is_overflow)
		__atomic_store_n(&place->is_overflow, 1, __ATOMIC_RELAXED);
	count = __atomic_add_fetch(&place->count, 1, __ATOMIC_RELAXED);
	if ((count & (count - 1)) == 0)
		tell(place, count);
	tare_thread.depth--;
}

void tare_read_back_end(void)
{
	for (int i = 0; i < PLACES; i++) {
		uint64_t count = __atomic_load_n(&places[i].count, __ATOMIC_RELAXED);

		if (count != __atomic_load_n(&places[i].told, __ATOMIC_RELAXED))
			tell(&places[i], count);
	}
}
