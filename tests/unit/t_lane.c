/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol of a lane, with the code that runs: a thread that writes and drains, two drainers, and one that settles
 * what the log has, are stopped at every step that record/lane.h names, in every order in which at most PREEMPTIONS of the changes are not asked for.
 * After every step a reader must find all that was published, each record once.
 */
#include <stdbool.h>
#include <stdint.h>

static void step(const char *name);
#define TARE_STEP(name) step(name)

#include "record/lane.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum {
	LANE = 64, /* four records */
	RECORDS = 7,
	LOG = 4096,
	ACTORS = 4,
	SETTLER = 3,
	PREEMPTIONS = 3,
	STEPS_MAX = 400,
	STACK = 64 << 10,
};

/* What is shared, as in a ring file and a log. */
static struct tare_lane lane;
static uint8_t bytes[LANE], file[LOG];
static bool is_written[LOG];
static uint64_t log_end, settled; /* settled: nothing new is written below */

/* ThreadSanitizer follows a change of stacks only if it is told. */
#ifdef HAS_THREAD_SANITIZER
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#else
#define __tsan_get_current_fiber()           NULL
#define __tsan_create_fiber(flags)           NULL
#define __tsan_destroy_fiber(fiber)          ((void)0)
#define __tsan_switch_to_fiber(fiber, flags) ((void)0)
#endif

static struct actor {
	ucontext_t context;
	void *fiber;
	uint8_t stack[STACK], block[TARE_BLOCK_MAX];
	const char *at; /* the step it stands at */
	bool is_done;
	int drains_left;
} actors[ACTORS];
static ucontext_t scheduler;
static void *scheduler_fiber;
static int running;
static bool is_published_late; /* a mutant, to see that the test can fail: head moves before the record is whole */

static void step(const char *name)
{
	if (running < 0)
		return;
	actors[running].at = name;
	__tsan_switch_to_fiber(scheduler_fiber, 0);
	swapcontext(&actors[running].context, &scheduler);
}

/* A byte of the log has one value for ever. */
static int write_file(void *arg, const void *from, uint64_t size, uint64_t position)
{
	(void)arg;
	CHECK(position + size <= LOG);
	for (uint64_t i = 0; i < size; i++) {
		CHECK(is_written[position + i] || position + i >= settled);
		if (is_written[position + i])
			CHECK_INT(file[position + i], ((const uint8_t *)from)[i]);
		is_written[position + i] = true;
		file[position + i] = ((const uint8_t *)from)[i];
		if (i == size / 2)
			step("half written");
	}
	return 0;
}

static int write_nothing(void *arg, const void *from, uint64_t size, uint64_t position)
{
	(void)arg;
	(void)from;
	(void)size;
	(void)position;
	return -ENOSPC;
}

static int64_t drain(struct actor *actor)
{
	struct tare_lane_view view = { &lane, bytes, LANE, 0 };
	struct tare_lane_drain drain = { &log_end, write_file, NULL, actor->block };

	return tare_lane_drain(&view, &drain);
}

static void settle(struct actor *actor)
{
	struct tare_lane_view view = { &lane, bytes, LANE, 0 };
	struct tare_lane_drain drain = { &log_end, write_file, NULL, actor->block };
	uint64_t below = __atomic_fetch_add(&log_end, TARE_CELL, __ATOMIC_ACQ_REL);

	step("end taken");
	settled = tare_lane_settle(&view, &drain, below);
	CHECK_INT(settled, below); /* every write succeeds */
	step("settled");
}

static void write_records(struct actor *actor)
{
	for (uint64_t i = 0; i < RECORDS; i++) {
		uint64_t head = lane.head;
		struct tare_record *rec = (struct tare_record *)(void *)(bytes + head % LANE);

		while (head + sizeof(*rec) - __atomic_load_n(&lane.tail, __ATOMIC_ACQUIRE) > LANE)
			CHECK(drain(actor) >= 0);
		if (is_published_late)
			__atomic_store_n(&lane.head, head + sizeof(*rec), __ATOMIC_RELEASE);
		step("room found");
		rec->kind = TARE_KIND_CLOCK;
		rec->cells = 1;
		step("half a record");
		rec->stamp = 1000 + i;
		rec->seal = tare_seal(head);
		step("whole");
		__atomic_store_n(&lane.head, head + sizeof(*rec), __ATOMIC_RELEASE);
		step("published");
	}
}

static void run_actor(int i)
{
	if (i == 0)
		write_records(&actors[i]);
	if (i == SETTLER)
		settle(&actors[i]);
	while (i > 0 && i != SETTLER && actors[i].drains_left-- > 0)
		CHECK(drain(&actors[i]) >= 0);
	actors[i].is_done = true;
	__tsan_switch_to_fiber(scheduler_fiber, 0);
	swapcontext(&actors[i].context, &scheduler);
}

