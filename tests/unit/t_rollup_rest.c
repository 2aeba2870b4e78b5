/* SPDX-License-Identifier: Apache-2.0 */
/* What stays of segments that went has a bounded size, and readers find in it all that they need. */
#include "rollup/clocks.h"
#include "rollup/rollup.h"

#include "base/file.h"
#include "ledger/build.h"
#include "make_log.h"
#include "moment_text.h"
#include "store/manifest.h"
#include "test.h"
#include "trace/log.h"
#include "trace/recording.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { ROLLUPS = 1000, SETTLED = 500, LANES = 3, LATE = 20, EVERY = 7 };

static struct make_log m;
static uint64_t lane_at[LANES];

/* Clocks are read within a third of a microsecond, and one of them goes a little too fast for some time. */
static void read_clocks(uint64_t i)
{
	uint64_t ns = m.stamp + i * 7919 % 300 + (i > ROLLUPS / 2 ? (i - ROLLUPS / 2) * 40 : 0);

	MAKE(&m, clock, CLOCK, .ticks = m.stamp, .monotonic_ns = ns, .realtime_ns = ns + UINT64_C(1699999999000000000));
}

/* A block of a lane: a call, and now and then a reading of the clocks and records that were given up. Each is a fifth of a second later. */
static void add_block(uint64_t i)
{
	uint64_t lane = i % LANES, at = i * 200 * MS;
	size_t head, begin;

	m.stamp = m.header.first_stamp + at;
	head = MAKE(&m, lane, LANE, .lane = (uint32_t)lane, .from = lane_at[lane]);
	begin = m.size;
	make_log_call(&m, at, 1000, UINT64_C(0x7f0000000000) + (i / 2 % 100 << 24), 2 << 20, i % 2);
	if (i % EVERY == 0)
		make_log_call(&m, at + 10, 1000, UINT64_C(0x7e0000000000) + (i << 24), 2 << 20, false);
	m.stamp = m.header.first_stamp + at + 1000;
	read_clocks(i);
	if (i % LATE == LATE - 1)
		MAKE(&m, lost, LOST, .records = 5, .first = m.stamp - MS, .last = m.stamp, .tid = 10 + (uint32_t)lane,
		     .reason = TARE_LOST_CAP);
	((struct tare_rec_lane *)(void *)(m.bytes + head))->bytes = (uint32_t)(m.size - begin);
	lane_at[lane] += m.size - begin;
}

static void begin_program(void)
{
	make_log_init(&m, 431, 0);
	m.header.clock = TARE_CLOCK_TSC;
	m.header.has_lanes = 1;
	memset(lane_at, 0, sizeof(lane_at));
	MAKE_TEXT(&m, string, STRING, "cuMemAlloc_v2", .id = 2);
	MAKE_TEXT(&m, string, STRING, "cuMemFree_v2", .id = 3);
	make_log_gpu(&m);
}

static void roll_up(uint64_t cap)
{
	struct tare_rollup_options o = { .state_share = 1, .cap = cap };
	struct tare_rolled_up done;
	struct tare_err err = { 0 };

	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	if (tare_rollup(make_dir(), &o, &done, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
}

/* The bytes of the segment that stands for those that went; 0: none did. */
static uint64_t rest_bytes(void)
{
	struct tare_manifest manifest;
	uint64_t bytes = 0;

	CHECK_INT(tare_manifest_read(&manifest, make_dir(), NULL), 0);
	if (manifest.dropped.rest) {
		char *path = tare_manifest_path(make_dir(), manifest.dropped.rest);
		struct stat st;

		CHECK_INT(stat(path, &st), 0);
		bytes = (uint64_t)st.st_size;
		free(path);
	}
	tare_manifest_free(&manifest);
	return bytes;
}

static void remove_all(void)
{
	DIR *dir = opendir(make_dir());
	struct dirent *entry;

	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
}

/* What a report has, in a text. */
static char *ledgers(void)
{
	struct tare_str out = { 0 };
	struct tare_recording *r;

	moment_text_add(&out, "peak");
	moment_text_add(&out, "end");
	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	for (int i = 0; i < tare_recording_process_nr(r); i++) {
		const struct tare_process *p = tare_recording_process(r, i);

		tare_str_addf(&out, "%s from %lld to %lld, %llu lost\n", p->log, (long long)p->first_ns, (long long)p->last_ns,
		              (unsigned long long)p->lost);
	}
	tare_recording_close(r);
	return tare_str_steal(&out);
}

TEST(what_stays_of_segments_that_went_does_not_grow)
{
	uint64_t settled = 0, last;
	char *whole, *dropped;

	tare_file_skip_sync();
	begin_program();
	for (uint64_t i = 1; i <= ROLLUPS; i++) {
		add_block(i);
		roll_up(1);
		if (i == SETTLED)
			settled = rest_bytes();
	}
	last = rest_bytes();
	printf("after %d rollups %llu bytes stay, after %d %llu\n", SETTLED, (unsigned long long)settled, ROLLUPS,
	       (unsigned long long)last);
	CHECK(settled > 0);
	/* Numbers get longer. */
	CHECK(last < settled + settled / 8);
	dropped = ledgers();
	remove_all();
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	whole = ledgers();
	CHECK_STR(dropped, whole);
	free(whole);
	free(dropped);
	make_log_free(&m);
}

TEST(readings_of_the_clocks_on_a_line_go_but_those_next_to_what_is_left_of_the_log)
{
	struct tare_rollup_clock clocks[1000];
	size_t left = 0;

	for (uint64_t i = 0; i < 1000; i++)
		clocks[i] = (struct tare_rollup_clock){ i * 1000 * MS, i * 1000 * MS + (i > 500 ? 20000 : 0),
			                                    i * 1000 * MS + UINT64_C(1700000000000000000), false };
	tare_rollup_thin_clocks(clocks, 1000, 899 * 1000 * MS);
	CHECK(!clocks[0].is_gone && clocks[1].is_gone && clocks[895].is_gone);
	CHECK(!clocks[500].is_gone && !clocks[501].is_gone);
	for (size_t i = 896; i < 1000; i++)
		CHECK(!clocks[i].is_gone);
	for (size_t i = 0; i < 896; i++)
		left += !clocks[i].is_gone;
	CHECK_INT(left, 3);
}

TEST(of_clocks_that_are_on_no_line_a_bounded_number_stays)
{
	enum { NR = 20000 };
	struct tare_rollup_clock *clocks = calloc(NR, sizeof(*clocks));
	size_t left = 0;

	CHECK(clocks != NULL);
	for (uint64_t i = 0; i < NR; i++)
		clocks[i] = (struct tare_rollup_clock){ i * 1000 * MS, i * 1000 * MS + i * 7919 % 1000 * 1000,
			                                    i == 77 ? 0 : UINT64_C(1700000000000000000) + i, false };
	tare_rollup_thin_clocks(clocks, NR, UINT64_MAX);
	for (size_t i = 0; i < NR; i++)
		left += !clocks[i].is_gone;
	CHECK(left <= 64 + 3 && !clocks[0].is_gone && !clocks[NR - 1].is_gone);
	free(clocks);
}
