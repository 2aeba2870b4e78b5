/* SPDX-License-Identifier: Apache-2.0 */
/* What is still there, whose it is, and which call gives it back: --by residue, and the section of a report. */
#include "view/residue.h"

#include "base/simulated.h"
#include "base/units.h"
#include "view/by.h"
#include "view/columns.h"
#include "view/device_text.h"

struct row {
	const char *at, *key, *label, *whose, *when, *call;
	struct tare_str shown;
	int device;
	int64_t bytes;
	uint64_t count;
	enum tare_evidence evidence;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, at, "at", NULL, TEXT),
	TARE_COLUMN(row, device, "device", NULL, ID),
	TARE_COLUMN(row, key, "residue", NULL, TEXT),
	TARE_COLUMN(row, label, "label", NULL, TEXT),
	TARE_COLUMN(row, whose, "owner", NULL, TEXT),
	TARE_COLUMN(row, bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(row, count, "count", NULL, COUNT),
	TARE_COLUMN(row, evidence, "evidence", NULL, TEXT, .name = tare_evidence_name),
	TARE_COLUMN(row, when, "gives_back", NULL, TEXT),
	TARE_COLUMN(row, call, "call", NULL, TEXT),
};

/* A call that is cut is none: it stands behind what it gives back, and goes on on the next line. */
static const struct tare_column people_columns[] = {
	TARE_COLUMN(row, shown, "label", "WHAT STAYS · WHAT GIVES IT BACK", TEXT),
	TARE_COLUMN(row, bytes, "bytes", "STAYS", BYTES, .is_sum = true, .is_main = true),
};

static struct row row_of(const struct tare_ledger *ledger, const struct tare_device_ledger *d,
                         const struct tare_residue_row *r)
{
	const struct tare_residue_info *info = &tare_residues[r->kind];

	return (struct row){ .at = ledger->at,
		                 .device = d->index,
		                 .key = info->key,
		                 .label = r->label,
		                 .whose = r->whose,
		                 .bytes = r->bytes,
		                 .count = r->count,
		                 .evidence = r->evidence,
		                 .when = tare_residue_when_name(info->when),
		                 .call = info->call };
}

static void add_data(struct tare_emit *e, const struct tare_ledger *ledger)
{
	for (int i = 0; i < ledger->device_nr; i++) {
		const struct tare_device_ledger *d = &ledger->devices[i];
		struct tare_residue_rows all;

		if (!tare_device_ledger_is_gpu(d))
			continue;
		tare_residue_build(&all, d);
		for (size_t k = 0; k < all.count; k++) {
			struct row row = row_of(ledger, d, &all.rows[k]);

			tare_emit_add(e, &row);
		}
		tare_residue_free(&all);
	}
}

void tare_residue_json(struct tare_emit *e, const struct tare_ledger *ledger)
{
	/* A section of a ledger, which says its instant itself: all but the first. */
	tare_emit_table(e, "residue", NULL, columns + 1, sizeof(columns) / sizeof(columns[0]) - 1);
	add_data(e, ledger);
	tare_emit_table_end(e);
}

/* ---- for people ---- */

static void add_title(struct tare_str *title, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	tare_device_text_place(title, d->index);
	tare_str_addf(title, "  what stays · ");
	tare_device_text_instant(title, ledger, d->t_ns);
	tare_str_add(title, tare_simulated_mark(d->simulated));
}

static void add_shown(struct tare_emit *e, struct row *row)
{
	tare_emit_add_as(e, row, (struct tare_row_look){ .level = 1, .is_whole = true });
	tare_str_free(&row->shown);
}

static void add_rows(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	struct tare_residue_rows all;

	tare_residue_build(&all, d);
	for (size_t i = 0; i < all.count; i++) {
		struct row row = row_of(ledger, d, &all.rows[i]);

		if (row.bytes < TARE_UNITS_LEAST && row.bytes > -TARE_UNITS_LEAST)
			continue;
		tare_str_addf(&row.shown, "%s · %s", row.label, row.call);
		add_shown(e, &row);
	}
	if (d->used != TARE_NOT_KNOWN && d->used_by != TARE_EVIDENCE_INFERRED) {
		struct row row = { .bytes = d->unexplained };

		tare_str_add(&row.shown, "unexplained");
		add_shown(e, &row);
	}
	tare_residue_free(&all);
}

/* What was copied to the host before lies in pinned memory, mostly; nothing says that it is that. */
void tare_residue_asleep(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	char text[TARE_UNITS_TEXT_MAX], more[TARE_UNITS_TEXT_MAX];
	int64_t pinned = 0;

	if (d->asleep < TARE_UNITS_LEAST)
		return;
	for (int i = 0; i < ledger->host_nr; i++)
		pinned += ledger->hosts[i].pinned_sum.bytes;
	tare_units_mib(text, d->asleep);
	if (pinned < TARE_UNITS_LEAST)
		tare_emit_note(e, "  asleep: %s MiB unmapped, addresses kept; nothing is pinned on the host", text);
	else
		tare_emit_note(e, "  asleep: %s MiB unmapped, addresses kept; %s MiB are pinned on the host", text,
		               tare_units_mib(more, pinned));
}

static void show_device(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	add_title(&title, ledger, d);
	tare_emit_shape(e, TARE_SHAPE_TREE, "rows", tare_str_text(&title), TARE_COLUMNS(people_columns));
	add_rows(e, ledger, d);
	tare_emit_sum(e, "used");
	tare_emit_table_end(e);
	tare_residue_asleep(e, ledger, d);
	tare_emit_gap(e);
}

static const struct tare_device_ledger *most_kept(const struct tare_ledger *const *ledgers, int ledger_nr,
                                                  const struct tare_device_ledger *d)
{
	const struct tare_device_ledger *most = NULL;
	int64_t kept = 0;

	for (int i = 0; i + 1 < ledger_nr; i++) {
		const struct tare_device_ledger *before = tare_columns_device(ledgers[i], d);
		struct tare_residue_rows rows;

		if (!before)
			continue;
		tare_residue_build(&rows, before);
		if (!most || rows.kept > kept) {
			most = before;
			kept = rows.kept;
		}
		tare_residue_free(&rows);
	}
	return most;
}

void tare_residue_text(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr)
{
	const struct tare_ledger *last = ledgers[ledger_nr - 1];

	for (int i = 0; i < last->device_nr; i++) {
		const struct tare_device_ledger *d = &last->devices[i];

		if (tare_residue_is_given_back(most_kept(ledgers, ledger_nr, d), d))
			show_device(e, last, d);
	}
}

/* ---- --by residue ---- */

bool tare_residue_is_any(const struct tare_by_ask *ask)
{
	for (int i = 0; i < ask->ledgers[0]->device_nr; i++)
		if (tare_device_ledger_is_gpu(&ask->ledgers[0]->devices[i]))
			return true;
	return false;
}

void tare_residue_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	if (!tare_emit_is_for_people(e)) {
		tare_emit_table(e, "rows", NULL, TARE_COLUMNS(columns));
		for (int i = 0; i < ask->ledger_nr; i++)
			add_data(e, ask->ledgers[i]);
		tare_emit_table_end(e);
		return;
	}
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < ask->ledgers[i]->device_nr; k++)
			if (tare_device_text_is_touched(ask->ledgers, ask->ledger_nr, &ask->ledgers[i]->devices[k]) &&
			    tare_device_ledger_is_gpu(&ask->ledgers[i]->devices[k]))
				show_device(e, ask->ledgers[i], &ask->ledgers[i]->devices[k]);
}
