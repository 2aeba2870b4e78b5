/* SPDX-License-Identifier: Apache-2.0 */
/* Prints which records are missing. */
#include "view/ledger_view.h"

#include "base/sat.h"
#include "base/units.h"

#include <inttypes.h>

/* Missing records of programs: those that were counted, or those that nobody counted, in one sentence. */
struct sum {
	uint64_t records, most; /* most: of one row, whose reason is told */
	int64_t from_ns, to_ns;
	const char *why;
	int row_nr;
};

static struct sum sum_up(const struct tare_ledger *ledger, bool is_counted)
{
	struct sum s = { 0 };

	for (int i = 0; i < ledger->loss_nr; i++) {
		const struct tare_loss *l = &ledger->losses[i];

		if (l->is_of_tare || (l->records > 0) != is_counted)
			continue;
		if (!s.row_nr || l->from_ns < s.from_ns)
			s.from_ns = l->from_ns;
		if (!s.row_nr || l->to_ns > s.to_ns)
			s.to_ns = l->to_ns;
		if (!s.row_nr++ || l->records > s.most) {
			s.most = l->records;
			s.why = l->why;
		}
		s.records = tare_sat_addu(s.records, l->records);
	}
	return s;
}

static void add(struct tare_emit *e, const struct sum *s)
{
	char from[TARE_UNITS_TEXT_MAX], to[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	if (!s->row_nr)
		return;
	if (s->records)
		tare_str_addf(&line, "%" PRIu64 " record%s missing", s->records, s->records == 1 ? " is" : "s are");
	else
		tare_str_add(&line, "Records are missing");
	tare_str_addf(&line, ", from %s to %s, because %s; nothing after that is exact",
	              tare_units_duration(from, s->from_ns), tare_units_duration(to, s->to_ns), s->why);
	tare_emit_alarm(e, "%s", tare_str_text(&line));
}

void tare_loss_text(struct tare_emit *e, const struct tare_ledger *ledger)
{
	struct sum counted = sum_up(ledger, true), others = sum_up(ledger, false);

	add(e, &counted);
	add(e, &others);
}

static const struct tare_column columns[] = {
	TARE_COLUMN(tare_loss, pid, "pid", NULL, ID),
	TARE_COLUMN(tare_loss, generation, "generation", NULL, ID),
	TARE_COLUMN(tare_loss, program, "program", NULL, TEXT),
	TARE_COLUMN(tare_loss, tid, "tid", NULL, COUNT, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(tare_loss, records, "records", NULL, COUNT, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(tare_loss, from_ns, "from_ns", NULL, TIME),
	TARE_COLUMN(tare_loss, to_ns, "to_ns", NULL, TIME),
	TARE_COLUMN(tare_loss, reason, "reason", NULL, TEXT),
	TARE_COLUMN(tare_loss, why, "why", NULL, TEXT),
};

void tare_loss_json(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_rows(e, "losses", NULL, TARE_COLUMNS(columns), TARE_ROWS(ledger->losses, ledger->loss_nr));
}
