/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Lines: every row of a table, and every object, is an object on a line of its own, with the table it is of. */
#include "base/emit_table.h"

void tare_emit_json_line(struct tare_emit *e, const char *table)
{
	e->json.has_item = false; /* of the line before */
	tare_json_open(&e->json, NULL, '{');
	if (table)
		tare_json_str(&e->json, "table", table);
}

/* What lies in a row is as in JSON. */
static void begin(struct tare_emit *e, struct tare_emit_table *t)
{
	if (e->json.depth)
		tare_render_json.table(e, t);
}

static void add_row(struct tare_emit *e, struct tare_emit_table *t, const struct tare_emit_row *row)
{
	if (e->json.depth) {
		tare_render_json.row(e, t, row);
		return;
	}
	tare_emit_json_line(e, t->key);
	tare_emit_json_members(e, t->columns, t->column_count, row->cells, row->row);
	tare_json_close(&e->json);
}

static void end(struct tare_emit *e, struct tare_emit_table *t)
{
	if (e->json.depth)
		tare_render_json.end(e, t);
}

const struct tare_renderer tare_render_json_lines = {
	.members = TARE_MEMBERS_IN_ROWS,
	.table = begin,
	.row = add_row,
	.end = end,
};
