/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each thread a lane to write in. */
#include "recorder/ring/place.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/base/sys.h"
#include "recorder/recorder.h"
#include "recorder/ring/file.h"
#include "recorder/ring/ring.h"
#include "recorder/unwind/unwind_stack.h"
#include "record/clock.h"

#define ASKED_AT_ONCE 16u /* lanes whose threads a new thread asks for, before it makes one more */
#define ABANDONED_MAX 8u  /* writings that one thread may have left by longjmp until it takes a lane of theirs */

/* A child that was forked in the middle of a record gets others: what it returns to still has its parent's. */
static struct tare_place first_places[TARE_LANES_MAX];
static struct tare_place *places TARE_HOT_DATA = first_places;
/* By lane: serial number of the thread << 32 | its tid. Dense, because new threads look through it. */
#define NOT_MADE 0u /* it has no bytes yet, or could not have any: nobody may take it */
#define FREE     1u /* given back */
static uint64_t owners[TARE_LANES_MAX];
static uint32_t made, next_serial, next_asked; /* made: lanes up to here may be somebody's */

/*
 * Lanes that are made next: the first one, which is made with the ring; a small one for each thread more, for the room
 * of a large one takes a thread as long as a hundred records; a large one for a thread whose lane was full.
 */
enum { SMALL_FROM = TARE_LANES_LARGE + TARE_LANES_MIDDLE, SMALL_AT_ONCE = 8 };
_Static_assert((TARE_LANES_MAX - SMALL_FROM) % SMALL_AT_ONCE == 0, "all are made");
static uint32_t next_first, next_small = SMALL_FROM, next_large = 1;

static uint64_t own_word(void)
{
	if (!tare_thread.serial)
		tare_thread.serial = __atomic_add_fetch(&next_serial, 1, __ATOMIC_RELAXED);
	return (uint64_t)tare_thread.serial << 32 | tare_fork_tid();
}

static bool is_gone(uint64_t owner)
{
	return tare_sys6(SYS_tgkill, tare_ring.pid, (long)(uint32_t)owner, 0, 0, 0, 0) == -ESRCH;
}

static struct tare_place *begin_owning(uint32_t index, uint64_t me, uint32_t epoch)
{
	struct tare_place *place = &places[index];
	struct tare_lane *lane = &tare_ring.lanes[index];

	place->lane = lane;
	place->bytes = tare_ring_file_lane(index);
	place->size = tare_lane_bytes(tare_ring.lane_bytes, index);
	place->index = index;
	place->epoch = epoch;
	place->owner = me;
	place->tid = lane->tid = (uint32_t)me;
	place->head = __atomic_load_n(&lane->head, __ATOMIC_ACQUIRE);
	place->tail_seen = __atomic_load_n(&lane->tail, __ATOMIC_ACQUIRE);
	return place;
}

static bool claim(uint32_t index, uint64_t from, uint64_t me)
{
	TARE_STEP("claiming");
	return __atomic_compare_exchange_n(&owners[index], &from, me, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* A program that restricts its system calls is not asked for it. */
static bool own_tid_is_known(uint64_t me)
{
	return (uint32_t)me != 0;
}

/*
 * An address tells what is deeper on the thread's own stack, and on a signal handler's; of two stacks that lie anywhere it
 * tells nothing. The kernel does not tell of a stack that it has disarmed (SS_AUTODISARM). On one that is armed and that
 * it does not tell of, nobody is.
 */
bool tare_place_is_left(uintptr_t other, uintptr_t frame)
{
	stack_t stack;
	bool is_there;

	if (tare_sys6(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0) != 0)
		return false;
	is_there = !(stack.ss_flags & SS_DISABLE) && other - (uintptr_t)stack.ss_sp < stack.ss_size;
	if (stack.ss_flags & SS_ONSTACK)
		return is_there && other <= frame;
	return is_there || (other <= frame && tare_stack_is_own(frame) && tare_stack_is_own(other));
}

/* A thread that leaves many writings by longjmp takes the lane of one that cannot go on. */
static int find_left(uint32_t nr, uint64_t me, uintptr_t frame)
{
	uint32_t i, count = 0;

	for (i = 0; i < nr; i++)
		count += __atomic_load_n(&owners[i], __ATOMIC_RELAXED) == me;
	for (i = 0; i < nr && count >= ABANDONED_MAX; i++)
		if (__atomic_load_n(&owners[i], __ATOMIC_RELAXED) == me && tare_place_is_left(places[i].frame, frame))
			return (int)i;
	return -1;
}

/* A lane that nobody has: one that was given back, or that of a thread which had our tid and therefore is gone. */
static int find_free(uint32_t nr, uint64_t me)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		uint64_t owner = __atomic_load_n(&owners[i], __ATOMIC_RELAXED);

		if (owner != me &&
		    (owner == FREE || (owner != NOT_MADE && own_tid_is_known(me) && (uint32_t)owner == (uint32_t)me)) &&
		    claim(i, owner, me))
			return (int)i;
	}
	return -1;
}

