/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in a field of a row, as the column that is bound to it says. */
#include "base/emit_table.h"

#include "base/part.h"
#include "base/sat.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct tare_cell text_cell(const char *text)
{
	if (!text)
		return (struct tare_cell){ 0 };
	return (struct tare_cell){ .type = TARE_CELL_TEXT, .text = text };
}

static struct tare_cell int_cell(const struct tare_column *c, int64_t v)
{
	if ((c->unknown == TARE_UNKNOWN_ZERO && v == 0) || (c->unknown == TARE_UNKNOWN_NEGATIVE && v < 0))
		return (struct tare_cell){ 0 };
	return (struct tare_cell){ .type = TARE_CELL_INT, .i = v };
}

static struct tare_cell uint_cell(const struct tare_column *c, uint64_t v)
{
	if ((c->unknown == TARE_UNKNOWN_ZERO && v == 0) || (c->unknown == TARE_UNKNOWN_HUGE && v > INT64_MAX))
		return (struct tare_cell){ 0 };
	return (struct tare_cell){ .type = TARE_CELL_UINT, .u = v };
}

static struct tare_cell unsigned_cell(const struct tare_column *c, unsigned v)
{
	return c->name ? text_cell(c->name(v)) : uint_cell(c, v);
}

static struct tare_cell number_cell(double v)
{
	if (isnan(v))
		return (struct tare_cell){ 0 };
	return (struct tare_cell){ .type = TARE_CELL_NUMBER, .number = v };
}

static struct tare_cell value_cell(const struct tare_value *v)
{
	struct tare_cell cell = { .kind = v->kind, .i = v->low, .high = v->high };

	if (!v->is_known)
		return (struct tare_cell){ .kind = v->kind };
	if (v->kind == TARE_COL_TEXT) {
		cell = text_cell(v->text);
		cell.kind = TARE_COL_TEXT;
		return cell;
	}
	cell.type = v->low == v->high ? TARE_CELL_INT : TARE_CELL_RANGE;
	return cell;
}

static bool is_there(const struct tare_column *c, const void *row)
{
	return !c->when || *(const bool *)((const char *)row + c->when - 1);
}

static struct tare_cell cell_of(const struct tare_column *c, const void *field)
{
	switch (c->type) {
	case TARE_FIELD_TEXT:
		return text_cell(*(const char *const *)field);
	case TARE_FIELD_CHARS:
		return text_cell(field);
	case TARE_FIELD_STR:
		return text_cell(tare_str_text(field));
	case TARE_FIELD_BOOL:
		return int_cell(c, *(const bool *)field);
	case TARE_FIELD_INT:
		return int_cell(c, *(const int *)field);
	case TARE_FIELD_UNSIGNED:
		return unsigned_cell(c, *(const unsigned *)field);
	case TARE_FIELD_INT64:
		return int_cell(c, *(const int64_t *)field);
	case TARE_FIELD_UINT64:
		return uint_cell(c, *(const uint64_t *)field);
	case TARE_FIELD_DOUBLE:
		return number_cell(*(const double *)field);
	case TARE_FIELD_VALUE:
		return value_cell(field);
	case TARE_FIELD_TRUE:
		return int_cell(c, 1);
	case TARE_FIELD_NONE:
		break;
	}
	return (struct tare_cell){ 0 };
}

struct tare_cell tare_cell_of(const struct tare_column *c, const void *row)
{
	struct tare_cell cell = { 0 };

	if (is_there(c, row))
		cell = cell_of(c, (const char *)row + c->offset);
	if (c->type != TARE_FIELD_VALUE)
		cell.kind = c->kind;
	cell.digits = c->digits ? c->digits : 2;
	return cell;
}

void tare_cells_of(struct tare_cell *cells, const struct tare_column *columns, size_t count, const void *row)
{
	for (size_t i = 0; i < count; i++)
		cells[i] = tare_cell_of(&columns[i], row);
}

