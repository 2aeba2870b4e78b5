/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the tensors that one line made. */
#include "view/line_parts.h"

#include "base/array.h"
#include "view/tensors.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct row {
	const char *at;
	int64_t device, pid; /* -1: none */
	const char *category;
	uint64_t count;
	int64_t bytes;
	const char *evidence, *known_by;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, at, "at", NULL, TEXT),
	TARE_COLUMN(row, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, pid, "pid", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, category, "category", "tensors made here", TEXT),
	TARE_COLUMN(row, count, "count", "count", COUNT),
	TARE_COLUMN(row, bytes, "bytes", "size", BYTES),
	TARE_COLUMN(row, evidence, "evidence", NULL, TEXT),
	TARE_COLUMN(row, known_by, NULL, "known by", TEXT),
};

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
		TARE_APPEND(found.items, found.count, cap) = made->rows->items[i];
	}
	return found;
}

static struct row row_of(const struct tare_line_made *made, const char *label, uint64_t count, int64_t bytes)
{
	return (struct row){
		.at = made->at, .device = made->device, .pid = made->pid, .category = label, .count = count, .bytes = bytes
	};
}

static void add_categories(struct tare_emit *e, const struct tare_line_made *made)
{
	struct tare_category_sum sums[TARE_CATEGORY_NR];
	struct tare_tensor_rows found = made_there(made);
	int n = tare_category_sums(&found, sums);

	for (int i = 0; i < n; i++) {
		bool is_said = sums[i].evidence == TARE_EVIDENCE_WITNESS;
		struct row row = row_of(made, tare_category_name(sums[i].category), sums[i].count, sums[i].bytes);

		row.evidence = tare_evidence_name(sums[i].evidence);
		row.known_by = is_said ? "the program" : "rules";
		tare_emit_add(e, &row);
	}
	free(found.items);
}

static void add_sum(struct tare_emit *e, const struct tare_line_made *made, const char *label, uint64_t count,
                    int64_t bytes)
{
	struct row row = row_of(made, label, count, bytes);

	tare_emit_add(e, &row);
}

void tare_line_made_show(struct tare_emit *e, const struct tare_line_made *made)
{
	const struct tare_blocks_ledger *t = &made->tensors;
	bool is_text = tare_emit_is_for_people(e);

	if (is_text && !t->ever && !t->count)
		return;
	tare_emit_table(e, "made", made->title, TARE_COLUMNS(columns));
	add_categories(e, made);
	if (is_text) {
		tare_emit_rule(e);
		add_sum(e, made, "now", t->count, t->bytes);
		if (made->has_ever)
			add_sum(e, made, "ever", t->ever, t->ever_bytes);
	}
	tare_emit_table_end(e);
}
