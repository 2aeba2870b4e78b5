/* SPDX-License-Identifier: Apache-2.0 */
#include "base/emit_table.h"

#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char gap[] = "  ";
static const char unknown_text[] = "–";
static const char mib[] = "MiB";

static bool is_size(enum tare_column_kind kind)
{
	return kind == TARE_COL_BYTES || kind == TARE_COL_CHANGE;
}

/* Sizes, counts and times are int64_t in text; a larger unsigned one is shown by its own branch. */
static int64_t cell_int(const struct tare_cell *c)
{
	if (c->type == TARE_CELL_UINT)
		return c->u > INT64_MAX ? INT64_MAX : (int64_t)c->u;
	return c->i;
}

static void add_count(const struct tare_cell *c, struct tare_str *out)
{
	char buf[TARE_UNITS_TEXT_MAX];
	uint64_t size = c->u;

	if (c->type == TARE_CELL_INT && c->i < 0) {
		tare_str_add_char(out, '-');
		size = 0 - size;
	}
	tare_str_add(out, tare_units_count(buf, size));
}

static void add_cell(const struct tare_cell *c, enum tare_column_kind kind, struct tare_str *out)
{
	char buf[TARE_UNITS_TEXT_MAX];

	if (c->type == TARE_CELL_UNKNOWN || (c->type == TARE_CELL_NUMBER && !isfinite(c->number))) {
		tare_str_add(out, unknown_text);
		return;
	}
	if (c->type == TARE_CELL_TEXT) {
		tare_text_add_name(out, c->text);
		return;
	}
	switch (kind) {
	case TARE_COL_BYTES:
		tare_str_add(out, tare_units_mib(buf, cell_int(c)));
		break;
	case TARE_COL_CHANGE:
		tare_units_mib(buf, cell_int(c));
		tare_str_addf(out, "%s%s", buf[0] == '-' ? "" : "+", buf);
		break;
	case TARE_COL_DURATION:
		tare_str_add(out, tare_units_duration(buf, cell_int(c)));
		break;
	case TARE_COL_NUMBER:
		tare_str_addf(out, "%.2f", c->number);
		break;
	case TARE_COL_PERCENT:
		tare_str_addf(out, "%.1f %%", c->number * 100);
		break;
	case TARE_COL_FLAG:
		tare_str_add(out, cell_int(c) ? "yes" : "");
		break;
	case TARE_COL_COUNT:
	case TARE_COL_TEXT:
		add_count(c, out);
		break;
	}
}

static void add_head(const struct tare_emit_table *t, size_t column, struct tare_str *out)
{
	tare_text_add_name(out, t->columns[column].head);
	if (!t->title && is_size(t->columns[column].kind))
		tare_str_addf(out, "%s%s", t->columns[column].head[0] ? " " : "", mib);
}

static void widen(size_t *width, const struct tare_str *text)
{
	size_t n = tare_str_columns(tare_str_text(text));

	if (n > *width)
		*width = n;
}

/* The text of one cell as it will stand, without padding. */
static void render(const struct tare_emit_table *t, const struct tare_emit_row *row, size_t column,
		   struct tare_str *text)
{
	tare_str_cut(text, 0);
	if (!row) {
		add_head(t, column, text);
		return;
	}
	if (column == 0)
		tare_str_add_repeat(text, gap, row->indent);
	add_cell(&row->cells[column], t->columns[column].kind, text);
}

static void measure(const struct tare_emit_table *t, size_t *widths)
{
	struct tare_str text = { 0 };

	for (size_t c = 0; c < t->column_count; c++) {
		if (!t->columns[c].head)
			continue;
		render(t, NULL, c, &text);
		widen(&widths[c], &text);
		for (size_t r = 0; r < t->row_count; r++) {
			if (!t->rows[r].cells)
				continue;
			render(t, &t->rows[r], c, &text);
			widen(&widths[c], &text);
		}
	}
	tare_str_free(&text);
}

static size_t total_width(const struct tare_emit_table *t, const size_t *widths)
{
	size_t total = 0;

	for (size_t c = 0; c < t->column_count; c++)
		if (t->columns[c].head)
			total += widths[c] + (total ? sizeof(gap) - 1 : 0);
	return total;
}