/* The lane of a thread that has ended, among the next `most`. */
static int find_gone(uint32_t nr, uint64_t me, uint32_t most)
{
	uint32_t i, asked = 0, first = __atomic_fetch_add(&next_asked, most, __ATOMIC_RELAXED);

	for (i = 0; i < nr && asked < most; i++) {
		uint32_t index = (first + i) % nr;
		uint64_t owner = __atomic_load_n(&owners[index], __ATOMIC_RELAXED);

		if (owner <= FREE || (uint32_t)owner == (uint32_t)me)
			continue;
		asked++;
		if (is_gone(owner) && claim(index, owner, me))
			return (int)index;
	}
	return -1;
}

static void raise_to(uint32_t *word, uint32_t least)
{
	uint32_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);

	while (seen < least && !__atomic_compare_exchange_n(word, &seen, least, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		continue;
}

/*
 * Makes lanes from `*next` on, as many as one call makes of their kind, and takes the first of them; the others are
 * free. -1: there are as many as there can be, or they could have no bytes.
 */
static int add_some(uint32_t *next, uint32_t end, uint32_t nr, uint64_t me, bool in_file)
{
	uint32_t first = __atomic_load_n(next, __ATOMIC_RELAXED), i;

	do {
		if (first + nr > end)
			return -1;
	} while (!__atomic_compare_exchange_n(next, &first, first + nr, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	raise_to(&made, first + nr);
	TARE_STEP("counted");
	if (!tare_ring_file_add_lanes(first, nr, in_file))
		return -1; /* they are never made */
	__atomic_store_n(&owners[first], me, __ATOMIC_RELEASE);
	raise_to(&tare_ring.header->lane_nr, first + nr);
	for (i = 1; i < nr; i++)
		__atomic_store_n(&owners[first + i], FREE, __ATOMIC_RELEASE);
	return (int)first;
}

/* One more lane for one more thread. */
static int add(uint64_t me)
{
	int index = add_some(&next_first, 1, 1, me, false);

	if (index < 0)
		index = add_some(&next_small, TARE_LANES_MAX, SMALL_AT_ONCE, me, false);
	return index < 0 ? add_some(&next_large, SMALL_FROM, 1, me, false) : index;
}

/* A lane that is larger than `size`: one that was given back, or one more. */
static int find_larger(uint32_t size, uint64_t me)
{
	uint32_t i;

	for (i = 0; i < SMALL_FROM && tare_lane_bytes(tare_ring.lane_bytes, i) > size; i++)
		if (__atomic_load_n(&owners[i], __ATOMIC_RELAXED) == FREE && claim(i, FREE, me))
			return (int)i;
	i = __atomic_load_n(&next_large, __ATOMIC_RELAXED);
	return tare_lane_bytes(tare_ring.lane_bytes, i) > size ? add_some(&next_large, SMALL_FROM, 1, me, true) : -1;
}

/* From now on the thread's word names this lane. If a record was being written in the lane before, its place notes the frame. */
static struct tare_place *set_word(struct tare_place *place, uintptr_t word)
{
	if (tare_thread.lane && !tare_place_at_rest(tare_thread.lane))
		tare_thread.place->frame = tare_thread.lane - TARE_PLACE_WRITING(0);
	tare_thread.place = place;
	tare_thread.lane = word;
	return place;
}

/* A handler that came before the signals were blocked may have left one. */
static struct tare_place *find(uint32_t epoch, uintptr_t frame)
{
	struct tare_place *left = tare_place_at_rest(tare_thread.lane);
	uint32_t nr = __atomic_load_n(&tare_ring.header->lane_nr, __ATOMIC_ACQUIRE);
	uint64_t me = own_word();
	int index;

	if (left && left->epoch == epoch)
		return left;
	set_word(tare_thread.place, 0);
	index = find_free(nr, me);
	if (index < 0)
		index = find_left(nr, me, frame);
	if (index < 0)
		index = find_gone(nr, me, ASKED_AT_ONCE);
	if (index < 0)
		index = add(me);
	if (index < 0)
		index = find_gone(nr, me, nr);
	return index < 0 ? NULL : begin_owning((uint32_t)index, me, epoch);
}

/* Of a thread that has no lane. */
static void count_lost(void)
{
	struct tare_ring_header *header = tare_ring.header;
	uint64_t now = tare_clock_ticks(), none = 0;

	__atomic_compare_exchange_n(&header->lost_first, &none, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	__atomic_store_n(&header->lost_last, now, __ATOMIC_RELAXED);
	__atomic_fetch_add(&header->lost, 1, __ATOMIC_RELEASE);
}

/* In a child forked just now it is another's. */
void tare_place_free(struct tare_place *place)
{
	claim(place->index, place->owner, FREE);
}

/* With all signals blocked, as below. */
struct tare_place *tare_place_widen(struct tare_place *place, uintptr_t frame)
{
	uint64_t all = ~0ull, before = 0;
	struct tare_place *larger = place;
	int index;

	if (place->size >= tare_lane_bytes(tare_ring.lane_bytes, SMALL_FROM - 1))
		return place;
	tare_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof(all), 0, 0);
	if (tare_ring_is_open() && place->epoch == tare_ring_epoch() &&
	    (index = find_larger(place->size, place->owner)) >= 0) {
		larger = begin_owning((uint32_t)index, place->owner, place->epoch);
		if (tare_thread.lane == TARE_PLACE_WRITING(frame))
			tare_thread.place = larger;
		else
			larger->frame = frame;
		tare_place_free(place);
	}
	tare_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof(before), 0, 0);
	return larger;
}

/* With all signals blocked: no handler forks half-way, leaves by longjmp, or finds the same lane. */
struct tare_place *tare_place_find(uint32_t epoch, uintptr_t frame)
{
	uint64_t all = ~0ull, before = 0;
	struct tare_place *place = NULL;

	TARE_STEP("looking");
	tare_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof(all), 0, 0);
	if (tare_ring_is_open() && epoch == tare_ring_epoch()) { /* else: forked meanwhile */
		place = find(epoch, frame);
		if (place)
			set_word(place, TARE_PLACE_WRITING(frame));
		else
			count_lost();
	}
	tare_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof(before), 0, 0);
	return place;
}

