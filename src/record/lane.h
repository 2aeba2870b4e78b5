/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane of a ring: one thread writes, any number of drainers take what it published to the log. The same code in
 * the recorder and in `tare`, so it is all inline, allocates nothing and writes through a function of the caller.
 *
 * Nothing here waits for anybody. The thread publishes a record by moving `head` when the record is whole. A drainer
 *
 *   1. reads tail, and the plan for that tail; if there is none, and tail is still the same, it makes one: it takes
 *      room at the end of the log and enters it by compare-and-swap in place of the plan it read, so that all
 *      drainers of this tail have one and the same plan. No plan comes back, for no two have the same room;
 *   2. copies what the plan names, and looks whether tail is still the same: until tail moves, the
 *      thread cannot reuse those bytes, so the copy is what was published;
 *   3. writes the copy to the place in the plan, and moves tail by compare-and-swap.
 *
 * A drainer may stop for ever after any step: whoever comes next does the same steps with the same outcome. One that
 * goes on much later either sees that tail has moved, or writes once more what is there already.
 *
 * Plans of a lane lie in the log in the order in which they are made: who makes one takes its room after it read the
 * plan that it replaces. So a prefix of the log is settled, and nothing new is ever written there, once the plan of
 * each lane lies behind it. tare_lane_settle() does that: it finishes the block of a plan that lies before, and puts in
 * place of a plan whose block is done an empty one that lies behind. A drainer that took room earlier and was stopped
 * before it made its plan then finds another plan than it read, and the room stays empty. What a late drainer still writes
 * into a settled prefix is what was there.
 *
 * Order of memory: the release store of head makes the record visible to whoever loads head with acquire (1). The
 * plan is made after head was loaded, and a drainer that finds a plan loads head after it, so head covers the plan.
 * Whoever makes a plan loaded its tail with acquire before, and stores the plan with release: who reads a plan of a
 * later tail, and loads tail after it, sees that tail or a later one.
 * The thread reuses bytes only after it loaded, with acquire, a tail behind them; that tail was stored with
 * release after the write (3). Room is taken with release, so who takes room later, with acquire, sees how many lanes
 * there were. The fence in tare_lane_copy() keeps the loads of the copy before the load of tail: a
 * copy that has a byte of the bytes' next use was made after the thread saw tail move. That the drainer then sees
 * tail move as well is not C11's promise but the machine's, where a store that one processor has seen of another,
 * all have (x86, arm64).
 */
#ifndef TARE_RECORD_LANE_H
#define TARE_RECORD_LANE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/format.h"

/* Tests stop here, at a step with a name, and let others go on (tests/unit/lane). */
#ifndef TARE_STEP
#define TARE_STEP(name) ((void)0)
#endif

/* Writes `size` bytes at `position` of the log; 0, or a negative errno. */
typedef int tare_lane_write(void *arg, const void *bytes, uint64_t size, uint64_t position);

/* One lane as its drainer sees it. Size and number come from the drainer, never from shared memory. */
struct tare_lane_view {
	struct tare_lane *lane;
	const uint8_t *bytes;
	uint32_t size; /* a power of two */
	uint32_t index;
};

struct tare_lane_drain {
	uint64_t *log_end; /* of the ring's header */
	tare_lane_write *write;
	void *arg;
	uint8_t *block; /* TARE_BLOCK_MAX bytes that nobody else uses */
};

#define TARE_LANE_HEAD ((uint64_t)sizeof(struct tare_rec_lane))

static inline const struct tare_record *tare_lane_record(const struct tare_lane_view *v, uint64_t position)
{
	return (const struct tare_record *)(const void *)(v->bytes + (position & (v->size - 1)));
}

static inline bool tare_lane_is_sane(const struct tare_lane_view *v, uint64_t tail, uint64_t head)
{
	return head - tail <= v->size && ((head | tail) & (TARE_CELL - 1)) == 0;
}

/*
 * A drainer that is late reads bytes that the thread may be writing again: lengths, for the size of a plan, and the copy.
 * Then tail has moved, the plan is not made, and the copy is thrown away unread. By C11 that is a race all the same, and
 * it could only be none if the thread wrote every word of a record atomically. So ThreadSanitizer is not shown
 * these two loads, and only these.
 */
#if defined(__SANITIZE_THREAD__)
#define TARE_LANE_UNSEEN __attribute__((noinline, unused, no_sanitize("thread")))
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TARE_LANE_UNSEEN __attribute__((noinline, unused, no_sanitize("thread")))
#endif
#endif

