/* SPDX-License-Identifier: Apache-2.0 */
/* Prints where time went: `--cost time`. */
#include "view/ledger_view.h"

enum { SCREEN_ROWS = 12 };

struct row {
	const char *account, *label; /* as scripts and people call it */
	struct tare_time_row of;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, account, "account", NULL, TEXT),
	TARE_COLUMN(row, label, NULL, "ACCOUNT", TEXT),
	TARE_COLUMN(row, of.api, "call", "CALL", TEXT),
	TARE_COLUMN(row, of.calls, "calls", "CALLS", COUNT, .is_sum = true),
	TARE_COLUMN(row, of.total_ns, "driver_ns", "TIME", DURATION, .is_sum = true),
	TARE_COLUMN(row, of.longest_ns, "longest_ns", "LONGEST", DURATION),
	TARE_COLUMN(row, of.longest_at_ns, "longest_t_ns", "AT", TIME),
	TARE_COLUMN(row, of.longest_name, "longest_name", NULL, TEXT),
};

void tare_time_view(struct tare_emit *e, const struct tare_time_rows *rows)
{
	bool is_text = tare_emit_is_for_people(e);
	size_t shown = is_text && rows->count > SCREEN_ROWS + 1 ? SCREEN_ROWS : rows->count;

	if (!rows->count && tare_emit_is_for_people(e)) {
		tare_emit_paragraph(e, "--cost time is about calls of a GPU's driver that deal with memory, and "
		                       "this recording has none");
		return;
	}
	tare_emit_str(e, "cost", "time");
	tare_emit_table(e, "rows", "Time in driver calls that deal with memory", TARE_COLUMNS(columns));
	for (size_t i = 0; i < rows->count; i++) {
		const struct tare_account_info *account = &tare_accounts[rows->rows[i].account];

		(i < shown ? tare_emit_add : tare_emit_leave_out)(e,
		                                                  &(struct row){ account->key, account->label, rows->rows[i] });
	}
	if (shown < rows->count)
		tare_emit_rest(e, "others");
	tare_emit_sum(e, "all");
	tare_emit_table_end(e);
	if (rows->count && rows->rows[0].longest_name)
		tare_emit_note(e, "longest %s: %s", rows->rows[0].api, rows->rows[0].longest_name);
}
