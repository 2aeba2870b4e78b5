/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that grows, read again and again: going on from a moment says what reading it from the begin says. */
#include "ledger/live.h"
#include "make_log.h"
#include "rollup/rollup.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define S UINT64_C(1000000000)

enum { WORTH = 1000, CALLS = 6000, READS = 24, ROLL_EVERY = 5 };

static struct make_log m;
static size_t sizes[CALLS]; /* of the log behind each call */

static void call(uint64_t at, uint64_t i, uint64_t ns, bool is_end)
{
	make_log_call(&m, at, ns, UINT64_C(0x7f0000000000) + (i << 24), (i % 7 + 1) << 20, is_end);
}

/* 60 s, 100 calls in each. `late`: the record of that call comes so many ns after it ended; -1: of none. */
static void make_program(int late, uint64_t behind)
{
	make_log_init(&m, 431, 0);
	MAKE_TEXT(&m, string, STRING, "cuMemAlloc_v2", .id = 2);
	MAKE_TEXT(&m, string, STRING, "cuMemFree_v2", .id = 3);
	make_log_gpu(&m);
	for (uint64_t i = 0; i < CALLS; i++) {
		uint64_t at = S / 100 * (i + 1);

		if ((int)i == late)
			call(at - behind, CALLS, 1000, false); /* one that stays */
		call(at, i / 2, 1000, i % 3 == 2);
		sizes[i] = m.size;
	}
}

static void add_ledger(struct tare_str *out, struct tare_ledger *l)
{
	tare_str_addf(out, "%s: %lld\n", l->at, (long long)l->t_ns);
	for (int d = 0; d < l->device_nr; d++) {
		tare_str_addf(out, "device %d used %lld unexplained %lld\n", d, (long long)l->devices[d].used,
		              (long long)l->devices[d].unexplained);
		for (int k = 0; k < l->devices[d].row_nr; k++) {
			const struct tare_row *row = &l->devices[d].rows[k];

			tare_str_addf(out, " %s %lld %llu %d\n", row->path, (long long)row->bytes, (unsigned long long)row->count,
			              row->evidence);
		}
	}
	tare_ledger_free(l);
}

static const struct tare_instant end = { .moment = TARE_MOMENT_END, .text = "end" };

/* What both say of what there is now. */
static void check_same(struct tare_ledger_live *live)
{
	struct tare_str a = { 0 }, b = { 0 };
	struct tare_ledger ledger;
	struct tare_recording *r;

	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	tare_ledger_of_live(live, r, NULL, &end, 1, &ledger);
	add_ledger(&a, &ledger);
	tare_recording_rewind(r);
	tare_ledger_of_recording(r, NULL, &end, 1, &ledger);
	add_ledger(&b, &ledger);
	tare_recording_close(r);
	CHECK_STR(tare_str_text(&a), tare_str_text(&b));
	tare_str_free(&a);
	tare_str_free(&b);
}

enum rolls { NO_ROLLS, ROLLS, ROLLS_WITHOUT_STATES };

static void roll_up(enum rolls rolls)
{
	struct tare_rollup_options o = { .state_share = 1, .skips_state = rolls == ROLLS_WITHOUT_STATES };
	struct tare_rolled_up done;

	CHECK_INT(tare_rollup(make_dir(), &o, &done, NULL), 0);
}

static void check_grows(struct tare_ledger_live *live, enum rolls rolls)
{
	for (int i = 1; i <= READS; i++) {
		make_log_write(&m, make_path(make_dir(), "431-0.events"), sizeof(m.header) + sizes[CALLS * i / READS - 1]);
		if (rolls == ROLLS_WITHOUT_STATES && i % ROLL_EVERY == 0)
			roll_up(rolls); /* what came last is in a segment before anybody has seen it */
		check_same(live);
		if (rolls == ROLLS && i % ROLL_EVERY == 0)
			roll_up(rolls);
	}
}

