/* SPDX-License-Identifier: Apache-2.0 */
/* Phases that no measured run has shown as the greatest, of made-up sweeps. */
#include "base/xalloc.h"
#include "fit/plan.h"
#include "fit/unseen.h"
#include "test.h"

#include <stdlib.h>

#define MIB 1048576.0

static struct tare_series_list list;
static const char *const columns[] = { "batch" };
static const char *cells[1];
static struct tare_table ask_for = {
	.column_count = 1, .row_count = 1, .columns = (const char **)columns, .cells = cells
};

static void add(enum tare_series_kind kind, const char *name, int batch, double bytes)
{
	struct tare_series *s = tare_series_get(&list, kind, name);

	s->is_outer = kind == TARE_SERIES_PHASE;
	tare_series_row(&list, s);
	tare_series_set_number(&list, s, "batch", batch);
	tare_series_set_number(&list, s, name, bytes);
}

/* A run: `backward` is greatest up to batch 16; `sample` grows with the square; `outside`: what no phase has. */
static void run(int batch, double outside, bool has_sample)
{
	double backward = (900 + 20 * batch) * MIB, sample = (100 + 2.0 * batch * batch) * MIB;
	double need = outside > backward ? outside : backward;

	add(TARE_SERIES_NEED, "need", batch, has_sample && sample > need ? sample : need);
	add(TARE_SERIES_PHASE, "phase backward", batch, backward);
	add(TARE_SERIES_PHASE, "phase forward", batch, (500 + 20 * batch) * MIB);
	if (has_sample)
		add(TARE_SERIES_PHASE, "phase sample", batch, sample);
}

static void sweep(int greatest, double outside)
{
	for (int batch = 2; batch <= greatest; batch += 2)
		run(batch, outside, true);
}

static struct tare_prediction at(const char *batch, const char **unseen)
{
	struct tare_problem_ask ask = { 0 };
	struct tare_forecast f;
	struct tare_prediction got = { 0 };

	cells[0] = batch;
	CHECK_INT(tare_forecast_of_series(&f, &list, "need", &ask, NULL), 0);
	CHECK(tare_forecast_at(&f, &ask_for, 0, &got, NULL, NULL));
	*unseen = tare_unseen_at(&f, &ask_for, 0);
	if (*unseen)
		*unseen = tare_arena_strdup(&list.arena, *unseen);
	tare_forecast_free(&f);
	return got;
}

TEST(a_phase_that_passes_all_beyond_what_was_measured)
{
	struct tare_prediction got;
	const char *unseen;
	double truth = (100 + 2.0 * 64 * 64) * MIB;

	sweep(16, 0);
	got = at("64", &unseen);
	CHECK_STR(unseen, "phase sample");
	CHECK(got.low <= truth && truth <= got.high && got.value > truth * 0.9);
	at("18", &unseen); /* 748 MiB of 1,260 */
	CHECK(!unseen);
	at("8", &unseen); /* measured */
	CHECK(!unseen);
	at("7", &unseen); /* among what was measured */
	CHECK(!unseen);
	tare_series_free(&list);
}

TEST(a_phase_that_was_the_greatest_once_is_seen)
{
	const char *unseen;

	sweep(30, 0); /* 1,900 MiB of 1,500 */
	at("64", &unseen);
	CHECK(!unseen);
	tare_series_free(&list);
}

TEST(a_phase_that_ran_in_some_cells_only)
{
	const char *unseen;

	for (int batch = 2; batch <= 16; batch += 2)
		run(batch, 0, batch >= 6);
	at("64", &unseen);
	CHECK_STR(unseen, "phase sample");
	tare_series_free(&list);
}

TEST(what_no_phase_has_is_the_greatest)
{
	struct tare_prediction got;
	const char *unseen;

	sweep(16, 3000 * MIB); /* and always the same: the law of all of it is a constant */
	got = at("64", &unseen);
	CHECK_STR(unseen, "phase sample");
	CHECK(got.high >= (100 + 2.0 * 64 * 64) * MIB * 0.98);
	at("20", &unseen); /* 1,300 MiB of 3,000 */
	CHECK(!unseen);
	tare_series_free(&list);
}

TEST(runs_without_phases)
{
	struct tare_plan_ask ask = { .fit = { .target = "need" }, .unit = 1, .room = 4000 * MIB, .list = &list };
	struct tare_plan plan;
	const char *unseen;

	for (int batch = 2; batch <= 16; batch += 2)
		add(TARE_SERIES_NEED, "need", batch, (900 + 100 * batch) * MIB);
	at("64", &unseen);
	CHECK(!unseen);
	CHECK_INT(tare_plan_make(&ask, &plan, NULL), 0);
	CHECK(plan.has_no_phases && !plan.choices[plan.first].unseen_phase);
	tare_plan_free(&plan);
	tare_series_free(&list);
}

TEST(a_plan_names_it_and_does_not_count_on_the_law_of_all)
{
	struct tare_plan_ask ask = { .fit = { .target = "need" }, .unit = 1, .room = 4000 * MIB, .list = &list };
	struct tare_plan plan;

	sweep(16, 3000 * MIB);
	CHECK_INT(tare_plan_make(&ask, &plan, NULL), 0);
	CHECK(plan.first >= 0 && plan.best >= 0);
	CHECK_STR(plan.choices[plan.first].unseen_phase, "phase sample");
	CHECK(plan.choices[plan.first].high > ask.room);
	tare_plan_free(&plan);
	tare_series_free(&list);
}
