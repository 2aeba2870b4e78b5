/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is followed: what is told of its segments stays told, whether they are read again or not. */
#include "make_log.h"
#include "rollup/rollup.h"
#include "store/manifest.h"
#include "store/segment.h"
#include "segments.h"
#include "test.h"
#include "top/follow.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define S UINT64_C(1000000000)

enum { CALLS = 4000, PIECES = 4 };

static struct make_log m;
static size_t sizes[CALLS]; /* of the log behind each call */
static struct tare_follow *follow;
static int64_t now_ns = 1;

static void begin(void)
{
	make_log_init(&m, 431, 0);
	MAKE_TEXT(&m, string, STRING, "cuMemAlloc_v2", .id = 2);
	MAKE_TEXT(&m, string, STRING, "cuMemFree_v2", .id = 3);
	make_log_gpu(&m);
	for (uint64_t i = 0; i < CALLS; i++) {
		make_log_call(&m, S / 100 * (i + 1), 1000, UINT64_C(0x7f0000000000) + (i / 2 << 24), 1 << 20, i % 3 == 2);
		sizes[i] = m.size;
	}
}

static void finish(void)
{
	tare_follow_free(follow);
	make_log_free(&m);
}

/* The log grows to that piece. */
static void grow(int piece)
{
	make_log_write(&m, make_path(make_dir(), "431-0.events"), sizeof(m.header) + sizes[CALLS * piece / PIECES - 1]);
}

static void roll_up(void)
{
	struct tare_rollup_options o = { .skips_state = true };
	struct tare_rolled_up done;

	CHECK_INT(tare_rollup(make_dir(), &o, &done, NULL), 0);
}

/* The next refresh, an hour later: it reads. */
static void turn(void)
{
	now_ns += 3600 * (int64_t)S;
	CHECK(tare_follow_turn(follow, now_ns, false));
	CHECK(follow->has_ledger);
}

static bool tells_damage(void)
{
	for (int i = 0; i < follow->ledger.degraded_nr; i++)
		if (strstr(follow->ledger.degraded[i], "damaged block"))
			return true;
	return false;
}

/* What `tare report` says of now. */
static void check_same_as_a_report(void)
{
	const struct tare_instant end = { .moment = TARE_MOMENT_END, .text = "end" };
	struct tare_recording *r;
	struct tare_ledger ledger;

	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	tare_ledger_of_recording(r, NULL, &end, 1, &ledger);
	tare_recording_close(r);
	CHECK_INT(follow->ledger.device_nr, ledger.device_nr);
	CHECK_INT(follow->ledger.degraded_nr, ledger.degraded_nr);
	for (int i = 0; i < ledger.degraded_nr && i < follow->ledger.degraded_nr; i++)
		CHECK_STR(follow->ledger.degraded[i], ledger.degraded[i]);
	for (int d = 0; d < ledger.device_nr && d < follow->ledger.device_nr; d++) {
		CHECK_INT(follow->ledger.devices[d].used, ledger.devices[d].used);
		CHECK_INT(follow->ledger.devices[d].row_nr, ledger.devices[d].row_nr);
	}
	tare_ledger_free(&ledger);
}

TEST(segments_that_are_sound_are_not_read_for_damage_again)
{
	begin();
	grow(1);
	roll_up();
	follow = tare_follow_new(make_dir());
	turn();
	CHECK(follow->sound_print);
	for (int piece = 2; piece <= PIECES; piece++) {
		uint64_t before = follow->sound_print;

		grow(piece);
		turn();
		CHECK(follow->sound_print == before);
		check_same_as_a_report();
	}
	finish();
}

TEST(another_segment_is_read_for_damage)
{
	uint64_t before;

	begin();
	grow(1);
	roll_up();
	follow = tare_follow_new(make_dir());
	turn();
	before = follow->sound_print;
	grow(2);
	roll_up();
	turn();
	CHECK(follow->sound_print && follow->sound_print != before);
	check_same_as_a_report();
	grow(3);
	roll_up();
	segments_damage(3);
	turn();
	CHECK(tells_damage());
	check_same_as_a_report();
	finish();
}

TEST(damage_is_told_at_every_refresh)
{
	begin();
	grow(1);
	roll_up();
	follow = tare_follow_new(make_dir());
	turn();
	CHECK(!tells_damage());
	segments_damage(1);
	for (int piece = 2; piece <= PIECES; piece++) {
		grow(piece);
		turn();
		CHECK(tells_damage());
		CHECK_INT(follow->sound_print, 0);
		check_same_as_a_report();
	}
	finish();
}