TEST(a_ledger_that_goes_on_says_what_one_from_the_begin_says)
{
	struct tare_ledger_live live = { .worth = WORTH };

	make_program(-1, 0);
	check_grows(&live, NO_ROLLS);
	CHECK(live.begun <= 1 + WORTH * READS / CALLS);
	CHECK_INT(live.resumed + live.begun, READS);
	CHECK(live.folded < WORTH + 500);
	tare_ledger_live_free(&live);
	make_log_free(&m);
}

/* Its state knows how many events it has: one more is one that it does not know. */
TEST(a_record_that_comes_late_is_in_the_ledger)
{
	static const uint64_t behind[] = { S / 2, 30 * S };

	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		struct tare_ledger_live live = { .worth = WORTH };

		make_program(5500, behind[i]);
		check_grows(&live, NO_ROLLS);
		CHECK(live.resumed > READS / 2);
		tare_ledger_live_free(&live);
		make_log_free(&m);
	}
}

TEST(it_goes_on_where_states_are_saved_beside_the_segments)
{
	struct tare_ledger_live live = { .worth = WORTH };

	make_program(-1, 0);
	check_grows(&live, ROLLS);
	CHECK(live.resumed > READS / 2);
	tare_ledger_live_free(&live);
	make_log_free(&m);
}

/* Its state is in memory alone, and segments are made of what it knows. */
static void check_without_states(int late)
{
	struct tare_ledger_live live = { .worth = WORTH };

	make_program(late, 20 * S);
	check_grows(&live, ROLLS_WITHOUT_STATES);
	CHECK(live.resumed > READS / 2);
	CHECK_INT(live.resumed + live.begun, READS);
	tare_ledger_live_free(&live);
	make_log_free(&m);
}

TEST(it_goes_on_where_segments_have_no_state)
{
	check_without_states(-1);
}

TEST(a_record_that_comes_late_into_a_segment_is_in_the_ledger)
{
	check_without_states(4900);
}

struct seen {
	int before, behind;
};

static struct seen read_over(struct tare_recording *r, const struct tare_recording_state *known, int64_t t_ns)
{
	struct seen seen = { 0 };
	struct tare_event e;

	tare_recording_pass_over(r, known);
	tare_recording_rewind(r);
	while (tare_recording_next(r, &e))
		*(e.at_ns <= t_ns ? &seen.before : &seen.behind) += 1;
	return seen;
}

/* Only of segments that were there when the state was made: another one may have what came late. */
TEST(what_a_state_in_memory_knows_is_passed_over_in_segments)
{
	struct tare_ledger_live live = { .worth = WORTH };
	struct tare_recording_state known = { .until_ns = 40 * (int64_t)S };
	struct tare_recording *r;
	struct seen all, less;

	make_program(-1, 0);
	check_grows(&live, ROLLS_WITHOUT_STATES);
	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	all = read_over(r, NULL, known.until_ns);
	less = read_over(r, &known, known.until_ns);
	CHECK_INT(less.before, all.before);
	known.number = tare_recording_newest_segment(r);
	CHECK(known.number > 1);
	less = read_over(r, &known, known.until_ns);
	CHECK(less.before < all.before / 2);
	CHECK_INT(less.behind, all.behind);
	CHECK_INT(read_over(r, NULL, known.until_ns).before, all.before);
	tare_recording_close(r);
	tare_ledger_live_free(&live);
	make_log_free(&m);
}

TEST(another_recording_of_that_name_is_read_from_its_begin)
{
	struct tare_ledger_live live = { .worth = WORTH };

	make_program(-1, 0);
	check_grows(&live, NO_ROLLS);
	make_log_free(&m);
	make_program(100, S);
	check_same(&live);
	make_log_write(&m, make_path(make_dir(), "431-0.events"), sizeof(m.header) + sizes[150]);
	check_same(&live);
	tare_ledger_live_free(&live);
	make_log_free(&m);
}
