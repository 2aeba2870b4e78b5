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

bool tare_ring_file_add_lane(uint32_t index)
{
	is_made[index] = !is_disk_full;
	return is_made[index];
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
	tare_ring = (struct tare_ring){
		.header = &header, .lanes = lanes, .lane_bytes = 1 << 20, .pid = tare_sys_getpid()
	};
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
	second = tare_place_take(EPOCH, FRAME - 1); /* in a signal handler */
	third = tare_place_take(EPOCH, FRAME - 2);
	CHECK(first && second && third);
	CHECK_INT(first->index, 1);
	CHECK_INT(second->index, 2);
	CHECK_INT(third->index, 3);
	sem_post(&may_go_on);
	pthread_join(slow, &got);
	CHECK_INT(((struct tare_place *)got)->index, 0);
	CHECK(is_made[0] && is_made[1] && is_made[2] && is_made[3]);
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
	CHECK(!got);
	is_disk_full = false;
	place = tare_place_take(EPOCH, FRAME);
	CHECK(place && place->index == 1);
	place = tare_place_take(EPOCH, FRAME - 1); /* the first one's thread has ended */
	CHECK(place && place->index == 2);
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
		CHECK(got && ((struct tare_place *)got)->index <
				     2); /* the kernel may be late to forget a thread */
	}
}