static void start(void)
{
	memset(&lane, 0, sizeof(lane));
	memset(bytes, 0, sizeof(bytes));
	memset(file, 0, sizeof(file));
	memset(is_written, 0, sizeof(is_written));
	log_end = settled = 0;
	scheduler_fiber = __tsan_get_current_fiber();
	for (int i = 0; i < ACTORS; i++) {
		if (actors[i].fiber)
			__tsan_destroy_fiber(actors[i].fiber);
		actors[i].fiber = __tsan_create_fiber(0);
		getcontext(&actors[i].context);
		actors[i].context.uc_stack = (stack_t){ .ss_sp = actors[i].stack, .ss_size = STACK };
		makecontext(&actors[i].context, (void (*)(void))run_actor, 1, i);
		actors[i].at = "";
		actors[i].is_done = false;
		actors[i].drains_left = 3;
	}
}

/* Everybody is killed here: does a reader of file and ring find records 0 .. head, each once? */
static bool is_all_there(void)
{
	uint64_t position = 0, next = 0;

	while (position < log_end) {
		struct tare_rec_lane head;

		memcpy(&head, file + position, sizeof(head));
		if (head.head.seal != tare_seal(position) || head.head.kind != TARE_KIND_LANE) {
			position += TARE_CELL; /* taken in vain, or not written yet */
			continue;
		}
		for (uint64_t at = 0; at < head.bytes && head.from + at < lane.tail; at += TARE_CELL) {
			struct tare_record rec;
			uint64_t place = position + sizeof(head) + at;

			memcpy(&rec, file + place, sizeof(rec));
			if (head.from + at != next || rec.seal != tare_seal(place) || rec.stamp != 1000 + next / TARE_CELL)
				return false;
			next += TARE_CELL;
		}
		position += sizeof(head) + head.bytes;
	}
	for (; next < lane.head; next += TARE_CELL) {
		struct tare_record rec;

		memcpy(&rec, bytes + next % LANE, sizeof(rec));
		if (next < lane.tail || rec.seal != tare_seal(next) || rec.stamp != 1000 + next / TARE_CELL)
			return false;
	}
	return next == lane.head;
}

/* A schedule is who is switched to at which step; elsewhere whoever runs goes on. */
struct change {
	int at, to;
};

static void go_on(int who)
{
	running = who;
	__tsan_switch_to_fiber(actors[who].fiber, 0);
	swapcontext(&scheduler, &actors[who].context);
	running = -1;
}

static int next_alive(int from)
{
	for (int i = 0; i < ACTORS; i++)
		if (!actors[(from + i) % ACTORS].is_done)
			return (from + i) % ACTORS;
	return -1;
}

/* Returns the number of steps; false in `ok` if a reader would have missed something. */
static int run(const struct change *changes, int n, bool *ok)
{
	int who = 0, count = 0;

	*ok = true;
	start();
	while ((who = next_alive(who)) >= 0 && count < STEPS_MAX) {
		for (int i = 0; i < n; i++)
			if (changes[i].at == count && !actors[changes[i].to].is_done)
				who = changes[i].to;
		go_on(who);
		*ok = *ok && is_all_there();
		count++;
	}
	CHECK(count < STEPS_MAX); /* nobody waits for anybody */
	return count;
}

/* All schedules with up to `left` more changes after `from`; the first that fails ends it. */
static bool explore(struct change *changes, int n, int from, int left, uint64_t *runs)
{
	bool ok;
	int steps = run(changes, n, &ok);

	++*runs;
	for (int at = from; ok && left > 0 && at < steps; at++)
		for (int to = 0; ok && to < ACTORS; to++) {
			changes[n] = (struct change){ at, to };
			ok = explore(changes, n + 1, at + 1, left - 1, runs);
		}
	return ok;
}

TEST(lane_every_order_of_steps_loses_nothing)
{
	struct change changes[PREEMPTIONS];
	uint64_t runs = 0;
	int preemptions = getenv("TARE_TEST_LONG") ? PREEMPTIONS : PREEMPTIONS - 1;

	running = -1;
	CHECK(explore(changes, 0, 0, preemptions, &runs));
	printf("# %llu schedules\n", (unsigned long long)runs);
	CHECK(runs > 1000);
}

TEST(lane_a_head_that_is_early_is_found)
{
	struct change changes[PREEMPTIONS];
	uint64_t runs = 0;

	running = -1;
	is_published_late = true;
	CHECK(!explore(changes, 0, 0, 2, &runs));
}

/* An order that a model in tests/model found, in legs: which thread goes on, and to which step. */
struct leg {
	int who;
	const char *to;
};

static bool replay(const struct leg *legs, int n)
{
	bool ok = true;

	start();
	for (int i = 0; i < n; i++)
		do {
			CHECK(!actors[legs[i].who].is_done);
			go_on(legs[i].who);
			ok = ok && is_all_there();
		} while (strcmp(actors[legs[i].who].at, legs[i].to) != 0);
	return ok;
}

