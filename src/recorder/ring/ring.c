/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the log of this process, and puts records into its lanes. */
#include "recorder/ring/ring.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/base/parts.h"
#include "recorder/elf/libc.h"
#include "recorder/recorder.h"
#include "recorder/ring/control.h"
#include "recorder/ring/file.h"
#include "recorder/ring/place.h"
#include "recorder/ring/put.h"
#include "recorder/ring/wait.h"
#include "recorder/ring/write.h"
#include "recorder/base/sys.h"
#include "record/allowance.h"
#include "record/clock.h"
#include "record/lane.h"

#define OPEN_LIMIT_NS 1000000000u
#define BLOCKS        4 /* memory for threads that drain at the same time; beyond, each maps its own */

struct tare_ring_state tare_ring_state TARE_HOT_DATA;

bool tare_ring_is_own(void)
{
	return tare_ring_is_open() && tare_ring.pid == tare_sys_getpid();
}

static bool is_mine_to_open(uint32_t *seen)
{
	*seen = TARE_RING_CLOSED;
	return __atomic_compare_exchange_n(&tare_ring_state.opened, seen, TARE_RING_OPENING, false, __ATOMIC_ACQ_REL,
	                                   __ATOMIC_ACQUIRE);
}

/*
 * Opens the log, unless another thread does. With all signals blocked: nothing can interrupt this thread, or take it out,
 * half-way, and no handler waits for what it has interrupted.
 */
static uint32_t open_log(void)
{
	uint64_t all = ~0ull, before = 0;
	bool is_mine, is_open = false;
	uint32_t seen;

	tare_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof(all), 0, 0);
	is_mine = is_mine_to_open(&seen);
	if (is_mine) {
		is_open = tare_ring_file_open();
		seen = is_open ? TARE_RING_OPEN : TARE_RING_FAILED;
		__atomic_fetch_add(&tare_ring_state.epoch, 1, __ATOMIC_RELEASE);
		__atomic_store_n(&tare_ring_state.opened, seen, __ATOMIC_RELEASE);
	}
	tare_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof(before), 0, 0);
	if (is_open)
		tare_parts_opened();
	return seen;
}