#ifdef TARE_LANE_UNSEEN
TARE_LANE_UNSEEN static uint64_t tare_lane_cells(const struct tare_record *rec)
{
	return *(const volatile uint16_t *)&rec->cells;
}

/* Whole cells; memcpy() itself is one that the sanitizer has replaced. */
TARE_LANE_UNSEEN static void tare_lane_copy_bytes(uint8_t *to, const uint8_t *from, uint64_t size)
{
	const volatile uint64_t *words = (const volatile uint64_t *)(const volatile void *)from;

	for (uint64_t i = 0; i < size / sizeof(*words); i++)
		((uint64_t *)(void *)to)[i] = words[i];
}
#else
static inline uint64_t tare_lane_cells(const struct tare_record *rec)
{
	return __atomic_load_n(&rec->cells, __ATOMIC_RELAXED);
}

static inline void tare_lane_copy_bytes(uint8_t *to, const uint8_t *from, uint64_t size)
{
	__builtin_memcpy(to, from, size);
}
#endif

/* How much of tail .. head goes into one block: whole records. */
static inline uint64_t tare_lane_block_size(const struct tare_lane_view *v, uint64_t tail, uint64_t head)
{
	uint64_t most = TARE_BLOCK_MAX - TARE_LANE_HEAD, size = 0, cells;

	while (tail + size < head) {
		cells = tare_lane_cells(tare_lane_record(v, tail + size));
		if (cells == 0 || tail + size + cells * TARE_CELL > head)
			return head - tail < most ? head - tail : most; /* damage: readers skip it */
		if (size + cells * TARE_CELL > most)
			break;
		size += cells * TARE_CELL;
	}
	return size;
}

/* The plan for this tail. 0; 1: tail or the plan has changed meanwhile; -EBADMSG: the log's end is none. */
static inline int tare_lane_plan(const struct tare_lane_view *v, const struct tare_lane_drain *d, uint64_t tail,
                                 uint64_t head, uint64_t *out)
{
	uint64_t plan = __atomic_load_n(&v->lane->plan, __ATOMIC_ACQUIRE), mine, size, begin, end;
	bool is_sane;

	TARE_STEP("plan read");
	*out = plan;
	if (plan && TARE_PLAN_TAIL(plan) == (tail & TARE_PLAN_TAIL_MASK))
		return 0;
	/* While tail is ours, the plan read is of an earlier tail. One of a later tail must not be replaced. */
	if (__atomic_load_n(&v->lane->tail, __ATOMIC_ACQUIRE) != tail)
		return 1;
	size = tare_lane_block_size(v, tail, head);
	begin = __atomic_fetch_add(d->log_end, TARE_LANE_HEAD + size, __ATOMIC_RELEASE);
	end = begin + TARE_LANE_HEAD + size;
	is_sane = begin % TARE_CELL == 0 && begin < end && end < TARE_PLAN_BEGIN_MAX;
	mine = TARE_PLAN(begin, tail, size);
	TARE_STEP("room taken");
	if (is_sane &&
	    __atomic_compare_exchange_n(&v->lane->plan, &plan, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		*out = mine;
		return 0;
	}
	/* Another was quicker: the room goes back if nobody took more of it, else it stays empty. */
	__atomic_compare_exchange_n(d->log_end, &end, begin, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	*out = plan;
	if (!is_sane)
		return -EBADMSG;
	return plan && TARE_PLAN_TAIL(plan) == (tail & TARE_PLAN_TAIL_MASK) ? 0 : 1;
}

/* Seals of the log's positions instead of the lane's; what is no record stays none. */
static inline void tare_lane_reseal(uint8_t *bytes, uint64_t size, uint64_t from, uint64_t to)
{
	uint64_t at = 0;

	while (at < size) {
		struct tare_record *rec = (struct tare_record *)(void *)(bytes + at);
		uint64_t length = (uint64_t)rec->cells * TARE_CELL;

		if (length == 0 || length > size - at)
			return;
		rec->seal = rec->seal == tare_seal(from + at) ? tare_seal(to + at) : ~tare_seal(to + at);
		at += length;
	}
}

/* The block for `size` bytes from `tail` on at `begin` of the log. False: tail has moved, so it may be newer. */
static inline bool tare_lane_copy(const struct tare_lane_view *v, uint8_t *block, uint64_t tail, uint64_t size,
                                  uint64_t begin)
{
	struct tare_rec_lane *head = (struct tare_rec_lane *)(void *)block;
	uint64_t at = tail & (v->size - 1), first = size < v->size - at ? size : v->size - at;

	tare_lane_copy_bytes(block + TARE_LANE_HEAD, v->bytes + at, first);
	tare_lane_copy_bytes(block + TARE_LANE_HEAD + first, v->bytes, size - first);
	TARE_STEP("copied");
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&v->lane->tail, __ATOMIC_RELAXED) != tail)
		return false;
	*head =
		(struct tare_rec_lane){ .head = { .seal = tare_seal(begin),
		                                  .kind = TARE_KIND_LANE,
		                                  .cells = (uint16_t)(TARE_LANE_HEAD / TARE_CELL),
		                                  .stamp = ((struct tare_record *)(void *)(block + TARE_LANE_HEAD))->stamp },
		                        .lane = v->index,
		                        .bytes = (uint32_t)size,
		                        .from = tail };
	tare_lane_reseal(block + TARE_LANE_HEAD, size, tail, begin + TARE_LANE_HEAD);
	return true;
}

