/* SPDX-License-Identifier: Apache-2.0 */
/* `--by X` for scripts, of groups of rows: JSON members and CSV rows from the same fields. */
#include "view/by.h"

#include "base/comparator.h"
#include "base/emit_sort.h"
#include "base/xalloc.h"

#include <stdlib.h>

struct row {
	const char *at, *file, *function;
	int64_t device;
	unsigned line;
	bool is_on_device;
	uint64_t ever; /* of tensors, or of a heap */
	int64_t ever_bytes;
	struct tare_by_row of;
};

#define LINE_OF(FIELD, KEY, KIND) TARE_COLUMN(row, of.FIELD, KEY, NULL, KIND, .when = TARE_WHEN(row, is_on_device))

static const struct tare_column columns[] = {
	TARE_COLUMN(row, at, "at", NULL, TEXT),
	TARE_COLUMN(row, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, of.label, "label", NULL, TEXT),
	TARE_COLUMN(row, of.bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(row, of.count, "count", NULL, COUNT),
	TARE_COLUMN(row, of.evidence, "evidence", NULL, TEXT, .name = tare_evidence_name),
	TARE_COLUMN(row, of.driver_ns, "driver_ns", NULL, DURATION),
	TARE_COLUMN(row, of.pid, "pid", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	/* of lines and stacks only */
	TARE_COLUMN(row, file, "file", NULL, TEXT),
	TARE_COLUMN(row, line, "line", NULL, ID, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(row, function, "function", NULL, TEXT),
	TARE_COLUMN(row, of.tensors.bytes, "tensor_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.tensors.count, "tensors", NULL, COUNT),
	TARE_COLUMN(row, ever_bytes, "handed_bytes", NULL, BYTES, .when = TARE_WHEN(row, is_on_device)),
	TARE_COLUMN(row, ever, "handed", NULL, COUNT, .when = TARE_WHEN(row, is_on_device)),
	LINE_OF(host_anon, "host_anon_bytes", BYTES),
	LINE_OF(host_file, "host_file_bytes", BYTES),
	LINE_OF(unexplained, "unexplained_bytes", BYTES),
};

enum { COLUMN_NR = sizeof(columns) / sizeof(columns[0]), LINE_COLUMN_NR = 10 };

static struct row row_of(enum tare_by by, const struct tare_by_row *group)
{
	struct row row = { .at = group->ledger->at,
		               .device = group->device ? group->device->index : -1,
		               .is_on_device = group->device != NULL,
		               .ever = group->tensors.ever + group->ever,
		               .ever_bytes = group->tensors.ever_bytes + group->ever_bytes,
		               .of = *group };

	if (by != TARE_BY_PROCESS)
		row.of.pid = -1;
	if (group->line && group->line->file) {
		row.file = group->line->file;
		row.line = group->line->line;
		row.function = group->line->function;
	}
	return row;
}

static void add_row(struct tare_emit *e, enum tare_by by, const struct tare_by_row *group)
{
	struct row row = row_of(by, group);

	tare_emit_add(e, &row);
}

static size_t column_nr(enum tare_by by)
{
	return COLUMN_NR - (tare_by_is_line(by) ? 0 : LINE_COLUMN_NR);
}

struct ordered {
	struct tare_by_row row;
	struct tare_cell by;
	size_t place;
	int sign;
};

TARE_COMPARATOR(compare, struct ordered, TARE_COMPARED(tare_cell_compare(&x->by, &y->by, x->sign)) TARE_RISING(place))

/* Rows of one device. */
static void order(struct tare_by_row *rows, size_t count, enum tare_by by, const struct tare_column *column, int sign)
{
	TARE_FREED_HERE struct ordered *items = tare_xcalloc(count, sizeof(*items));

	for (size_t i = 0; i < count; i++) {
		struct row row = row_of(by, &rows[i]);

		items[i] = (struct ordered){ rows[i], tare_cell_of(column, &row), i, sign };
	}
	TARE_SORT(items, count, compare);
	for (size_t i = 0; i < count; i++)
		rows[i] = items[i].row;
}

bool tare_by_order(struct tare_emit *e, enum tare_by by, struct tare_by_rows *all, int ledger_nr)
{
	int sign = 1;
	size_t column = tare_emit_order_find(e, columns, column_nr(by), &sign);

	if (column == column_nr(by))
		return false;
	for (int i = 0; i < ledger_nr; i++) {
		struct tare_by_row *rows = all[i].rows;
		size_t end;

		for (size_t r = 0; r < all[i].count; r = end) {
			for (end = r + 1; end < all[i].count && rows[end].device == rows[r].device;)
				end++;
			order(rows + r, end - r, by, &columns[column], sign);
		}
	}
	return true;
}

static void show_data(struct tare_emit *e, const struct tare_by_ask *ask)
{
	tare_emit_table(e, "rows", NULL, columns, column_nr(ask->by));
	for (int i = 0; i < ask->ledger_nr; i++) {
		struct tare_by_rows rows;

		tare_by_build(&rows, ask->by, ask->ledgers[i]);
		for (size_t r = 0; r < rows.count; r++)
			add_row(e, ask->by, &rows.rows[r]);
		tare_by_free(&rows);
	}
	tare_emit_table_end(e);
	if (tare_by_why_empty(ask->by))
		tare_emit_str(e, "note", tare_by_why_empty(ask->by));
}

bool tare_by_rows_is_any(const struct tare_by_ask *ask)
{
	return !tare_by_why_empty(ask->by);
}

void tare_by_rows_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	if (tare_emit_is_for_people(e))
		tare_by_rows_text(e, ask);
	else
		show_data(e, ask);
}
