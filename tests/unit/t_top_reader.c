/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that a thread reads: nobody waits for it, and what it knows comes as a whole. */
#include "make_log.h"
#include "test.h"
#include "top/reader.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define S UINT64_C(1000000000)

enum { CALLS = 100 };

static struct make_log m;
static const char *folders[1];
static struct tare_operands wanted_folders = { .items = folders, .count = 1 };
static struct tare_finder shown;
static struct tare_top_reader *reader;
static sem_t read_done, gate;
static bool is_gated;

/* A reading waits where a test wants it to. */
bool __real_tare_follow_turn(struct tare_follow *f, int64_t now_ns, bool is_once);
bool __wrap_tare_follow_turn(struct tare_follow *f, int64_t now_ns, bool is_once);

bool __wrap_tare_follow_turn(struct tare_follow *f, int64_t now_ns, bool is_once)
{
	if (is_gated)
		sem_wait(&gate);
	return __real_tare_follow_turn(f, now_ns, is_once);
}

static void on_read(void)
{
	sem_post(&read_done);
}

static void write_log(int calls)
{
	static size_t sizes[CALLS];

	if (!m.size) {
		make_log_init(&m, 431, 0);
		MAKE_TEXT(&m, string, STRING, "cuMemAlloc_v2", .id = 2);
		make_log_gpu(&m);
		for (uint64_t i = 0; i < CALLS; i++) {
			make_log_call(&m, S / 100 * (i + 1), 1000, UINT64_C(0x7f0000000000) + (i << 24), 1 << 20, false);
			sizes[i] = m.size;
		}
	}
	make_log_write(&m, make_path(folders[0], "431-0.events"), sizeof(m.header) + sizes[calls - 1]);
}

static void begin(bool with_gate)
{
	struct tare_finder wanted = { .folders = &wanted_folders, .is_only_folders = true };
	FILE *file;

	sem_init(&read_done, 0, 0);
	sem_init(&gate, 0, 0);
	is_gated = with_gate;
	folders[0] = make_dir();
	file = fopen(make_path(folders[0], "recording.json"), "w");
	CHECK(file && fputs("{}", file) >= 0 && !fclose(file));
	write_log(CALLS / 2);
	reader = tare_top_reader_begin(&wanted, on_read, NULL);
	CHECK(reader);
}

static void finish(void)
{
	tare_top_reader_end(reader);
	tare_finder_free(&shown);
	make_log_free(&m);
}

/* A look at all, to its end. */
static void look(void)
{
	tare_top_reader_go(reader, true);
	sem_wait(&read_done);
	tare_top_reader_take(reader, &shown);
}

static int64_t taken(void)
{
	int64_t sum = 0;

	CHECK_INT(shown.count, 1);
	CHECK(shown.items[0]->has_ledger);
	CHECK_INT(shown.items[0]->ledger.device_nr, 1);
	for (int i = 0; i < shown.items[0]->ledger.devices[0].row_nr; i++)
		sum += shown.items[0]->ledger.devices[0].rows[i].bytes;
	return sum;
}

TEST(who_takes_does_not_wait_for_a_reading)
{
	begin(true);
	tare_top_reader_go(reader, false);
	tare_top_reader_take(reader, &shown);
	CHECK_INT(shown.count, 1);
	CHECK_STR(shown.items[0]->path, folders[0]);
	CHECK(!shown.items[0]->has_ledger);
	sem_post(&gate);
	sem_wait(&read_done);
	tare_top_reader_take(reader, &shown);
	CHECK(taken() > 0);
	tare_top_reader_take(reader, &shown); /* nothing came: it stays */
	CHECK(taken() > 0);
	finish();
}

TEST(what_grew_is_taken)
{
	int64_t before;

	begin(false);
	look();
	before = taken();
	write_log(CALLS);
	look();
	CHECK(taken() > before);
	CHECK_INT(shown.items[0]->reads, 2);
	finish();
}

TEST(what_can_be_read_no_more_is_shown_on)
{
	int64_t before;

	begin(false);
	look();
	before = taken();
	unlink(make_path(folders[0], "431-0.events"));
	for (int i = 0; i < 2; i++) {
		look();
		CHECK(shown.items[0]->failure.code);
		CHECK_INT(taken(), before);
		CHECK_INT(shown.items[0]->process_nr, 1);
	}
	finish();
}

TEST(two_readings_that_nobody_took_are_one)
{
	int64_t before;

	begin(false);
	look();
	before = taken();
	write_log(CALLS);
	tare_top_reader_go(reader, true);
	sem_wait(&read_done);
	unlink(make_path(folders[0], "431-0.events"));
	look();
	CHECK(shown.items[0]->failure.code);
	CHECK(taken() > before); /* what the first of them brought */
	finish();
}

TEST(what_went_is_shown_no_more)
{
	begin(false);
	look();
	CHECK_INT(shown.count, 1);
	unlink(make_path(folders[0], "431-0.events"));
	unlink(make_path(folders[0], "recording.json"));
	look();
	CHECK_INT(shown.count, 0);
	finish();
}

TEST(the_end_does_not_wait_for_a_reading)
{
	struct timespec a, b;

	begin(true);
	tare_top_reader_go(reader, false);
	clock_gettime(CLOCK_MONOTONIC, &a);
	tare_top_reader_end(reader);
	clock_gettime(CLOCK_MONOTONIC, &b);
	CHECK(b.tv_sec - a.tv_sec < 20); /* a third of a second, and what a busy machine needs */
}
