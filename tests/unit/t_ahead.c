/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is folded while it is written: a report that goes on from there says what one from the begin says. */
#include "rollup/ahead.h"

#include "ledger/build.h"
#include "make_log.h"
#include "rollup/rollup.h"
#include "store/manifest.h"
#include "test.h"

#include <stdlib.h>

#define S UINT64_C(1000000000)

enum { CALLS = 3000, TIMES = 10 };

static struct make_log m;

/* 30 s, 100 calls in each; some blocks stay. `late`: a call that began 25 s before its record was written; 0: none. */
static void make_program(uint64_t late)
{
	make_log_init(&m, 431, 0);
	MAKE_TEXT(&m, string, STRING, "cuMemAlloc_v2", .id = 2);
	MAKE_TEXT(&m, string, STRING, "cuMemFree_v2", .id = 3);
	make_log_gpu(&m);
	for (uint64_t i = 0; i < CALLS; i++) {
		uint64_t at = S / 100 * (i + 1), ns = late && i == late ? 25 * S : 1000;
		uint64_t handle = UINT64_C(0x7f0000000000) + (i / 2 % 100 << 24);

		make_log_call(&m, at - (ns > 1000 ? ns : 0), ns, handle, 2 << 20, i % 2);
		if (i % 400 == 1)
			make_log_call(&m, at + 10, 1000, handle + (UINT64_C(1) << 40), 2 << 20, false);
	}
}

/* So much of the program's log is there and compacted; no state is saved beside it. */
static void roll_up(size_t bytes)
{
	struct tare_rollup_options o = { .skips_state = true };
	struct tare_rolled_up done;

	make_log_write(&m, make_path(make_dir(), "431-0.events"), sizeof(m.header) + bytes);
	CHECK_INT(tare_rollup(make_dir(), &o, &done, NULL), 0);
}

/* What a report has, in a text; going on from `ahead`, if there is one. */
static char *ledgers(const struct tare_rollup_ahead *ahead)
{
	static const char *const moments[] = { "peak", "end", "28.9s", "12.3s" };
	struct tare_str out = { 0 };

	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		struct tare_recording *r;
		struct tare_instant at;
		struct tare_ledger l;

		CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
		if (ahead)
			tare_recording_lend_state(r, &ahead->at, ahead->bytes.data, ahead->bytes.len);
		CHECK_INT(tare_recording_state_nr(r), ahead != NULL);
		CHECK_INT(tare_instant_parse(moments[i], &at, NULL), 0);
		tare_ledger_of_recording(r, NULL, &at, 1, &l);
		tare_str_addf(&out, "%s: %lld\n", moments[i], (long long)l.t_ns);
		for (int d = 0; d < l.device_nr; d++)
			for (int k = 0; k < l.devices[d].row_nr; k++)
				tare_str_addf(&out, " %s %lld %llu %lld\n", l.devices[d].rows[k].path,
				              (long long)l.devices[d].rows[k].bytes, (unsigned long long)l.devices[d].rows[k].count,
				              (long long)l.devices[d].rows[k].driver_ns);
		tare_ledger_free(&l);
		tare_recording_close(r);
	}
	return tare_str_steal(&out);
}

/* Folds as far as it goes; returns how often it got further. */
static int fold(struct tare_rollup_ahead *ahead, uint64_t most)
{
	int times = 0;

	do {
		struct tare_rollup_ahead now;

		if (tare_rollup_ahead(make_dir(), ahead, most, &now, NULL) != 0)
			break;
		CHECK(now.at.until_ns > ahead->at.until_ns);
		tare_str_free(&ahead->bytes);
		*ahead = now;
		times++;
	} while (ahead->has_more);
	return times;
}

static void check(uint64_t late, uint64_t most)
{
	struct tare_rollup_ahead ahead = { 0 };
	char *with, *without;
	int times = 0;

	make_program(late);
	for (size_t i = 1; i <= TIMES; i++) {
		roll_up(m.size * i / TIMES);
		if (i % 3 == 0)
			times += fold(&ahead, most);
	}
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	CHECK(times >= (most == 1 ? 6 : 3) && ahead.at.until_ns > (int64_t)(20 * S));
	with = ledgers(&ahead);
	without = ledgers(NULL);
	CHECK_STR(with, without);
	free(with);
	free(without);
	tare_str_free(&ahead.bytes);
	make_log_free(&m);
}

TEST(a_report_that_goes_on_from_it_says_what_one_from_the_begin_says)
{
	check(0, UINT64_MAX);
}

TEST(so_it_does_where_it_was_folded_segment_by_segment)
{
	check(0, 1);
}

/* What is there contradicts the state: it is not gone by. */
TEST(a_call_that_began_before_and_ended_after_it_is_where_it_belongs)
{
	check(CALLS - 10, UINT64_MAX);
}

TEST(where_nothing_is_in_segments_nothing_is_folded)
{
	const struct tare_rollup_ahead none = { 0 };
	struct tare_rollup_ahead ahead;

	make_program(0);
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	CHECK_INT(tare_rollup_ahead(make_dir(), &none, 1, &ahead, NULL), TARE_E_NOT_FOUND);
	make_log_free(&m);
}

/* One beside the segments that knows more is better. */
TEST(an_older_one_than_the_recording_has_is_not_taken)
{
	struct tare_rollup_options o = { .state_share = 1 };
	struct tare_rollup_ahead ahead = { 0 };
	struct tare_recording *r;
	struct tare_rolled_up done;

	make_program(0);
	roll_up(m.size / 2);
	CHECK_INT(fold(&ahead, UINT64_MAX), 1);
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	CHECK_INT(tare_rollup(make_dir(), &o, &done, NULL), 0);
	CHECK(done.has_state && done.until_ns > ahead.at.until_ns);
	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	CHECK_INT(tare_recording_state_nr(r), 1);
	tare_recording_lend_state(r, &ahead.at, ahead.bytes.data, ahead.bytes.len);
	CHECK_INT(tare_recording_state_nr(r), 1);
	CHECK_INT(tare_recording_state(r, 0).until_ns, done.until_ns);
	tare_recording_close(r);
	tare_str_free(&ahead.bytes);
	make_log_free(&m);
}
