/* SPDX-License-Identifier: Apache-2.0 */
#include "view/line_made.h"

#include "base/array.h"
#include "view/tensors.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct tare_column columns[] = {
	TARE_LOOSE("at", NULL, TEXT),        TARE_LOOSE("device", NULL, COUNT),
	TARE_LOOSE("pid", NULL, COUNT),      TARE_LOOSE("category", "tensors made here", TEXT),
	TARE_LOOSE("count", "count", COUNT), TARE_LOOSE("bytes", "size", BYTES),
	TARE_LOOSE("evidence", NULL, TEXT),  TARE_LOOSE(NULL, "known by", TEXT),
};

enum { COLUMN_NR = sizeof(columns) / sizeof(columns[0]) };

/* A tensor has the text of its line: "/home/me/train.py:87 in forward". */
static bool is_made_there(const struct tare_tensor_row *t, const struct tare_line_choice *choice)
{
	size_t n = strlen(choice->file);
	unsigned long line;
	char *end;

	if (!t->line || strncmp(t->line, choice->file, n) != 0 || t->line[n] != ':' ||
	    !isdigit((unsigned char)t->line[n + 1]))
		return false;
	line = strtoul(t->line + n + 1, &end, 10);
	return line == choice->line && (!*end || *end == ' ');
}

/* The caller frees its items. */
static struct tare_tensor_rows made_there(const struct tare_line_made *made)
{
	struct tare_tensor_rows found = { 0 };
	size_t cap = 0;

	for (int i = 0; i < made->rows->count; i++) {
		if (made->pid >= 0 && made->rows->items[i].pid != made->pid)
			continue;
		if (!is_made_there(&made->rows->items[i], made->choice))
			continue;
		found.items = tare_array_reserve(found.items, &cap, (size_t)found.count + 1,
						 sizeof(*found.items));
		found.items[found.count++] = made->rows->items[i];
	}
	return found;
}

static void add_row(struct tare_emit *e, const struct tare_line_made *made, const char *label,
		    uint64_t count, int64_t bytes)
{
	tare_emit_cell_text(e, made->at);
	if (made->device < 0)
		tare_emit_cell_unknown(e);
	else
		tare_emit_cell_int(e, made->device);
	if (made->pid < 0)
		tare_emit_cell_unknown(e);
	else
		tare_emit_cell_int(e, made->pid);
	tare_emit_cell_text(e, label);
	tare_emit_cell_uint(e, count);
	tare_emit_cell_int(e, bytes);
}

static void add_categories(struct tare_emit *e, const struct tare_line_made *made)
{
	struct tare_category_sum sums[TARE_CATEGORY_NR];
	struct tare_tensor_rows found = made_there(made);
	int n = tare_category_sums(&found, sums);

	for (int i = 0; i < n; i++) {
		add_row(e, made, tare_category_name(sums[i].category), sums[i].count,
			sums[i].bytes);
		tare_emit_cell_text(e, tare_evidence_name(sums[i].evidence));
		tare_emit_cell_text(e, sums[i].evidence == TARE_EVIDENCE_WITNESS ? "the program"
										 : "rules");
		tare_emit_row(e);
	}
	free(found.items);
}

void tare_line_made_show(struct tare_emit *e, const struct tare_line_made *made)
{
	const struct tare_blocks_ledger *t = &made->tensors;
	bool is_text = e->format == TARE_EMIT_TEXT;

	if (is_text && !t->ever && !t->count)
		return;
	tare_emit_table(e, "made", made->title, columns, COLUMN_NR);
	add_categories(e, made);
	if (is_text) {
		tare_emit_rule(e);
		add_row(e, made, "now", t->count, t->bytes);
		tare_emit_row(e);
		if (made->has_ever) {
			add_row(e, made, "ever", t->ever, t->ever_bytes);
			tare_emit_row(e);
		}
	}
	tare_emit_table_end(e);
}
