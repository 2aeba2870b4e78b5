/* SPDX-License-Identifier: Apache-2.0 */
/* Series and intervals: their rows until they can be drawn, and a series in a line of text. */
#include "base/emit_table.h"

#include "base/array.h"
#include "base/emit_sort.h"
#include "base/units.h"

#include <math.h>

enum { LEVELS = 8, LEAST = 16, MOST = 64 };

/* What an array of parts needs of a row. Arrays are freed with the chart's table. */
static const char *read_of(struct tare_emit_table *t, const struct tare_cell *c)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	tare_cell_read(&text, c, false);
	if (tare_kind_is_size(c->kind) && tare_cell_is_known(c))
		tare_str_add(&text, " MiB");
	return tare_arena_strdup(&t->arena, tare_str_text(&text));
}

static void put(struct tare_emit_table *t, struct tare_chart_part *part, enum tare_column_as as,
                const struct tare_cell *c)
{
	switch (as) {
	case TARE_AS_LANE:
		part->lane = read_of(t, c);
		break;
	case TARE_AS_NAME:
		part->name = read_of(t, c);
		break;
	case TARE_AS_FROM:
		part->from = tare_cell_number(c);
		t->chart->kind = c->kind;
		break;
	case TARE_AS_TO:
		part->to = tare_cell_number(c);
		break;
	case TARE_AS_VALUE:
		part->amount = tare_cell_number(c);
		part->value = read_of(t, c);
		t->chart->amount_kind = c->kind;
		break;
	case TARE_AS_CELL:
		break;
	}
}

void tare_chart_add(struct tare_emit_table *t, const struct tare_cell *cells)
{
	struct tare_chart *chart = t->chart;
	struct tare_chart_part part = { .lane = "", .name = "", .value = "" };

	for (size_t i = 0; i < t->column_count; i++)
		put(t, &part, t->columns[i].as, &cells[i]);
	if (!isfinite(part.from) || !isfinite(part.to) || part.to < part.from)
		return;
	TARE_APPEND(chart->parts, chart->count, chart->cap) = part;
}

void tare_chart_read(struct tare_str *out, enum tare_column_kind kind, double amount)
{
	char text[TARE_UNITS_TEXT_MAX];

	if (tare_kind_is_size(kind))
		tare_str_addf(out, "%s MiB", tare_units_mib(text, (int64_t)amount));
	else if (kind == TARE_COL_DURATION || kind == TARE_COL_TIME)
		tare_str_add(out, amount > 0 ? tare_units_duration(text, (int64_t)amount) : "0 s");
	else
		tare_str_addf(out, "%.10g", amount);
}

/* ---- a line of text ---- */

static const char unknown[] = "░";

static const char *const blocks[LEVELS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

static double most_in(const struct tare_chart *c, size_t first, size_t end)
{
	double most = c->parts[first].amount;

	for (size_t i = first + 1; i < end; i++)
		most = fmax(most, c->parts[i].amount);
	return most;
}

static int level_of(double amount, double most)
{
	double level = most > 0 && amount > 0 ? ceil(amount * LEVELS / most) - 1 : 0;

	return level < 0 ? 0 : level < LEVELS ? (int)level : LEVELS - 1;
}

/* Those amounts are NaN. */
static bool chart_has_unknown(const struct tare_chart *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (isnan(c->parts[i].amount))
			return true;
	return false;
}

bool tare_chart_is_flat(const struct tare_chart *c)
{
	double most = c->count ? fmax(most_in(c, 0, c->count), 0) : 0;

	if (chart_has_unknown(c))
		return most <= 0;
	for (size_t i = 1; i < c->count; i++)
		if (level_of(c->parts[i].amount, most) != level_of(c->parts[0].amount, most))
			return false;
	return true;
}

static bool is_unknown(const struct tare_chart *c, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		if (isnan(c->parts[i].amount))
			return true;
	return false;
}

/* What is not known of a part of a cell is not known of it: what was there may have been the most. */
static void add_cells(struct tare_str *out, const struct tare_chart *c, size_t cells)
{
	double most = fmax(most_in(c, 0, c->count), 0);

	for (size_t i = 0; i < cells; i++) {
		size_t first = i * c->count / cells, end = (i + 1) * c->count / cells;

		tare_str_add(out, is_unknown(c, first, end) ? unknown : blocks[level_of(most_in(c, first, end), most)]);
	}
}

void tare_chart_spark(struct tare_str *out, const struct tare_chart *c, size_t width, const char *tail)
{
	TARE_FREED_BY(tare_str_free) struct tare_str from = { 0 }, to = { 0 };
	size_t cells = MOST, beside;

	if (tare_chart_is_flat(c))
		return;
	tare_chart_read(&from, c->kind, c->parts[0].from);
	tare_str_add_char(&to, ' ');
	tare_chart_read(&to, c->kind, c->parts[c->count - 1].to);
	if (tail)
		tare_str_addf(&to, " · %s", tail);
	beside = tare_str_columns(tare_str_text(&from)) + 1 + tare_str_columns(tare_str_text(&to));
	if (beside + cells > width)
		cells = beside + LEAST < width ? width - beside : LEAST;
	tare_str_addf(out, "%s ", tare_str_text(&from));
	add_cells(out, c, cells);
	tare_str_addf(out, "%s\n", tare_str_text(&to));
}
