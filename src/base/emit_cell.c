/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in a field of a row, as the column that is bound to it says. */
#include "base/emit_table.h"

#include "base/sat.h"

#include <math.h>
#include <stdio.h>

static struct tare_cell text_cell(const char *text)
{
	if (!text)
		return (struct tare_cell){ 0 };
	return (struct tare_cell){ .type = TARE_CELL_TEXT, .text = text };
}

static struct tare_cell int_cell(const struct tare_column *c, int64_t v)
{
	if ((c->unknown == TARE_UNKNOWN_ZERO && v == 0) ||
	    (c->unknown == TARE_UNKNOWN_NEGATIVE && v < 0))
		return (struct tare_cell){ 0 };
	return (struct tare_cell){ .type = TARE_CELL_INT, .i = v };
}

static struct tare_cell uint_cell(const struct tare_column *c, uint64_t v)
{
	if ((c->unknown == TARE_UNKNOWN_ZERO && v == 0) ||
	    (c->unknown == TARE_UNKNOWN_HUGE && v > INT64_MAX))
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

static bool is_there(const struct tare_column *c, const void *row)
{
	return !c->when || *(const bool *)((const char *)row + c->when - 1);
}

struct tare_cell tare_cell_of(const struct tare_column *c, const void *row)
{
	const void *field = (const char *)row + c->offset;

	if (!is_there(c, row))
		return (struct tare_cell){ 0 };
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
	case TARE_FIELD_NONE:
		break;
	}
	return (struct tare_cell){ 0 };
}

/* What is not known adds nothing. */
void tare_cell_sum(struct tare_cell *sum, const struct tare_cell *cell)
{
	int64_t more = 0;

	if (cell->type == TARE_CELL_INT)
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
