/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a lane is, with the code that runs: threads stop at a step of recorder/ring/place.c, and others go on. */
#include <stdint.h>

static void step(const char *name);
#define TARE_STEP(name) step(name)

#include "recorder/ring/place.c"

#include "test.h"

#include <pthread.h>
#include <semaphore.h>

enum { EPOCH = 1, FRAME = 1000 };

struct tare_ring tare_ring;
static struct tare_ring_header header;
static struct tare_lane lanes[TARE_LANES_MAX];
static bool is_made[TARE_LANES_MAX], is_disk_full;

bool tare_ring_file_add_lanes(uint32_t first, uint32_t nr, bool in_file)
{
	(void)in_file;
	for (uint32_t i = first; i < first + nr; i++)
		is_made[i] = !is_disk_full;
	return !is_disk_full;
}

uint8_t *tare_ring_file_lane(uint32_t index)
{
	return (uint8_t *)&lanes[index]; /* nobody writes there */
}

struct tare_ring_state tare_ring_state = { TARE_RING_OPEN, EPOCH };

TARE_TLS struct tare_thread tare_thread;

uint32_t tare_fork_ask_tid(void)
{
	return tare_thread.tid = tare_sys_gettid();
}

/* The thread that stops at a step, once. */
static __thread const char *stops_at;
static sem_t has_stopped, may_go_on;

static void step(const char *name)
{
	if (!stops_at || strcmp(stops_at, name) != 0)
		return;
	stops_at = NULL;
	sem_post(&has_stopped);
	sem_wait(&may_go_on);
}

static void start(void)
{
	tare_ring =
		(struct tare_ring){ .header = &header, .lanes = lanes, .lane_bytes = 1 << 20, .pid = tare_sys_getpid() };
	sem_init(&has_stopped, 0, 0);
	sem_init(&may_go_on, 0, 0);
}

static void *take(void *arg)
{
	stops_at = arg;
	return tare_place_take(EPOCH, FRAME);
}

/* A lane that is counted has no bytes yet: it is no other thread's, however long that takes. */
TEST(place_a_lane_that_is_being_made_is_nobodys)
{
	struct tare_place *first, *second, *third;
	pthread_t slow;
	void *got;

	start();
	pthread_create(&slow, NULL, take, "counted");
	sem_wait(&has_stopped);
	first = tare_place_take(EPOCH, FRAME);      /* counts the lanes so far */
	second = tare_place_take(EPOCH, FRAME - 2); /* in a signal handler */
	third = tare_place_take(EPOCH, FRAME - 4);
	CHECK(first && second && third);
	CHECK_INT(first->index, SMALL_FROM);
	CHECK_INT(second->index, SMALL_FROM + 1);
	CHECK_INT(third->index, SMALL_FROM + 2);
	sem_post(&may_go_on);
	pthread_join(slow, &got);
	CHECK_INT(((struct tare_place *)got)->index, 0);
	CHECK(is_made[0] && !is_made[1] && is_made[SMALL_FROM] && is_made[SMALL_FROM + 2]);
}

/* One that could have no bytes is never given to anybody. */
TEST(place_a_lane_without_bytes_is_nobodys)
{
	struct tare_place *place;
	pthread_t thread;
	void *got;

	start();
	is_disk_full = true;
	pthread_create(&thread, NULL, take, NULL);
	pthread_join(thread, &got);
	CHECK(!got); /* tried were the first lane, a small one and a large one */
	is_disk_full = false;
	place = tare_place_take(EPOCH, FRAME);
	CHECK(place && place->index == SMALL_FROM + SMALL_AT_ONCE);
	place = tare_place_take(EPOCH, FRAME - 2);
	CHECK(place && place->index == SMALL_FROM + SMALL_AT_ONCE + 1);
}

/* A thread that was joined is still there until the kernel has taken it down. */
static void wait_until_gone(const struct tare_place *place)
{
	while (place && syscall(SYS_tgkill, getpid(), (int)place->tid, 0) == 0)
		sched_yield();
}

/* Of a thread that has ended: to the next one that comes. */
TEST(place_a_lane_goes_on_with_another_thread)
{
	pthread_t thread;
	void *got;

	start();
	for (int i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, take, NULL);
		pthread_join(thread, &got);
		CHECK(got);
		CHECK_INT(((struct tare_place *)got)->index, 0);
		wait_until_gone(got);
	}
}

/* A thread whose lane is full; the next one that comes takes what it gave back. */
TEST(place_a_full_lane_makes_way_for_a_larger_one)
{
	struct tare_place *first, *small, *large, *other;

	start();
	first = tare_place_take(EPOCH, FRAME); /* made with the ring, as large as can be */
	CHECK(first && tare_place_widen(first, FRAME) == first);
	small = tare_place_take(EPOCH, FRAME - 2);
	CHECK(small);
	CHECK_INT(small->size, TARE_LANE_BYTES_MIN);
	large = tare_place_widen(small, FRAME - 2);
	CHECK_INT(large->index, 1);
	CHECK_INT(large->size, 1 << 20);
	CHECK(large->owner == small->owner && tare_thread.place == large);
	other = tare_place_take(EPOCH, FRAME - 4);
	CHECK_INT(other->index, small->index);
	tare_place_free(large); /* as a thread does that has one too many */
	CHECK_INT(tare_place_widen(other, FRAME - 4)->index, 1);
}

TEST(place_where_no_larger_one_is_left_the_lane_stays)
{
	struct tare_place *place;
	int i;

	start();
	for (i = 0; i < (int)SMALL_FROM; i++) {
		place = tare_place_take(EPOCH, FRAME - 2 * (uintptr_t)i);
		CHECK_INT(tare_place_widen(place, FRAME - 2 * (uintptr_t)i)->index, i);
	}
	place = tare_place_take(EPOCH, FRAME - 2 * (uintptr_t)i);
	CHECK(place && tare_place_widen(place, FRAME - 2 * (uintptr_t)i) == place);
}

TEST(place_where_the_disk_is_full_the_lane_stays)
{
	struct tare_place *place;

	start();
	tare_place_take(EPOCH, FRAME);
	place = tare_place_take(EPOCH, FRAME - 2);
	is_disk_full = true;
	CHECK(place && tare_place_widen(place, FRAME - 2) == place);
}
