/* SPDX-License-Identifier: Apache-2.0 */
/* Writes ledgers as one table of CSV. */
#include "view/ledger_view.h"

#include "record/format.h"

/* A row of a device, a figure of the device itself, or records that are missing. */
struct row {
	const char *at, *kind, *path, *label, *evidence;
	int64_t device; /* -1: none */
	bool is_account, has_bytes;
	int64_t bytes;
	uint64_t count; /* of what is missing: how many, 0: nobody knows */
	bool has_count;
	int64_t pid, generation; /* -1: none */
	struct tare_row of;      /* is_account */
};

#define SAID    .unknown = TARE_UNKNOWN_NEGATIVE
#define ACCOUNT .when = TARE_WHEN(row, is_account)

static const struct tare_column columns[] = {
	TARE_COLUMN(row, at, "at", NULL, TEXT),
	TARE_COLUMN(row, device, "device", NULL, ID, SAID),
	TARE_COLUMN(row, kind, "kind", NULL, TEXT),
	TARE_COLUMN(row, path, "path", NULL, TEXT),
	TARE_COLUMN(row, label, "label", NULL, TEXT),
	TARE_COLUMN(row, bytes, "bytes", NULL, BYTES, .when = TARE_WHEN(row, has_bytes)),
	TARE_COLUMN(row, of.low, "low", NULL, BYTES, ACCOUNT),
	TARE_COLUMN(row, of.high, "high", NULL, BYTES, ACCOUNT),
	TARE_COLUMN(row, evidence, "evidence", NULL, TEXT),
	TARE_COLUMN(row, of.elastic, "elastic", NULL, FLAG, ACCOUNT),
	TARE_COLUMN(row, count, "count", NULL, COUNT, .when = TARE_WHEN(row, has_count)),
	TARE_COLUMN(row, of.driver_ns, "driver_ns", NULL, DURATION, ACCOUNT),
	TARE_COLUMN(row, pid, "pid", NULL, ID, SAID),
	TARE_COLUMN(row, of.rank, "rank", NULL, ID, ACCOUNT, SAID),
	TARE_COLUMN(row, generation, "generation", NULL, ID, SAID),
};

static void add_figure(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d,
                       const char *kind, bool is_known, int64_t bytes)
{
	tare_emit_add(e, &(struct row){ .at = ledger->at,
	                                .device = d->index,
	                                .kind = kind,
	                                .label = kind,
	                                .evidence = d->simulated ? "simulated" : NULL,
	                                .has_bytes = is_known,
	                                .bytes = bytes,
	                                .pid = -1,
	                                .generation = -1 });
}

static void add_row(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d,
                    const struct tare_row *account)
{
	struct row row = { .at = ledger->at,
		               .device = d->index,
		               .kind = account->leaf ? "leaf" : "parent",
		               .path = account->path,
		               .label = account->label,
		               .is_account = true,
		               .has_bytes = true,
		               .bytes = account->bytes,
		               .count = account->count,
		               .has_count = true,
		               .pid = account->pid,
		               .generation = account->generation,
		               .evidence = tare_evidence_name(account->evidence),
		               .of = *account };

	if (!account->contended)
		row.of.low = row.of.high = account->bytes;
	tare_emit_add(e, &row);
}

static void add_device(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	bool is_used_known = d->used != TARE_NOT_KNOWN;

	add_figure(e, ledger, d, "total", d->total != TARE_NOT_KNOWN, (int64_t)d->total);
	add_figure(e, ledger, d, "reserved", d->reserved != TARE_NOT_KNOWN, (int64_t)d->reserved);
	add_figure(e, ledger, d, "used", is_used_known, (int64_t)d->used);
	for (int i = 0; i < d->row_nr; i++)
		add_row(e, ledger, d, &d->rows[i]);
	add_figure(e, ledger, d, "unexplained", is_used_known && d->used_by != TARE_EVIDENCE_INFERRED, d->unexplained);
}

/* Of no device: records that are missing, with how many, and why. */
static void add_losses(struct tare_emit *e, const struct tare_ledger *ledger)
{
	for (int i = 0; i < ledger->loss_nr; i++) {
		const struct tare_loss *l = &ledger->losses[i];

		tare_emit_add(e, &(struct row){ .at = ledger->at,
		                                .device = -1,
		                                .kind = "lost",
		                                .label = l->why,
		                                .count = l->records,
		                                .has_count = l->records > 0,
		                                .pid = l->pid,
		                                .generation = l->generation });
	}
}

void tare_ledger_csv(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr)
{
	tare_emit_table(e, "accounts", NULL, TARE_COLUMNS(columns));
	for (int i = 0; i < ledger_nr; i++)
		for (int d = 0; d < ledgers[i]->device_nr; d++)
			add_device(e, ledgers[i], &ledgers[i]->devices[d]);
	for (int i = 0; i < ledger_nr; i++)
		add_losses(e, ledgers[i]);
	tare_emit_table_end(e);
}
