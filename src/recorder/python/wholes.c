/* SPDX-License-Identifier: Apache-2.0 */
/* A table of whole stacks of Python by their places. */
#include "recorder/python/memo.h"

#include "recorder/recorder.h"
#include "recorder/ring/ring.h"

/* Two of them are a cache line, and one stack may be in either. `turn` is odd while a thread writes. */
enum { PAIRS = 4096 };
static struct slot {
	uint64_t key;
	struct tare_python_whole whole;
	uint32_t epoch, turn;
} __attribute__((aligned(32))) slots[PAIRS][2] __attribute__((aligned(64)));
_Static_assert(sizeof(struct slot) == 32, "half a cache line");

static struct slot *pair_of(uint64_t key)
{
	return slots[key >> 32 & (PAIRS - 1)];
}

TARE_HOT bool tare_python_whole_find(uint64_t key, struct tare_python_whole *out)
{
	const struct slot *s = pair_of(key);
	uint32_t turn;

	if (s->key != key && (++s)->key != key)
		return false;
	turn = __atomic_load_n(&s->turn, __ATOMIC_ACQUIRE);
	*out = s->whole;
	if ((turn & 1) || s->key != key || s->epoch != tare_ring_epoch())
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&s->turn, __ATOMIC_RELAXED) == turn;
}

/* The one that is out of date, or was there before the other. */
static struct slot *find_place(uint64_t key, uint32_t epoch)
{
	struct slot *s = pair_of(key);

	if (s[0].key == key || s[0].epoch != epoch)
		return s;
	if (s[1].key == key || s[1].epoch != epoch)
		return s + 1;
	return s[0].whole.stack < s[1].whole.stack ? s : s + 1;
}

void tare_python_whole_keep(uint64_t key, const struct tare_python_whole *whole)
{
	uint32_t epoch = tare_ring_epoch(), turn;
	struct slot *s = find_place(key, epoch);

	turn = __atomic_load_n(&s->turn, __ATOMIC_RELAXED);
	if ((turn & 1) ||
	    !__atomic_compare_exchange_n(&s->turn, &turn, turn + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	s->key = key;
	s->whole = *whole;
	s->epoch = epoch;
	__atomic_store_n(&s->turn, turn + 2, __ATOMIC_RELEASE);
}
