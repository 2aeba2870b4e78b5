/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--by phase`: a line per phase, in the order in which they began, those inside one below it. Phases are those of
 * the whole recording, at whichever instant its ledger is.
 */
#include "view/phase.h"

#include "base/emit_table.h"
#include "base/units.h"
#include "view/by.h"
#include "view/device_text.h"

#include <stdlib.h>
#include <string.h>

enum { PARAMS_MAX = 16 };

/* `once`: no phase has repeats, so there is nothing between least and most. */
static const struct tare_column columns[] = {
	TARE_LOOSE(NULL, "PHASE", TEXT),       TARE_LOOSE(NULL, "N", COUNT),
	TARE_LOOSE(NULL, "USED AFTER", BYTES), TARE_LOOSE(NULL, "CHANGE", CHANGE),
	TARE_LOOSE(NULL, "OWN PART", CHANGE),  TARE_LOOSE(NULL, "PEAK", BYTES),
	TARE_LOOSE(NULL, "LEAST", CHANGE),     TARE_LOOSE(NULL, "MOST", CHANGE),
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), COLUMNS_ONCE = COLUMNS - 2 };

static const struct tare_column data[] = {
	TARE_LOOSE("device", NULL, COUNT),
	TARE_LOOSE("label", NULL, TEXT),
	TARE_LOOSE("path", NULL, TEXT),
	TARE_LOOSE("depth", NULL, COUNT),
	TARE_LOOSE("kind", NULL, TEXT),
	TARE_LOOSE("source", NULL, TEXT),
	TARE_LOOSE("domain", NULL, TEXT),
	TARE_LOOSE("pid", NULL, COUNT),
	TARE_LOOSE("generation", NULL, COUNT),
	TARE_LOOSE("count", NULL, COUNT),
	TARE_LOOSE("unclosed", NULL, COUNT),
	TARE_LOOSE("threads", NULL, COUNT),
	TARE_LOOSE("first_t_ns", NULL, DURATION),
	TARE_LOOSE("last_t_ns", NULL, DURATION),
	TARE_LOOSE("ns", NULL, DURATION),
	TARE_LOOSE("used_before_bytes", NULL, BYTES),
	TARE_LOOSE("used_after_bytes", NULL, BYTES),
	TARE_LOOSE("bytes", NULL, BYTES),
	TARE_LOOSE("least_bytes", NULL, BYTES),
	TARE_LOOSE("most_bytes", NULL, BYTES),
	TARE_LOOSE("own_bytes", NULL, BYTES),
	TARE_LOOSE("own_least_bytes", NULL, BYTES),
	TARE_LOOSE("own_most_bytes", NULL, BYTES),
	TARE_LOOSE("peak_bytes", NULL, BYTES),
	TARE_LOOSE("peak_t_ns", NULL, DURATION),
};
enum { DATA = sizeof(data) / sizeof(data[0]) };

static bool is_shown(const struct tare_by_ask *ask, const struct tare_phase_row *row)
{
	return ask->pid < 0 || row->pid == ask->pid;
}

bool tare_phase_is_any(const struct tare_by_ask *ask)
{
	for (int i = 0; i < ask->ledgers[0]->phase_nr; i++)
		if (is_shown(ask, &ask->ledgers[0]->phases[i]))
			return true;
	return false;
}

static const char *kind_name(enum tare_phase_kind kind)
{
	return kind == TARE_PHASE_MOMENT ? "mark" : kind == TARE_PHASE_RANGE ? "range" : "phase";
}

static const struct tare_phase_on_device *on_device(const struct tare_phase_row *row, int index)
{
	for (int i = 0; i < row->device_nr; i++)
		if (row->devices[i].index == index)
			return &row->devices[i];
	return NULL;
}

/* ---- text ---- */

static bool has_repeats(const struct tare_by_ask *ask)
{
	for (int i = 0; i < ask->ledgers[0]->phase_nr; i++)
		if (is_shown(ask, &ask->ledgers[0]->phases[i]) &&
		    ask->ledgers[0]->phases[i].repeats > 1)
			return true;
	return false;
}

static bool has_processes(const struct tare_by_ask *ask)
{
	const struct tare_ledger *l = ask->ledgers[0];

	for (int i = 1; ask->pid < 0 && i < l->phase_nr; i++)
		if (l->phases[i].pid != l->phases[0].pid ||
		    l->phases[i].generation != l->phases[0].generation)
			return true;
	return false;
}

static void add_label(struct tare_emit *e, const struct tare_phase_row *row)
{
	struct tare_str label = { 0 };

	tare_text_add_name(&label, row->name);
	if (row->domain) {
		tare_str_add(&label, " [");
		tare_text_add_name(&label, row->domain);
		tare_str_add(&label, "]");
	}
	if (row->unclosed)
		tare_str_add(&label, " (not ended)");
	tare_emit_cell_text(e, tare_str_text(&label));
	tare_str_free(&label);
}

/* Of one alone there is no least and no most. */
static void add_bounds(struct tare_emit *e, const struct tare_phase_on_device *d)
{
	if (d->repeats > 1) {
		tare_emit_cell_int(e, d->change_min);
		tare_emit_cell_int(e, d->change_max);
	} else if (e->table->column_count > COLUMNS_ONCE) {
		tare_emit_cell_text(e, "");
		tare_emit_cell_text(e, "");
	}
}

static void add_text_row(struct tare_emit *e, const struct tare_phase_row *row, int device)
{
	const struct tare_phase_on_device *d = on_device(row, device);

	add_label(e, row);
	tare_emit_indent(e, (size_t)row->depth);
	tare_emit_cell_uint(e, row->repeats);
	if (d) {
		tare_emit_cell_int(e, d->used_after);
		tare_emit_cell_int(e, d->change);
		if (row->kind == TARE_PHASE_MOMENT)
			tare_emit_cell_unknown(e);
		else
			tare_emit_cell_int(e, d->own);
		tare_emit_cell_int(e, d->peak);
		add_bounds(e, d);
	}
	tare_emit_row(e);
}

static void add_before(struct tare_emit *e, const struct tare_by_ask *ask, int device)
{
	const struct tare_phase_on_device *d = NULL;

	for (int i = 0; !d && i < ask->ledgers[0]->phase_nr; i++)
		if (is_shown(ask, &ask->ledgers[0]->phases[i]))
			d = on_device(&ask->ledgers[0]->phases[i], device);
	if (!d)
		return;
	tare_emit_cell_text(e, "(before)");
	tare_emit_cell_text(e, "");
	tare_emit_cell_int(e, d->used_before);
	for (size_t i = 3; i < e->table->column_count; i++)
		tare_emit_cell_text(e, "");
	tare_emit_row(e);
}

static void add_process(struct tare_emit *e, const struct tare_phase_row *row)
{
	struct tare_str line = { 0 };

	tare_text_add_name(&line, row->program);
	tare_str_addf(&line, " (pid %lld)", (long long)row->pid);
	tare_emit_line(e, tare_str_text(&line));
	tare_str_free(&line);
}

static void add_table(struct tare_emit *e, const struct tare_by_ask *ask,
		      const struct tare_device_ledger *device)
{
	const struct tare_ledger *l = ask->ledgers[0];
	const struct tare_phase_row *last = NULL;
	bool is_several = has_processes(ask);
	struct tare_str title = { 0 };

	tare_str_addf(&title, "GPU %d  ", device->index);
	tare_text_add_name(&title, device->name);
	tare_emit_table(e, "rows", tare_str_text(&title), columns,
			has_repeats(ask) ? COLUMNS : COLUMNS_ONCE);
	if (!is_several)
		add_before(e, ask, device->index);
	for (int i = 0; i < l->phase_nr; i++) {
		const struct tare_phase_row *row = &l->phases[i];

		if (!is_shown(ask, row) || (row->device_nr && !on_device(row, device->index)))
			continue;
		if (is_several &&
		    (!last || last->pid != row->pid || last->generation != row->generation))
			add_process(e, row);
		add_text_row(e, row, device->index);
		last = row;
	}
	tare_emit_table_end(e);
	tare_str_free(&title);
}

static void show_text(struct tare_emit *e, const struct tare_by_ask *ask)
{
	const struct tare_ledger *l = ask->ledgers[0];
	int shown = 0;

	for (int i = 0; i < l->device_nr; i++)
		if (tare_device_text_is_touched(&l, 1, &l->devices[i])) {
			add_table(e, ask, &l->devices[i]);
			shown++;
		}
	if (!shown)
		tare_emit_note(e, "phases were marked, but no GPU was used in them");
	for (int i = 0; i < l->degraded_nr; i++)
		tare_emit_note(e, "! degraded: %s", l->degraded[i]);
}

/* ---- data ---- */

static void add_bytes(struct tare_emit *e, const struct tare_phase_row *row,
		      const struct tare_phase_on_device *d)
{
	bool has_own = row->kind != TARE_PHASE_MOMENT;

	tare_emit_cell_int(e, d->used_before);
	tare_emit_cell_int(e, d->used_after);
	tare_emit_cell_int(e, d->change);
	tare_emit_cell_int(e, d->change_min);
	tare_emit_cell_int(e, d->change_max);
	for (int i = 0; i < 3; i++)
		if (has_own)
			tare_emit_cell_int(e, i == 0 ? d->own : i == 1 ? d->own_min : d->own_max);
		else
			tare_emit_cell_unknown(e);
	tare_emit_cell_int(e, d->peak);
	tare_emit_cell_int(e, d->peak_t_ns);
}

static void add_data_row(struct tare_emit *e, const struct tare_phase_row *row,
			 const struct tare_phase_on_device *d)
{
	if (d)
		tare_emit_cell_int(e, d->index);
	else
		tare_emit_cell_unknown(e);
	tare_emit_cell_text(e, row->name);
	tare_emit_cell_text(e, row->path);
	tare_emit_cell_int(e, row->depth);
	tare_emit_cell_text(e, kind_name(row->kind));
	tare_emit_cell_text(e, row->source);
	tare_emit_cell_text(e, row->domain);
	tare_emit_cell_int(e, row->pid);
	tare_emit_cell_int(e, row->generation);
	tare_emit_cell_uint(e, row->repeats);
	tare_emit_cell_uint(e, row->unclosed);
	tare_emit_cell_uint(e, row->threads);
	tare_emit_cell_int(e, row->first_t_ns);
	tare_emit_cell_int(e, row->last_t_ns);
	tare_emit_cell_int(e, row->ns);
	if (d)
		add_bytes(e, row, d);
	tare_emit_row(e);
}

/* What no cell can hold: the parameters of the name, and the change by account. */
static void add_parameters(struct tare_emit *e, const struct tare_phase_row *row)
{
	struct tare_phase_param params[PARAMS_MAX];
	size_t count = tare_phase_params(row->name, params, PARAMS_MAX);

	tare_emit_open(e, "params", '{');
	for (size_t i = 0; i < count && i < PARAMS_MAX; i++) {
		struct tare_str key = { 0 }, value = { 0 };

		tare_str_add_n(&key, params[i].key, params[i].key_len);
		tare_str_add_n(&value, params[i].value, params[i].value_len);
		tare_emit_str(e, tare_str_text(&key), tare_str_text(&value));
		tare_str_free(&key);
		tare_str_free(&value);
	}
	tare_emit_close(e);
}

static void show_details(struct tare_emit *e, const struct tare_by_ask *ask)
{
	const struct tare_ledger *l = ask->ledgers[0];

	tare_emit_open(e, "phases", '[');
	for (int i = 0; i < l->phase_nr; i++) {
		const struct tare_phase_row *row = &l->phases[i];

		if (!is_shown(ask, row))
			continue;
		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "path", row->path);
		tare_emit_int(e, "pid", row->pid);
		add_parameters(e, row);
		tare_emit_open(e, "changes", '[');
		for (int d = 0; d < row->device_nr; d++)
			for (int k = 0; k < row->devices[d].part_nr; k++) {
				const struct tare_phase_part *part = &row->devices[d].parts[k];

				tare_emit_open(e, NULL, '{');
				tare_emit_int(e, "device", row->devices[d].index);
				tare_emit_str(e, "account", tare_accounts[part->account].key);
				tare_emit_int(e, "bytes", part->bytes);
				tare_emit_close(e);
			}
		tare_emit_close(e);
		tare_emit_close(e);
	}
	tare_emit_close(e);
}

static void show_data(struct tare_emit *e, const struct tare_by_ask *ask)
{
	const struct tare_ledger *l = ask->ledgers[0];

	tare_emit_table(e, "rows", NULL, data, DATA);
	for (int i = 0; i < l->phase_nr; i++) {
		const struct tare_phase_row *row = &l->phases[i];

		if (!is_shown(ask, row))
			continue;
		for (int d = 0; d < row->device_nr; d++)
			add_data_row(e, row, &row->devices[d]);
		if (!row->device_nr)
			add_data_row(e, row, NULL);
	}
	tare_emit_table_end(e);
	if (e->format == TARE_EMIT_JSON)
		show_details(e, ask);
}

void tare_phase_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	if (e->format == TARE_EMIT_TEXT)
		show_text(e, ask);
	else
		show_data(e, ask);
}
