/* SPDX-License-Identifier: Apache-2.0 */
#include "view/ledger_csv.h"

#include "trace/format.h"

static const struct tare_column columns[] = {
	TARE_LOOSE("at", "", TEXT),          TARE_LOOSE("device", "", COUNT),
	TARE_LOOSE("kind", "", TEXT),        TARE_LOOSE("path", "", TEXT),
	TARE_LOOSE("label", "", TEXT),       TARE_LOOSE("bytes", "", BYTES),
	TARE_LOOSE("low", "", BYTES),        TARE_LOOSE("high", "", BYTES),
	TARE_LOOSE("evidence", "", TEXT),    TARE_LOOSE("elastic", "", FLAG),
	TARE_LOOSE("count", "", COUNT),      TARE_LOOSE("driver_ns", "", DURATION),
	TARE_LOOSE("pid", "", COUNT),        TARE_LOOSE("rank", "", COUNT),
	TARE_LOOSE("generation", "", COUNT),
};

static void add_key(struct tare_emit *e, const struct tare_ledger *ledger,
		    const struct tare_device_ledger *d, const char *kind)
{
	tare_emit_cell_text(e, ledger->at);
	tare_emit_cell_int(e, d->index);
	tare_emit_cell_text(e, kind);
}

/* A figure of the device itself: no path, and what is not known stays empty. */
static void add_figure(struct tare_emit *e, const struct tare_ledger *ledger,
		       const struct tare_device_ledger *d, const char *kind, bool is_known,
		       int64_t bytes)
{
	add_key(e, ledger, d, kind);
	tare_emit_cell_unknown(e);
	tare_emit_cell_text(e, kind);
	if (is_known)
		tare_emit_cell_int(e, bytes);
	tare_emit_row(e);
}

static void add_if_known(struct tare_emit *e, int64_t v)
{
	if (v < 0)
		tare_emit_cell_unknown(e);
	else
		tare_emit_cell_int(e, v);
}

static void add_row(struct tare_emit *e, const struct tare_ledger *ledger,
		    const struct tare_device_ledger *d, const struct tare_row *row)
{
	add_key(e, ledger, d, row->leaf ? "leaf" : "parent");
	tare_emit_cell_text(e, row->path);
	tare_emit_cell_text(e, row->label);
	tare_emit_cell_int(e, row->bytes);
	tare_emit_cell_int(e, row->contended ? row->low : row->bytes);
	tare_emit_cell_int(e, row->contended ? row->high : row->bytes);
	tare_emit_cell_text(e, tare_evidence_name(row->evidence));
	tare_emit_cell_int(e, row->elastic);
	tare_emit_cell_uint(e, row->count);
	tare_emit_cell_int(e, (int64_t)row->driver_ns);
	add_if_known(e, row->pid);
	add_if_known(e, row->rank);
	tare_emit_cell_int(e, row->generation);
	tare_emit_row(e);
}

static void add_device(struct tare_emit *e, const struct tare_ledger *ledger,
		       const struct tare_device_ledger *d)
{
	bool is_used_known = d->used != TARE_NOT_KNOWN;

	add_figure(e, ledger, d, "total", d->total != TARE_NOT_KNOWN, (int64_t)d->total);
	add_figure(e, ledger, d, "reserved", d->reserved != TARE_NOT_KNOWN, (int64_t)d->reserved);
	add_figure(e, ledger, d, "used", is_used_known, (int64_t)d->used);
	for (int i = 0; i < d->row_nr; i++)
		add_row(e, ledger, d, &d->rows[i]);
	add_figure(e, ledger, d, "unexplained",
		   is_used_known && d->used_by != TARE_EVIDENCE_INFERRED, d->unexplained);
}

/* Of no device: records that are missing, with how many, and why. */
static void add_losses(struct tare_emit *e, const struct tare_ledger *ledger)
{
	for (int i = 0; i < ledger->loss_nr; i++) {
		const struct tare_loss *l = &ledger->losses[i];

		tare_emit_cell_text(e, ledger->at);
		tare_emit_cell_unknown(e);
		tare_emit_cell_text(e, "lost");
		tare_emit_cell_unknown(e);
		tare_emit_cell_text(e, l->why);
		for (int k = 0; k < 5; k++) /* bytes to elastic */
			tare_emit_cell_unknown(e);
		if (l->records)
			tare_emit_cell_uint(e, l->records);
		else
			tare_emit_cell_unknown(e);
		tare_emit_cell_unknown(e);
		tare_emit_cell_int(e, l->pid);
		tare_emit_cell_unknown(e);
		tare_emit_cell_int(e, l->generation);
		tare_emit_row(e);
	}
}

void tare_ledger_csv(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr)
{
	tare_emit_table(e, "accounts", NULL, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < ledger_nr; i++)
		for (int d = 0; d < ledgers[i]->device_nr; d++)
			add_device(e, ledgers[i], &ledgers[i]->devices[d]);
	for (int i = 0; i < ledger_nr; i++)
		add_losses(e, ledgers[i]);
	tare_emit_table_end(e);
}