/* Blanks at the end of a line are left out. row NULL: the head. */
static void text_row(const struct tare_emit_table *t, const struct tare_emit_row *row,
		     const size_t *widths, struct tare_str *out)
{
	struct tare_str text = { 0 };
	size_t pending = 0;
	bool is_first = true;

	for (size_t c = 0; c < t->column_count; c++) {
		size_t pad;

		if (!t->columns[c].head)
			continue;
		render(t, row, c, &text);
		pad = widths[c] - tare_str_columns(tare_str_text(&text));
		pending += is_first ? 0 : sizeof(gap) - 1;
		is_first = false;
		if (t->columns[c].kind != TARE_COL_TEXT)
			pending += pad;
		if (text.len) {
			tare_str_add_repeat(out, " ", pending);
			pending = 0;
		}
		tare_str_add(out, tare_str_text(&text));
		if (t->columns[c].kind == TARE_COL_TEXT)
			pending += pad;
	}
	tare_str_add_char(out, '\n');
	tare_str_free(&text);
}

static void text_title(const struct tare_emit_table *t, size_t total, struct tare_str *out)
{
	size_t columns = tare_str_columns(t->title), unit = sizeof(mib) - 1;
	bool has_size = false;

	for (size_t c = 0; c < t->column_count; c++)
		has_size = has_size || (t->columns[c].head && is_size(t->columns[c].kind));
	tare_text_add_name(out, t->title);
	if (has_size) {
		tare_str_add_repeat(out, " ",
				    columns + unit + 2 < total ? total - columns - unit : 2);
		tare_str_add(out, mib);
	}
	tare_str_add_char(out, '\n');
}

void tare_emit_table_text(const struct tare_emit_table *t, struct tare_str *out)
{
	size_t *widths = tare_xcalloc(t->column_count, sizeof(*widths)), total;

	measure(t, widths);
	total = total_width(t, widths);
	if (t->title)
		text_title(t, total, out);
	text_row(t, NULL, widths, out);
	for (size_t r = 0; r < t->row_count; r++) {
		const struct tare_emit_row *row = &t->rows[r];

		if (row->cells) {
			text_row(t, row, widths, out);
		} else if (row->line[0]) {
			tare_text_add_lines(out, row->line, strlen(row->line));
			tare_str_add_char(out, '\n');
		} else {
			tare_str_add_repeat(out, "─", total);
			tare_str_add_char(out, '\n');
		}
	}
	free(widths);
}

static void json_cell(const struct tare_cell *c, const struct tare_column *column,
		      struct tare_json *json)
{
	switch (c->type) {
	case TARE_CELL_TEXT:
		tare_json_str(json, column->key, c->text);
		break;
	case TARE_CELL_INT:
		if (column->kind == TARE_COL_FLAG)
			tare_json_bool(json, column->key, c->i != 0);
		else
			tare_json_i64(json, column->key, c->i);
		break;
	case TARE_CELL_UINT:
		tare_json_u64(json, column->key, c->u);
		break;
	case TARE_CELL_NUMBER:
		tare_json_number(json, column->key, c->number);
		break;
	case TARE_CELL_UNKNOWN:
		tare_json_null(json, column->key);
		break;
	}
}

void tare_emit_table_json(const struct tare_emit_table *t, struct tare_json *json)
{
	tare_json_open(json, t->key, '[');
	for (size_t r = 0; r < t->row_count; r++) {
		if (!t->rows[r].cells)
			continue;
		tare_json_open(json, NULL, '{');
		for (size_t c = 0; c < t->column_count; c++)
			if (t->columns[c].key)
				json_cell(&t->rows[r].cells[c], &t->columns[c], json);
		tare_json_close(json);
	}
	tare_json_close(json);
}

static void csv_cell(const struct tare_cell *c, struct tare_str *out)
{
	switch (c->type) {
	case TARE_CELL_TEXT:
		tare_text_add_csv(out, c->text);
		break;
	case TARE_CELL_INT:
		tare_str_addf(out, "%lld", (long long)c->i);
		break;
	case TARE_CELL_UINT:
		tare_str_addf(out, "%llu", (unsigned long long)c->u);
		break;
	case TARE_CELL_NUMBER:
		if (isfinite(c->number))
			tare_str_addf(out, "%.12g", c->number);
		break;
	case TARE_CELL_UNKNOWN:
		break;
	}
}

/* row NULL: the head. */
static void csv_row(const struct tare_emit_table *t, const struct tare_emit_row *row,
		    struct tare_str *out)
{
	bool is_first = true;

	for (size_t c = 0; c < t->column_count; c++) {
		if (!t->columns[c].key)
			continue;
		if (!is_first)
			tare_str_add_char(out, ',');
		is_first = false;
		if (row)
			csv_cell(&row->cells[c], out);
		else
			tare_text_add_csv(out, t->columns[c].key);
	}
	tare_str_add_char(out, '\n');
}

void tare_emit_table_csv(const struct tare_emit_table *t, struct tare_str *out)
{
	csv_row(t, NULL, out);
	for (size_t r = 0; r < t->row_count; r++)
		if (t->rows[r].cells)
			csv_row(t, &t->rows[r], out);
}
