/* SPDX-License-Identifier: Apache-2.0 */
#include "view/time.h"

enum { SCREEN_ROWS = 12 };

static const struct tare_column columns[] = {
	TARE_LOOSE("account", "ACCOUNT", TEXT),        TARE_LOOSE("call", "CALL", TEXT),
	TARE_LOOSE("calls", "CALLS", COUNT),           TARE_LOOSE("driver_ns", "TIME", DURATION),
	TARE_LOOSE("longest_ns", "LONGEST", DURATION), TARE_LOOSE("longest_t_ns", "AT", DURATION),
	TARE_LOOSE("longest_name", NULL, TEXT),
};

static void add_row(struct tare_emit *e, const struct tare_time_row *row)
{
	const struct tare_account_info *account = &tare_accounts[row->account];

	tare_emit_cell_text(e, e->format == TARE_EMIT_TEXT ? account->label : account->key);
	tare_emit_cell_text(e, row->api);
	tare_emit_cell_uint(e, row->calls);
	tare_emit_cell_int(e, row->total_ns);
	tare_emit_cell_int(e, row->longest_ns);
	tare_emit_cell_int(e, row->longest_at_ns);
	tare_emit_cell_text(e, row->longest_name);
	tare_emit_row(e);
}

static void add_sum(struct tare_emit *e, const char *label, const char *call,
		    const struct tare_time_rows *rows, size_t from)
{
	uint64_t calls = 0;
	int64_t ns = 0;

	for (size_t i = from; i < rows->count; i++) {
		calls += rows->rows[i].calls;
		ns += rows->rows[i].total_ns;
	}
	tare_emit_cell_text(e, label);
	tare_emit_cell_text(e, call);
	tare_emit_cell_uint(e, calls);
	tare_emit_cell_int(e, ns);
	tare_emit_cell_text(e, "");
	tare_emit_cell_text(e, "");
	tare_emit_row(e);
}

void tare_time_view(struct tare_emit *e, const struct tare_time_rows *rows)
{
	bool is_text = e->format == TARE_EMIT_TEXT;
	size_t shown = is_text && rows->count > SCREEN_ROWS + 1 ? SCREEN_ROWS : rows->count;

	tare_emit_str(e, "cost", "time");
	tare_emit_table(e, "rows", "Time in driver calls that deal with memory", columns,
			sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < shown; i++)
		add_row(e, &rows->rows[i]);
	if (shown < rows->count)
		add_sum(e, "others", "", rows, shown);
	if (is_text) {
		tare_emit_rule(e);
		add_sum(e, "all", "", rows, 0);
	}
	tare_emit_table_end(e);
	if (rows->count && rows->rows[0].longest_name)
		tare_emit_note(e, "longest %s: %s", rows->rows[0].api, rows->rows[0].longest_name);
}