/* Another thread opens the log, which takes a millisecond; on a disk that hangs, programs do not hang with it. */
static uint32_t wait_for_open(void)
{
	uint64_t until_ns = tare_sys_now_ns(CLOCK_MONOTONIC) + OPEN_LIMIT_NS;
	uint32_t seen;

	while ((seen = __atomic_load_n(&tare_ring_state.opened, __ATOMIC_ACQUIRE)) == TARE_RING_OPENING &&
	       tare_sys_now_ns(CLOCK_MONOTONIC) < until_ns)
		tare_sys6(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	return seen;
}

bool tare_put_open(void)
{
	uint32_t seen = __atomic_load_n(&tare_ring_state.opened, __ATOMIC_ACQUIRE);

	if (likely(seen == TARE_RING_OPEN))
		return true;
	if (seen == TARE_RING_FAILED || !tare_config.enabled || tare_is_vfork_child())
		return false;
	if (seen == TARE_RING_CLOSED)
		seen = open_log();
	if (seen == TARE_RING_OPENING)
		seen = wait_for_open();
	return seen == TARE_RING_OPEN;
}

/*
 * Room for a block: one of ours that nobody uses, else a mapping. `users`: where on its stack the user is. A child that is
 * forked meanwhile keeps the users: one of them may be itself, about to write that block to its parent's log.
 */
static uint8_t blocks[BLOCKS][TARE_BLOCK_MAX];
static uintptr_t users[BLOCKS];

static bool take(int i, uintptr_t user, uintptr_t frame)
{
	return __atomic_compare_exchange_n(&users[i], &user, frame, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static uint8_t *take_block(uintptr_t frame)
{
	uintptr_t user;
	int i;

	for (i = 0; i < BLOCKS; i++)
		if (take(i, 0, frame))
			return blocks[i];
	/* A signal handler may have left one by longjmp. */
	for (i = 0; i < BLOCKS; i++) {
		user = __atomic_load_n(&users[i], __ATOMIC_RELAXED);
		if (user && tare_place_is_left(user, frame) && take(i, user, frame))
			return blocks[i];
	}
	TARE_STEP("mapped");
	return tare_sys_mmap_briefly(TARE_BLOCK_MAX);
}

static void return_block(uint8_t *block)
{
	int i;

	for (i = 0; i < BLOCKS; i++)
		if (block == blocks[i]) {
			__atomic_store_n(&users[i], 0, __ATOMIC_RELEASE);
			return;
		}
	tare_sys_munmap(block, TARE_BLOCK_MAX);
}

/* One block of a lane; as tare_lane_drain() answers. */
static int64_t drain(const struct tare_place *place)
{
	struct tare_lane_view view = { place->lane, place->bytes, place->size, place->index };
	struct tare_lane_drain drain = { .log_end = &tare_ring.header->log_end,
		                             .write = tare_ring_file_write,
		                             .arg = (void *)(uintptr_t)&place->epoch };
	int64_t n;

	drain.block = take_block((uintptr_t)__builtin_frame_address(0));
	if (!drain.block)
		return -ENOMEM;
	n = tare_lane_drain(&view, &drain);
	return_block(drain.block);
	return n;
}

static bool has_room(struct tare_place *place, uint32_t size)
{
	if (likely(place->head + size - place->tail_seen <= place->size))
		return true;
	place->tail_seen = __atomic_load_n(&place->lane->tail, __ATOMIC_ACQUIRE);
	return place->head + size - place->tail_seen <= place->size;
}

static uint32_t block_of(const struct tare_place *place)
{
	return place->size < TARE_BLOCK_MAX ? place->size : TARE_BLOCK_MAX;
}

/* tail_seen belongs to the writer of the lane. */
bool tare_put_is_given_up(const struct tare_place *place)
{
	return place->epoch == tare_ring_epoch() &&
	       place->head + TARE_RING_RECORD_MAX - __atomic_load_n(&place->lane->tail, __ATOMIC_ACQUIRE) > place->size &&
	       (tare_ring_file_is_failing() || (!tare_wait_is_possible() && !tare_control_allows(block_of(place), true)));
}

static uint32_t reason_of(int64_t error)
{
	switch (error) {
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
		return TARE_LOST_DISK_FULL;
	case TARE_ALLOWANCE_IS_USED_UP:
		return TARE_LOST_CAP;
	default:
		return TARE_LOST_NOT_WRITTEN;
	}
}

/* Asked for before a block is put together, so that a record that is given up costs little. */
static int64_t drain_if_allowed(const struct tare_place *place)
{
	int failing = tare_ring_file_is_failing();

	if (place->epoch != tare_ring_epoch())
		return -ECANCELED;
	if (unlikely(failing))
		return failing;
	return tare_control_allows(block_of(place), !tare_wait_is_possible()) ? drain(place) : TARE_ALLOWANCE_IS_USED_UP;
}

/*
 * A full lane is emptied by its own thread. False: its log cannot be written, or this is a child that a signal handler
 * forked in the middle of it, where nothing is behind the lane any more.
 */
static bool make_room(struct tare_place *place, uint32_t size)
{
	while (!has_room(place, size)) {
		int64_t n = drain_if_allowed(place);

		if (n == TARE_ALLOWANCE_IS_USED_UP &&
		    (tare_wait_for_room(block_of(place)) || tare_control_allows(block_of(place), true)))
			continue;
		if (n < 0) {
			place->lane->lost_reason = reason_of(n);
			return false;
		}
	}
	return true;
}

/* No record is broken in two at the lane's end: what is left there is filled. */
static struct tare_record *find_room(struct tare_place *place, uint32_t size)
{
	uint32_t left = place->size - (uint32_t)(place->head & (place->size - 1));

	if (unlikely(left < size)) {
		if (!make_room(place, left + size))
			return NULL;
		tare_put_at_head(place)->stamp = 0;
		TARE_STEP("padded");
		tare_put_publish(place, tare_put_at_head(place), TARE_KIND_PAD, left);
	} else if (!has_room(place, size) && !make_room(place, size)) {
		return NULL;
	}
	return tare_put_at_head(place);
}

/* The first record that finds room after a loss says how many found none. */
static void tell_lost(struct tare_place *place)
{
	struct tare_lane *lane = place->lane;
	struct tare_rec_lost *rec = (struct tare_rec_lost *)(void *)find_room(place, sizeof(*rec));

	_Static_assert(sizeof(*rec) % TARE_CELL == 0, "whole cells");
	if (!rec)
		return;
	rec->head.stamp = lane->lost_last;
	rec->records = lane->lost - lane->lost_told;
	rec->first = lane->lost_first;
	rec->last = lane->lost_last;
	rec->tid = place->tid;
	rec->reason = lane->lost_reason;
	lane->lost_told = lane->lost;
	tare_put_publish(place, &rec->head, TARE_KIND_LOST, sizeof(*rec));
}

static void count_lost(struct tare_lane *lane)
{
	uint64_t now = tare_clock_ticks();

	if (lane->lost == lane->lost_told)
		lane->lost_first = now;
	lane->lost_last = now;
	__atomic_store_n(&lane->lost, lane->lost + 1, __ATOMIC_RELEASE);
}

bool tare_put_make_room(struct tare_put *put)
{
	struct tare_place *place = put->place;

	if (place->lane->lost != place->lane->lost_told)
		tell_lost(place);
	else if (!has_room(place, put->size))
		put->place = place = tare_place_widen(place, (uintptr_t)put);
	put->rec = NULL;
	if (put->size > TARE_RING_RECORD_MAX)
		place->lane->lost_reason = TARE_LOST_TOO_LONG;
	else
		put->rec = find_room(place, put->size);
	if (put->rec)
		return true;
	count_lost(place->lane);
	tare_place_return(place, put->epoch, (uintptr_t)put);
	return false;
}

/* There may be room behind the record's end. */
static void clear_last_cell(const struct tare_put *put)
{
	uint64_t *end = (uint64_t *)(void *)((uint8_t *)put->rec + put->size);

	if (put->size > TARE_CELL)
		end[-1] = end[-2] = 0;
}

struct tare_record *tare_ring_begin(struct tare_put *put, enum tare_kind kind, uint32_t size)
{
	if (!tare_put_begin(put, (size + TARE_CELL - 1) & ~(TARE_CELL - 1)))
		return NULL;
	put->rec->kind = (uint16_t)kind;
	clear_last_cell(put);
	TARE_STEP("begun");
	return put->rec;
}

void tare_ring_end(struct tare_put *put)
{
	tare_put_end(put, (enum tare_kind)put->rec->kind);
}

/*
 * The records in memory that nobody else can see. What a LOST record among them tells of is told by nobody then: it is
 * counted again as what nobody told of yet.
 */
static uint64_t count_left(const struct tare_place *place)
{
	struct tare_lane_view view = { place->lane, place->bytes, place->size, place->index };
	uint64_t at = __atomic_load_n(&place->lane->tail, __ATOMIC_ACQUIRE), left = 0;

	while (at < __atomic_load_n(&place->lane->head, __ATOMIC_ACQUIRE)) {
		struct tare_record *rec = (struct tare_record *)(uintptr_t)tare_lane_record(&view, at);
		struct tare_rec_lost *lost = (struct tare_rec_lost *)(void *)rec;

		if (!rec->cells)
			break;
		if (rec->kind == TARE_KIND_LOST) {
			place->lane->lost_told -= lost->records;
			lost->records = 0;
		} else {
			left += rec->kind != TARE_KIND_PAD;
		}
		at += (uint64_t)rec->cells * TARE_CELL;
	}
	return left;
}

/* What the process takes with it. Of a ring that has a file `tare` sees what each lane gave up. */
static uint64_t count_going(const struct tare_place *place)
{
	uint64_t left = count_left(place);

	return tare_ring.has_no_file ? left + place->lane->lost - place->lane->lost_told : left;
}

void tare_ring_finish(void)
{
	struct tare_place *place;
	uint64_t going = 0;
	bool is_drained;
	uint32_t i;

	if (!tare_ring_is_own())
		return;
	is_drained = tare_control_has_drainer();
	tare_ring_file_try_again();
	for (i = 0; i < TARE_LANES_MAX; i++) {
		place = tare_place_at(i);
		if (!place || (is_drained && !place->lane->has_no_file))
			continue;
		while (drain(place) > 0)
			continue;
		if (place->lane->has_no_file)
			going += count_going(place);
	}
	/* This may run more than once as the process ends, and records that were left before may be in the log by now. */
	__atomic_fetch_add(&tare_control_page()->lost_records,
	                   going - __atomic_exchange_n(&tare_ring.going, going, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	__atomic_store_n(&tare_ring.header->finished, 1, __ATOMIC_RELEASE);
}

/* Forgets the parent's log; the first record opens one of the child's own. */
void tare_ring_forked(void)
{
	uint32_t seen = __atomic_load_n(&tare_ring_state.opened, __ATOMIC_ACQUIRE);

	if (seen == TARE_RING_OPEN)
		tare_ring_file_leave(tare_place_is_in_use());
	if (!tare_place_forget())
		__atomic_store_n(&tare_ring_state.opened, TARE_RING_FAILED, __ATOMIC_RELEASE);
	else if (seen != TARE_RING_FAILED || tare_sys_getpid() != tare_ring.pid)
		__atomic_store_n(&tare_ring_state.opened, TARE_RING_CLOSED, __ATOMIC_RELEASE);
	/* What the parent's log explains, this one's does not, also before it is open. */
	__atomic_fetch_add(&tare_ring_state.epoch, 1, __ATOMIC_RELEASE);
}

/*
 * In a child: while it has one thread, for a second one could write into the ring that is being left; and before a signal
 * handler that forked goes on, for what it interrupted must not end its record in the parent's lane. (A fork without
 * libc is seen at the next record; until then nothing is published.)
 */
static void in_child(void)
{
	tare_fork_in_child();
}

void tare_ring_start(void)
{
	if (tare_libc()->register_atfork)
		tare_libc()->register_atfork(NULL, NULL, in_child, NULL);
}