/*
 * Takes one block of what is published to the log. Returns more than 0 if there may be more to do, 0 if all was in the
 * log, or a negative errno: of the write, or -EBADMSG if head, tail and plan contradict each other.
 */
static inline int64_t tare_lane_drain(const struct tare_lane_view *v, const struct tare_lane_drain *d)
{
	uint64_t tail = __atomic_load_n(&v->lane->tail, __ATOMIC_ACQUIRE);
	uint64_t head = __atomic_load_n(&v->lane->head, __ATOMIC_ACQUIRE), plan, size;
	int rc;

	TARE_STEP("head read");
	if (head == tail)
		return 0;
	if (!tare_lane_is_sane(v, tail, head))
		return __atomic_load_n(&v->lane->tail, __ATOMIC_ACQUIRE) == tail ? -EBADMSG : 1;
	rc = tare_lane_plan(v, d, tail, head, &plan);
	size = TARE_PLAN_SIZE(plan);
	head = __atomic_load_n(&v->lane->head, __ATOMIC_ACQUIRE);
	if (rc > 0 || __atomic_load_n(&v->lane->tail, __ATOMIC_ACQUIRE) != tail)
		return 1;
	if (rc < 0 || size == 0 || size > head - tail || size > TARE_BLOCK_MAX - TARE_LANE_HEAD ||
	    !tare_lane_is_sane(v, tail, head))
		return -EBADMSG;
	if (!tare_lane_copy(v, d->block, tail, size, TARE_PLAN_BEGIN(plan)))
		return 1;
	TARE_STEP("to be written");
	rc = d->write(d->arg, d->block, TARE_LANE_HEAD + size, TARE_PLAN_BEGIN(plan));
	if (rc < 0)
		return rc;
	TARE_STEP("written");
	__atomic_compare_exchange_n(&v->lane->tail, &tail, tail + size, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return (int64_t)size;
}

enum { TARE_LANE_SETTLE_TRIES = 100 }; /* more only if somebody writes there what no drainer would */

/*
 * From now on nothing new of this lane is written below the position that this returns, at most `below`: that is room
 * which the caller took at the log's end and leaves empty. It returns less where a block could not be written.
 */
static inline uint64_t tare_lane_settle(const struct tare_lane_view *v, const struct tare_lane_drain *d, uint64_t below)
{
	uint64_t plan = 0, tail;

	for (int i = 0; i < TARE_LANE_SETTLE_TRIES; i++) {
		plan = __atomic_load_n(&v->lane->plan, __ATOMIC_ACQUIRE);
		TARE_STEP("to be settled");
		if (plan && TARE_PLAN_BEGIN(plan) >= below)
			return below;
		tail = __atomic_load_n(&v->lane->tail, __ATOMIC_ACQUIRE);
		if (!plan || TARE_PLAN_TAIL(plan) != (tail & TARE_PLAN_TAIL_MASK))
			/* Its block is done. An empty plan is for no tail that is still to come. */
			__atomic_compare_exchange_n(&v->lane->plan, &plan, TARE_PLAN(below, tail - TARE_CELL, 0), false,
			                            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		else if (v->lane->has_no_file || tare_lane_drain(v, d) < 0)
			break;
	}
	return TARE_PLAN_BEGIN(plan);
}

#endif
