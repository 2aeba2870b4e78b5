/* SPDX-License-Identifier: Apache-2.0 */
/* A table as an array of objects, row by row. */
#include "base/emit_table.h"

static void add_member(struct tare_json *j, const struct tare_column *column, const struct tare_cell *c)
{
	char address[TARE_ADDRESS_MAX];

	switch (c->type) {
	case TARE_CELL_TEXT:
		tare_json_str(j, column->key, c->text);
		break;
	case TARE_CELL_INT:
	case TARE_CELL_RANGE:
		if (c->kind == TARE_COL_FLAG)
			tare_json_bool(j, column->key, c->i != 0);
		else
			tare_json_i64(j, column->key, c->i);
		break;
	case TARE_CELL_UINT:
		if (c->kind == TARE_COL_ADDRESS)
			tare_json_str(j, column->key, tare_cell_address(address, c));
		else
			tare_json_u64(j, column->key, c->u);
		break;
	case TARE_CELL_NUMBER:
		tare_json_number(j, column->key, c->number);
		break;
	case TARE_CELL_UNKNOWN:
		tare_json_null(j, column->key);
		break;
	}
}

void tare_emit_json_members(struct tare_emit *e, const struct tare_column *columns, size_t count,
                            const struct tare_cell *cells, const void *row)
{
	for (size_t i = 0; i < count; i++)
		if (columns[i].nested)
			columns[i].nested(e, columns[i].key, row);
		else if (columns[i].key)
			add_member(&e->json, &columns[i], &cells[i]);
}

static void begin(struct tare_emit *e, struct tare_emit_table *t)
{
	tare_json_open(&e->json, t->key, '[');
}

static void add_row(struct tare_emit *e, struct tare_emit_table *t, const struct tare_emit_row *row)
{
	tare_json_open(&e->json, NULL, '{');
	tare_emit_json_members(e, t->columns, t->column_count, row->cells, row->row);
	tare_json_close(&e->json);
}

static void end(struct tare_emit *e, struct tare_emit_table *t)
{
	(void)t;
	tare_json_close(&e->json);
}

const struct tare_renderer tare_render_json = {
	.members = TARE_MEMBERS_ALL,
	.table = begin,
	.row = add_row,
	.end = end,
};
