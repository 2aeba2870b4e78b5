/* SPDX-License-Identifier: Apache-2.0 */
/* `--by device`: every GPU in one line, with what it has, what of that is known, and what the program could do without. */
#include "view/by.h"

#include "view/device_text.h"

struct row {
	const char *at;
	struct tare_device_ledger of;
	bool is_known, is_counted; /* used: at all, by a counter */
	int64_t bytes, need;       /* what rows explain; what is left without what is elastic */
	int64_t processes;         /* that hold any of it */
};

#define COUNTED .when = TARE_WHEN(row, is_counted), .is_sum = true
#define KNOWN   .when = TARE_WHEN(row, is_known), .is_sum = true
#define HUGE    .unknown = TARE_UNKNOWN_HUGE, .is_sum = true

static const struct tare_column columns[] = {
	TARE_COLUMN(row, at, "at", NULL, TEXT),
	TARE_COLUMN(row, of.host, "host", NULL, TEXT),
	TARE_COLUMN(row, of.index, "device", "GPU", ID),
	TARE_COLUMN(row, of.name, "label", "NAME", TEXT),
	TARE_COLUMN(row, processes, "processes", "PROCESSES", COUNT),
	TARE_COLUMN(row, of.total, "total_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(row, of.t_ns, "t_ns", "AT", TIME, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, of.used, "used_bytes", "USED", BYTES, HUGE, .is_main = true),
	TARE_COLUMN(row, bytes, "bytes", "EXPLAINED", BYTES, .is_sum = true),
	TARE_COLUMN(row, of.unexplained, "unexplained_bytes", "UNEXPLAINED", BYTES, COUNTED),
	TARE_COLUMN(row, of.elastic, "elastic_bytes", "ELASTIC", BYTES, .is_sum = true),
	TARE_COLUMN(row, need, "need_bytes", "NEED", BYTES, KNOWN, .is_main = true),
	TARE_COLUMN(row, of.peak_used, "peak_used_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(row, of.used_by, "evidence", NULL, TEXT, .name = tare_evidence_name),
};

static void add_device(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	struct row row = { .at = ledger->at, .of = *d };

	row.is_known = d->used <= INT64_MAX;
	row.is_counted = row.is_known && d->used_by != TARE_EVIDENCE_INFERRED;
	row.need = row.is_known ? (int64_t)d->used - d->elastic : 0;
	for (int i = 0; i < d->row_nr; i++) {
		row.bytes += tare_row_is_end(&d->rows[i]) ? d->rows[i].bytes : 0;
		row.processes += d->rows[i].account == TARE_ACCOUNT_PROCESS && d->rows[i].bytes;
	}
	tare_emit_add(e, &row);
}

static void add_table(struct tare_emit *e, const struct tare_ledger *ledger)
{
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	tare_str_add(&title, "GPUs · ");
	tare_device_text_instant(&title, ledger, -1);
	tare_emit_table(e, "rows", tare_str_text(&title), TARE_COLUMNS(columns));
	for (int i = 0; i < ledger->device_nr; i++)
		if (tare_device_ledger_is_gpu(&ledger->devices[i]))
			add_device(e, ledger, &ledger->devices[i]);
	if (ledger->device_nr > 1 && ledger->t_ns >= 0) /* peaks of several are not of one time */
		tare_emit_sum(e, "all");
	tare_emit_table_end(e);
}

bool tare_device_is_any(const struct tare_by_ask *ask)
{
	return ask->ledgers[0]->device_nr > 0;
}

void tare_device_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	if (tare_emit_is_for_people(e)) {
		for (int i = 0; i < ask->ledger_nr; i++) {
			if (i)
				tare_emit_gap(e);
			add_table(e, ask->ledgers[i]);
		}
		return;
	}
	tare_emit_table(e, "rows", NULL, TARE_COLUMNS(columns));
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int d = 0; d < ask->ledgers[i]->device_nr; d++)
			add_device(e, ask->ledgers[i], &ask->ledgers[i]->devices[d]);
	tare_emit_table_end(e);
}
