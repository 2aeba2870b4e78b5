/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around tables and in their rows where a format has members: JSON, and the inside of a row of JSON Lines. */
#include "base/emit_table.h"

#include "base/xalloc.h"

#include <stdlib.h>

void tare_emit_members(struct tare_emit *e, const struct tare_column *columns, size_t count, const void *row)
{
	struct tare_cell *cells;

	if (!tare_emit_has_members(e))
		return;
	cells = tare_xcalloc(count, sizeof(*cells));
	tare_cells_of(cells, columns, count, row);
	tare_emit_json_members(e, columns, count, cells, row);
	free(cells);
}

void tare_emit_object(struct tare_emit *e, const char *key, const struct tare_column *columns, size_t count,
                      const void *row)
{
	bool is_line = tare_emit_renderer(e)->members == TARE_MEMBERS_IN_ROWS && !e->json.depth;

	if (!row) {
		tare_emit_null(e, key);
		return;
	}
	if (is_line)
		tare_emit_json_line(e, key);
	else
		tare_emit_open(e, key, '{');
	tare_emit_members(e, columns, count, row);
	tare_emit_close(e);
}

void tare_emit_open(struct tare_emit *e, const char *key, char bracket)
{
	if (tare_emit_has_members(e))
		tare_json_open(&e->json, key, bracket);
}

void tare_emit_close(struct tare_emit *e)
{
	if (tare_emit_has_members(e))
		tare_json_close(&e->json);
}

void tare_emit_str(struct tare_emit *e, const char *key, const char *text)
{
	if (tare_emit_has_members(e))
		tare_json_str(&e->json, key, text);
}

void tare_emit_str_n(struct tare_emit *e, const char *key, const char *text, size_t len)
{
	if (tare_emit_has_members(e))
		tare_json_str_n(&e->json, key, text, len);
}

void tare_emit_int(struct tare_emit *e, const char *key, int64_t v)
{
	if (tare_emit_has_members(e))
		tare_json_i64(&e->json, key, v);
}

void tare_emit_uint(struct tare_emit *e, const char *key, uint64_t v)
{
	if (tare_emit_has_members(e))
		tare_json_u64(&e->json, key, v);
}

void tare_emit_number(struct tare_emit *e, const char *key, double v)
{
	if (tare_emit_has_members(e))
		tare_json_number(&e->json, key, v);
}

void tare_emit_flag(struct tare_emit *e, const char *key, bool v)
{
	if (tare_emit_has_members(e))
		tare_json_bool(&e->json, key, v);
}

void tare_emit_null(struct tare_emit *e, const char *key)
{
	if (tare_emit_has_members(e))
		tare_json_null(&e->json, key);
}
