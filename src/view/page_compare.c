/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a page that compares: each recording's course of time, and the rows of tare diff --json in each view. */
#include "view/page.h"

#include "base/emit.h"
#include "base/sat.h"

/* Of the rows of a view, of which there may be a million, those that changed most; the others are summed up. */
enum { ROWS_MAX = 400 };

static void add_side(struct tare_emit *e, const struct tare_page_side *s)
{
	tare_emit_open(e, NULL, '{');
	tare_emit_str(e, "source", s->source);
	tare_emit_str(e, "at", s->at);
	if (s->t_ns >= 0)
		tare_emit_int(e, "t_ns", s->t_ns);
	else
		tare_emit_null(e, "t_ns");
	tare_emit_open(e, "time", '{');
	if (s->ledger)
		tare_page_time(e, "account", s->by_account, s->ledger);
	if (s->ledger && s->by_category)
		tare_page_time(e, "category", s->by_category, s->ledger);
	tare_emit_close(e);
	tare_emit_close(e);
}

/* What the rows from `from` on have together on a place. */
static void add_rest_of(struct tare_emit *e, const struct tare_diff *d, size_t from, size_t place)
{
	int64_t before = 0, after = 0;
	uint64_t rows = 0;

	for (size_t i = from; i < d->row_nr; i++) {
		if ((size_t)d->rows[i].place != place)
			continue;
		rows++;
		before = tare_sat_add(before, d->rows[i].before);
		after = tare_sat_add(after, d->rows[i].after);
	}
	if (!rows)
		return;
	tare_emit_open(e, NULL, '{');
	tare_emit_int(e, "device", d->totals[place].place->index);
	tare_emit_uint(e, "rows", rows);
	tare_emit_int(e, "before_bytes", before);
	tare_emit_int(e, "after_bytes", after);
	tare_emit_close(e);
}

/* [[number of a GPU in the first, in the second], …]: -1 is the CPU, null what one side does not have. */
static void add_twins(struct tare_emit *e, const struct tare_diff *d)
{
	tare_emit_open(e, "places", '[');
	for (size_t i = 0; i < d->total_nr; i++) {
		const struct tare_diff_total *t = &d->totals[i];
		const struct tare_diff_place *of[] = { t->is_before ? t->place : NULL, t->in_after };

		tare_emit_open(e, NULL, '[');
		for (int side = 0; side < 2; side++)
			if (of[side])
				tare_emit_int(e, NULL, of[side]->index);
			else
				tare_emit_null(e, NULL);
		tare_emit_close(e);
	}
	tare_emit_close(e);
}

/* The tree of accounts is whole: without a parent its rows would say nothing. */
static void add_pair(struct tare_emit *e, const struct tare_page_pair *p)
{
	struct tare_diff shown = p->diff;

	if (shown.by >= 0 && shown.row_nr > ROWS_MAX)
		shown.row_nr = ROWS_MAX;
	tare_emit_open(e, NULL, '{');
	tare_emit_int(e, "side", p->after);
	tare_diff_show(e, &shown);
	add_twins(e, &p->diff);
	tare_emit_open(e, "rest", '[');
	for (size_t i = 0; i < p->diff.total_nr && shown.row_nr < p->diff.row_nr; i++)
		add_rest_of(e, &p->diff, shown.row_nr, i);
	tare_emit_close(e);
	tare_emit_close(e);
}

void tare_page_compare_data(struct tare_str *out, const struct tare_page_compare *p)
{
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON, out);
	e.json.is_pretty = false;
	tare_emit_open(&e, "sides", '[');
	for (int i = 0; i < p->side_nr; i++)
		add_side(&e, &p->sides[i]);
	tare_emit_close(&e);
	tare_emit_open(&e, "pairs", '[');
	for (int i = 0; i < p->pair_nr; i++)
		add_pair(&e, &p->pairs[i]);
	tare_emit_close(&e);
	tare_emit_end(&e);
}
