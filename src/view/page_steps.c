/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a page, to be laid over one another: the curve of each that is kept, and of all but the first what most of them had (a band
 * of quantiles), over each one's own length and over the time since each began.
 */
#include "view/page.h"

#include "base/comparator.h"
#include "base/emit.h"
#include "base/xalloc.h"
#include "ledger/step_curves.h"

#include <stdlib.h>

enum { PARTS = TARE_STEP_PARTS, QUANTILES = 5, BAND_LEAST = 4 };
static const double quantiles[QUANTILES] = { 0, 0.1, 0.5, 0.9, 1 };
/* The time since the begin goes to where so many steps are over. */
static const double most_are_over = 0.9;

/* Curves of one training. */
struct curves {
	const struct tare_step_curve **items;
	size_t nr;
};

static int64_t value(const struct tare_step_curve *c, bool is_live, int part)
{
	return is_live ? c->live[part] : c->used[part];
}

static void add_curve(struct tare_emit *e, const struct tare_step_curve *c, bool is_live)
{
	tare_emit_open(e, NULL, '[');
	for (int i = 0; i < PARTS; i++) {
		if (value(c, is_live, i) < 0)
			tare_emit_null(e, NULL);
		else
			tare_emit_int(e, NULL, value(c, is_live, i));
	}
	tare_emit_close(e);
}

static void add_curves(struct tare_emit *e, const char *key, const struct curves *all, bool is_live)
{
	tare_emit_open(e, key, '[');
	for (size_t i = 0; i < all->nr; i++)
		add_curve(e, all->items[i], is_live);
	tare_emit_close(e);
}

TARE_SCALAR_COMPARATOR(compare, int64_t)

/* The most that a step had in a part of the axis, which is `axis` ns long; 0: of its own length. -1: it was over. */
static int64_t at(const struct tare_step_curve *c, bool is_live, int part, int64_t axis)
{
	double scale = axis && c->mark->ns > 0 ? (double)axis / (double)c->mark->ns : 1;
	int first = (int)((double)part * scale), last = (int)((double)(part + 1) * scale);
	int64_t most = -1;

	if ((double)part * scale >= PARTS)
		return -1;
	if (last > first)
		last--;
	for (int i = first; i <= last && i < PARTS; i++)
		most = value(c, is_live, i) > most ? value(c, is_live, i) : most;
	return most;
}

/* [[part 0, part 1, …] of each quantile] */
static void add_band(struct tare_emit *e, const char *key, const struct curves *all, bool is_live, int64_t axis)
{
	TARE_FREED_HERE int64_t *values = tare_xcalloc(all->nr + 1, sizeof(*values));
	int64_t out[QUANTILES][PARTS];

	for (int part = 0; part < PARTS; part++) {
		size_t n = 0;

		for (size_t i = 1; i < all->nr; i++) {
			values[n] = at(all->items[i], is_live, part, axis);
			n += values[n] >= 0;
		}
		TARE_SORT(values, n, compare);
		for (int q = 0; q < QUANTILES; q++)
			out[q][part] = n ? values[(size_t)(quantiles[q] * (double)(n - 1) + 0.5)] : -1;
	}
	tare_emit_open(e, key, '[');
	for (int q = 0; q < QUANTILES; q++) {
		tare_emit_open(e, NULL, '[');
		for (int part = 0; part < PARTS; part++)
			(out[q][part] < 0) ? tare_emit_null(e, NULL) : tare_emit_int(e, NULL, out[q][part]);
		tare_emit_close(e);
	}
	tare_emit_close(e);
}

/* How long the others are that most of them do not exceed. */
static int64_t axis_of(const struct curves *all)
{
	int64_t *lengths = tare_xcalloc(all->nr + 1, sizeof(*lengths)), axis;
	size_t n = 0;

	for (size_t i = all->nr > 1; i < all->nr; i++)
		lengths[n++] = all->items[i]->mark->ns;
	TARE_SORT(lengths, n, compare);
	axis = n ? lengths[(size_t)(most_are_over * (double)(n - 1) + 0.5)] : 0;
	free(lengths);
	return axis > 0 ? axis : 1;
}

static void add_bands(struct tare_emit *e, const char *key, const struct curves *all, int64_t axis)
{
	tare_emit_open(e, key, '{');
	add_band(e, "used", all, false, axis);
	add_band(e, "live", all, true, axis);
	tare_emit_close(e);
}

static void add_training(struct tare_emit *e, const struct curves *all)
{
	int64_t axis = axis_of(all);

	tare_emit_open(e, NULL, '{');
	tare_emit_int(e, "axis_ns", axis);
	add_curves(e, "used", all, false);
	add_curves(e, "live", all, true);
	if (all->nr > BAND_LEAST) {
		add_bands(e, "by_time", all, axis);
		add_bands(e, "by_part", all, 0);
	}
	tare_emit_close(e);
}

/* In the order of the report's trainings, and of the steps in each of them. */
void tare_page_steps(struct tare_emit *e, const struct tare_page *p)
{
	const struct tare_step_curves *of = p->step_curves;
	struct curves all = { .items = tare_xcalloc((of ? of->nr : 0) + 1, sizeof(*all.items)) };

	tare_emit_open(e, "steps", '[');
	for (int i = 0; of && i < p->ledgers[0].training_nr; i++) {
		all.nr = 0;
		for (size_t k = 0; k < of->nr; k++)
			if (of->items[k].of == &p->ledgers[0].trainings[i])
				all.items[all.nr++] = &of->items[k];
		add_training(e, &all);
	}
	tare_emit_close(e);
	free(all.items);
}