/* What is not known adds nothing. */
void tare_cell_sum(struct tare_cell *sum, const struct tare_cell *cell)
{
	int64_t more = 0;

	if (cell->type == TARE_CELL_NUMBER) {
		sum->number = (sum->type == TARE_CELL_NUMBER ? sum->number : 0) + cell->number;
		sum->type = TARE_CELL_NUMBER;
		return;
	}
	if (sum->type == TARE_CELL_NUMBER || cell->type == TARE_CELL_UNKNOWN)
		return;
	if (cell->type == TARE_CELL_INT || cell->type == TARE_CELL_RANGE)
		more = cell->i;
	else if (cell->type == TARE_CELL_UINT)
		more = cell->u > INT64_MAX ? INT64_MAX : (int64_t)cell->u;
	sum->type = TARE_CELL_INT;
	sum->i = tare_sat_add(sum->i, more);
}

const char *tare_cell_address(char text[static TARE_ADDRESS_MAX], const struct tare_cell *cell)
{
	snprintf(text, TARE_ADDRESS_MAX, "0x%llx", (unsigned long long)cell->u);
	return text;
}

void tare_cell_write(struct tare_str *out, const struct tare_cell *c)
{
	char address[TARE_ADDRESS_MAX];

	switch (c->type) {
	case TARE_CELL_TEXT:
		tare_str_add(out, c->text);
		break;
	case TARE_CELL_INT:
	case TARE_CELL_RANGE:
		tare_str_addf(out, "%lld", (long long)c->i);
		break;
	case TARE_CELL_UINT:
		if (c->kind == TARE_COL_ADDRESS)
			tare_str_add(out, tare_cell_address(address, c));
		else
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

/* ---- for people ---- */

bool tare_kind_is_size(enum tare_column_kind kind)
{
	return kind == TARE_COL_BYTES || kind == TARE_COL_CHANGE;
}

void tare_column_read(struct tare_str *out, const struct tare_column *column, const char *comma)
{
	tare_str_add(out, column->head);
	if (tare_kind_is_size(column->kind) && !strstr(column->head, "MiB"))
		tare_str_addf(out, "%sMiB", column->head[0] ? comma : "");
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

static void add_change(struct tare_str *out, int64_t bytes)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_units_mib(text, bytes);
	tare_str_addf(out, "%s%s", text[0] == '-' ? "" : "+", text);
}

static void add_kind(struct tare_str *out, const struct tare_cell *c)
{
	char text[TARE_UNITS_TEXT_MAX], address[TARE_ADDRESS_MAX];

	switch (c->kind) {
	case TARE_COL_BYTES:
		tare_str_add(out, tare_units_mib(text, cell_int(c)));
		break;
	case TARE_COL_CHANGE:
		add_change(out, cell_int(c));
		break;
	case TARE_COL_DURATION:
	case TARE_COL_TIME:
		tare_str_add(out, tare_units_duration(text, cell_int(c)));
		break;
	case TARE_COL_NUMBER:
		tare_str_addf(out, "%.*f", c->digits, c->number);
		break;
	case TARE_COL_PERCENT:
		tare_part_add(out, c->number);
		break;
	case TARE_COL_ID:
		tare_str_addf(out, "%lld", (long long)cell_int(c));
		break;
	case TARE_COL_FLAG:
		tare_str_add(out, cell_int(c) ? "yes" : "");
		break;
	case TARE_COL_ADDRESS:
		tare_str_add(out, tare_cell_address(address, c));
		break;
	case TARE_COL_COUNT:
	case TARE_COL_TEXT:
		add_count(c, out);
		break;
	}
}

bool tare_cell_is_known(const struct tare_cell *c)
{
	return c->type != TARE_CELL_UNKNOWN && !(c->type == TARE_CELL_NUMBER && !isfinite(c->number));
}

void tare_cell_read(struct tare_str *out, const struct tare_cell *c, bool is_blank)
{
	struct tare_cell high = *c;

	if (!tare_cell_is_known(c)) {
		tare_str_add(out, is_blank ? "" : "–");
		return;
	}
	if (c->type == TARE_CELL_TEXT) {
		tare_str_add(out, c->text);
		return;
	}
	add_kind(out, c);
	if (c->type != TARE_CELL_RANGE)
		return;
	high.i = c->high;
	tare_str_add(out, "–");
	add_kind(out, &high);
}
