/* SPDX-License-Identifier: Apache-2.0 */
/* Prints which lines read back what a simulated GPU did not compute. */
#include "view/read_back.h"

#include "base/units.h"

enum { MAX_LINES = 4 };

/* A line of several processes is one. */
static void add_line(struct tare_str *out, const struct tare_read_back *r)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(out, "%s (%s %s)", r->short_source ? r->short_source : "a line that is not known",
	              tare_units_count(text, r->count), r->count == 1 ? "time" : "times");
}

void tare_read_back_text(struct tare_emit *e, const struct tare_ledger *ledger)
{
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 }, said = { 0 };

	if (!ledger->read_back_nr)
		return;
	for (int i = 0; i < ledger->read_back_nr && i < MAX_LINES; i++) {
		tare_str_add(&line, i ? ", " : "");
		add_line(&line, &ledger->read_backs[i]);
	}
	if (ledger->read_back_nr > MAX_LINES)
		tare_str_addf(&line, " and %d other lines (tare report --json)", ledger->read_back_nr - MAX_LINES);
	tare_str_addf(&said, "values that no kernel computed were read back at %s; what depends on them is not predicted",
	              tare_str_text(&line));
	tare_emit_indented(e, 0, 2, tare_str_text(&said));
}

static const struct tare_column columns[] = {
	TARE_COLUMN(tare_read_back, pid, "pid", NULL, ID),
	TARE_COLUMN(tare_read_back, generation, "generation", NULL, ID),
	TARE_COLUMN(tare_read_back, source, "source", NULL, TEXT),
	TARE_COLUMN(tare_read_back, count, "count", NULL, COUNT),
	TARE_COLUMN(tare_read_back, bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(tare_read_back, is_overflow, "overflow", NULL, FLAG),
};

void tare_read_back_json(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_rows(e, "read_back", NULL, TARE_COLUMNS(columns), TARE_ROWS(ledger->read_backs, ledger->read_back_nr));
}