#define REPLAY(...)                                                                                                    \
	replay((const struct leg[]){ __VA_ARGS__ }, sizeof((const struct leg[]){ __VA_ARGS__ }) / sizeof(struct leg))

enum { THREAD, LATE, OTHER };

/* Late by a whole block: it may not put a plan for its old tail in place of one that somebody writes by. */
TEST(lane_a_late_drainer_replaces_no_plan)
{
	running = -1;
	CHECK(REPLAY({ THREAD, "published" }, { LATE, "head read" }, { OTHER, "written" }, { THREAD, "published" },
	             { OTHER, "to be written" }, { LATE, "written" }, { LATE, "head read" }, { OTHER, "written" }));
}

/* It has its copy, and room was found for other records where that was: nothing newer goes to the log under its name. */
TEST(lane_a_late_copy_writes_what_is_there)
{
	running = -1;
	CHECK(REPLAY({ THREAD, "published" }, { LATE, "to be written" }, { OTHER, "written" }, { THREAD, "published" },
	             { THREAD, "published" }, { THREAD, "published" }, { THREAD, "published" }, { LATE, "written" },
	             { OTHER, "written" }));
}

/* Two take room for the same block: the room of one goes back or stays empty, and both write the same. */
TEST(lane_two_take_room_at_once)
{
	running = -1;
	CHECK(REPLAY({ THREAD, "published" }, { LATE, "room taken" }, { OTHER, "room taken" }, { LATE, "half written" },
	             { OTHER, "written" }, { LATE, "written" }));
}

/* Room was taken and no plan made: it is not used any more once what lies before the log's end is settled. */
TEST(lane_settles_room_without_a_plan)
{
	running = -1;
	CHECK(REPLAY({ THREAD, "published" }, { LATE, "room taken" }, { SETTLER, "settled" }, { OTHER, "head read" },
	             { LATE, "written" }, { OTHER, "written" }));
	CHECK_INT(settled, TARE_LANE_HEAD + TARE_CELL);
}

/* A plan was made, and who made it stopped: the block is written by who settles. */
TEST(lane_settles_a_plan_by_its_block)
{
	running = -1;
	CHECK(REPLAY({ THREAD, "published" }, { LATE, "to be written" }, { SETTLER, "settled" }, { LATE, "written" },
	             { THREAD, "published" }, { OTHER, "written" }));
	CHECK_INT(lane.tail, TARE_CELL);
}

/* What cannot be written may be written later. */
TEST(lane_settles_nothing_behind_a_block_that_is_not_written)
{
	struct tare_lane_view view = { &lane, bytes, LANE, 0 };
	struct tare_lane_drain drain = { &log_end, write_nothing, NULL, actors[0].block };

	running = -1;
	start();
	lane.head = 16;
	lane.plan = TARE_PLAN(160, 0, 16);
	log_end = 1600;
	CHECK_INT(tare_lane_settle(&view, &drain, 1600), 160);
	lane.has_no_file = 1; /* nobody but its own process can */
	drain.write = write_file;
	CHECK_INT(tare_lane_settle(&view, &drain, 1600), 160);
	lane.has_no_file = 0;
	CHECK_INT(tare_lane_settle(&view, &drain, 1600), 1600);
	CHECK_INT(tare_lane_settle(&view, &drain, 1600), 1600);
	CHECK_INT(tare_lane_settle(&view, &drain, 1616), 1616);
	lane.head = 24; /* damage: no block is ever whole */
	lane.plan = TARE_PLAN(1616, 16, 16);
	CHECK_INT(tare_lane_settle(&view, &drain, 3200), 1616);
}

/* What a program may write into the header by mistake is damage, never followed. */
TEST(lane_damaged_counts_are_refused)
{
	running = -1;
	start();
	lane.head = 16 * 1000;
	CHECK_INT(drain(&actors[1]), -EBADMSG);
	lane.head = 8;
	CHECK_INT(drain(&actors[1]), -EBADMSG);
	lane.head = 16;
	lane.plan = TARE_PLAN(0, 0, 1600);
	CHECK_INT(drain(&actors[1]), -EBADMSG);
	lane.plan = 0;
	log_end = UINT64_MAX - 15;
	CHECK_INT(drain(&actors[1]), -EBADMSG);
}

TEST(lane_sizes_and_places)
{
	uint64_t end = TARE_RING_LANES_AT;

	for (uint32_t i = 0; i < TARE_LANES_MAX; i++) {
		CHECK_INT(tare_lane_offset(1 << 20, i), end);
		end += tare_lane_bytes(1 << 20, i);
	}
	CHECK(tare_lane_offset(1 << 20, 1000) <= 64 << 20); /* a thousand threads */
	for (uint64_t p = 0; p < 1 << 20; p += TARE_CELL)
		CHECK_INT(tare_seal_position(tare_seal(p)), p);
}