/* With all signals blocked: either this lane stays the thread's, or the one that a handler left does. */
void tare_place_keep(struct tare_place *place, uint32_t epoch)
{
	uint64_t all = ~0ull, before = 0;
	struct tare_place *left;

	tare_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof(all), 0, 0);
	if (tare_ring_is_open() && epoch == tare_ring_epoch()) {
		left = tare_place_at_rest(tare_thread.lane);
		if (left && left->epoch == epoch)
			tare_place_free(place);
		else
			set_word(place, (uintptr_t)place);
	}
	tare_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof(before), 0, 0);
}

/* Asked in a forked child, where this thread is the only one left, and has another tid. */
bool tare_place_is_in_use(void)
{
	uint32_t i;

	for (i = 0; i < made; i++)
		if (&places[i] != tare_place_at_rest(tare_thread.lane) && tare_thread.serial &&
		    owners[i] >> 32 == tare_thread.serial)
			return true;
	return false;
}

/* Nobody returns to places that are not in use. */
static bool take_fresh_places(bool is_in_use)
{
	size_t size = TARE_LANES_MAX * sizeof(places[0]);
	struct tare_place *fresh = places;

	if (is_in_use)
		fresh = tare_sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else
		memset(places, 0, made * sizeof(places[0]));
	if (fresh)
		places = fresh;
	return fresh != NULL;
}

bool tare_place_forget(void)
{
	if (made == 0)
		return true; /* forgotten already */
	if (!take_fresh_places(tare_place_is_in_use()))
		return false;
	memset(owners, 0, made * sizeof(owners[0]));
	made = next_asked = next_first = 0;
	next_small = SMALL_FROM;
	next_large = 1;
	tare_thread.lane = 0;
	tare_thread.place = NULL;
	tare_thread.serial = 0;
	return true;
}

struct tare_place *tare_place_at(uint32_t index)
{
	return places[index].lane ? &places[index] : NULL;
}
