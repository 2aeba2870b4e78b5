/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--by phase`: a line per phase, in the order in which they began, those inside one below it. Phases are those of
 * the whole recording, at whichever instant its ledger is.
 */
#include "view/phase.h"

#include "view/ledger_view.h"
#include "view/by.h"
#include "view/device_text.h"

#include <stdlib.h>
#include <string.h>

enum {
	PARAMS_MAX = 16,
	CPU = -1,
	RESIDENT = -2,
	LEAST = 1 << 20,          /* bytes of tensors on the CPU worth a table beside a GPU's */
	LEAST_RESIDENT = 64 << 20 /* the same of what became resident, or no longer is */
};

struct row {
	const char *kind;
	int64_t device;        /* -1: none */
	struct tare_str label; /* as people read it */
	bool is_on_device;
	bool has_own;     /* a mark has no part of its own */
	bool has_repeats; /* of one alone there is no least and no most */
	bool has_change;  /* not the row of what was before */
	struct tare_phase_row phase;
	struct tare_phase_on_device on;
};

#define ON     .when = TARE_WHEN(row, is_on_device)
#define OWN    .when = TARE_WHEN(row, has_own)
#define SPREAD .when = TARE_WHEN(row, has_repeats), .is_blank = true

/* `once`: no phase has repeats, so there is nothing between least and most. */
static const struct tare_column columns[] = {
	TARE_COLUMN(row, label, NULL, "PHASE", TEXT),
	TARE_COLUMN(row, phase.repeats, NULL, "N", COUNT, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(row, on.used_after, NULL, "USED AFTER", BYTES, ON),
	TARE_COLUMN(row, on.change, NULL, "CHANGE", CHANGE, .when = TARE_WHEN(row, has_change)),
	TARE_COLUMN(row, on.own, NULL, "OWN PART", CHANGE, OWN),
	TARE_COLUMN(row, on.peak, NULL, "PEAK", BYTES, .when = TARE_WHEN(row, has_change)),
	TARE_COLUMN(row, on.change_min, NULL, "LEAST", CHANGE, SPREAD),
	TARE_COLUMN(row, on.change_max, NULL, "MOST", CHANGE, SPREAD),
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), COLUMNS_ONCE = COLUMNS - 2 };

#define READ .when = TARE_WHEN(row, phase.resident_is_known)

static const struct tare_column resident_columns[] = {
	TARE_COLUMN(row, label, NULL, "PHASE", TEXT),
	TARE_COLUMN(row, phase.repeats, NULL, "N", COUNT),
	TARE_COLUMN(row, phase.resident_after, NULL, "RESIDENT AFTER", BYTES, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, phase.resident_change, NULL, "CHANGE", CHANGE,
	            .when = TARE_WHEN(row, phase.resident_change_is_known)),
	TARE_COLUMN(row, phase.resident_most, NULL, "MOST", BYTES, READ),
};

static const struct tare_column data[] = {
	TARE_COLUMN(row, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, phase.name, "label", NULL, TEXT),
	TARE_COLUMN(row, phase.path, "path", NULL, TEXT),
	TARE_COLUMN(row, phase.depth, "depth", NULL, COUNT),
	TARE_COLUMN(row, kind, "kind", NULL, TEXT),
	TARE_COLUMN(row, phase.source, "source", NULL, TEXT),
	TARE_COLUMN(row, phase.domain, "domain", NULL, TEXT),
	TARE_COLUMN(row, phase.pid, "pid", NULL, ID),
	TARE_COLUMN(row, phase.generation, "generation", NULL, ID),
	TARE_COLUMN(row, phase.repeats, "count", NULL, COUNT),
	TARE_COLUMN(row, phase.unclosed, "unclosed", NULL, COUNT),
	TARE_COLUMN(row, phase.threads, "threads", NULL, COUNT),
	TARE_COLUMN(row, phase.first_t_ns, "first_t_ns", NULL, TIME),
	TARE_COLUMN(row, phase.last_t_ns, "last_t_ns", NULL, TIME),
	TARE_COLUMN(row, phase.ns, "ns", NULL, DURATION),
	TARE_COLUMN(row, on.used_before, "used_before_bytes", NULL, BYTES, ON),
	TARE_COLUMN(row, on.used_after, "used_after_bytes", NULL, BYTES, ON),
	TARE_COLUMN(row, on.change, "bytes", NULL, BYTES, ON),
	TARE_COLUMN(row, on.change_min, "least_bytes", NULL, BYTES, ON),
	TARE_COLUMN(row, on.change_max, "most_bytes", NULL, BYTES, ON),
	TARE_COLUMN(row, on.own, "own_bytes", NULL, BYTES, OWN),
	TARE_COLUMN(row, on.own_min, "own_least_bytes", NULL, BYTES, OWN),
	TARE_COLUMN(row, on.own_max, "own_most_bytes", NULL, BYTES, OWN),
	TARE_COLUMN(row, on.peak, "peak_bytes", NULL, BYTES, ON),
	TARE_COLUMN(row, on.peak_t_ns, "peak_t_ns", NULL, TIME, ON),
	TARE_COLUMN(row, phase.resident_after, "resident_after_bytes", NULL, BYTES, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, phase.resident_change, "resident_change_bytes", NULL, BYTES,
	            .when = TARE_WHEN(row, phase.resident_change_is_known)),
	TARE_COLUMN(row, phase.resident_most, "resident_most_bytes", NULL, BYTES, READ),
	TARE_COLUMN(row, phase.resident_most_t_ns, "resident_most_t_ns", NULL, TIME, READ),
	TARE_COLUMN(row, phase.resident_readings, "resident_readings", NULL, COUNT),
};

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

bool tare_phases_are_printed(const struct tare_ledger *ledger)
{
	for (int i = 0; i < ledger->phase_nr; i++)
		if (strcmp(ledger->phases[i].source, "print"))
			return false;
	return ledger->phase_nr > 0;
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
		if (is_shown(ask, &ask->ledgers[0]->phases[i]) && ask->ledgers[0]->phases[i].repeats > 1)
			return true;
	return false;
}

static bool has_processes(const struct tare_by_ask *ask)
{
	const struct tare_ledger *l = ask->ledgers[0];

	for (int i = 1; ask->pid < 0 && i < l->phase_nr; i++)
		if (l->phases[i].pid != l->phases[0].pid || l->phases[i].generation != l->phases[0].generation)
			return true;
	return false;
}

static struct row row_of(const struct tare_phase_row *phase, const struct tare_phase_on_device *d)
{
	struct row row = { .kind = kind_name(phase->kind), .device = -1, .phase = *phase };

	if (!d)
		return row;
	row.device = d->index;
	row.on = *d;
	row.is_on_device = row.has_change = true;
	row.has_own = phase->kind != TARE_PHASE_MOMENT;
	row.has_repeats = d->repeats > 1;
	return row;
}

static void add_text_row(struct tare_emit *e, const struct tare_phase_row *phase, const struct tare_phase_on_device *on)
{
	struct row row = row_of(phase, on);

	tare_str_add(&row.label, phase->name);
	if (phase->domain) {
		tare_str_add(&row.label, " [");
		tare_str_add(&row.label, phase->domain);
		tare_str_add(&row.label, "]");
	}
	if (phase->unclosed)
		tare_str_add(&row.label, " (not ended)");
	tare_emit_add_as(e, &row, (struct tare_row_look){ .level = (size_t)phase->depth });
	tare_str_free(&row.label);
}

static void add_before(struct tare_emit *e, const struct tare_by_ask *ask, int device)
{
	const struct tare_phase_on_device *d = NULL;
	struct row row = { .is_on_device = true };

	for (int i = 0; !d && i < ask->ledgers[0]->phase_nr; i++)
		if (is_shown(ask, &ask->ledgers[0]->phases[i]))
			d = on_device(&ask->ledgers[0]->phases[i], device);
	if (!d)
		return;
	tare_str_add(&row.label, "(before)");
	row.on.used_after = d->used_before;
	tare_emit_add_as(e, &row, (struct tare_row_look){ .is_blank = true });
	tare_str_free(&row.label);
}

static void add_process(struct tare_emit *e, const struct tare_phase_row *row)
{
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	tare_str_add(&line, row->program);
	tare_str_addf(&line, " (pid %lld)", (long long)row->pid);
	tare_emit_line(e, tare_str_text(&line));
}

/* `device`: tare_phase_on_device.index; RESIDENT: of all phases. */
static void add_rows(struct tare_emit *e, const struct tare_by_ask *ask, int device)
{
	const struct tare_ledger *l = ask->ledgers[0];
	const struct tare_phase_row *last = NULL;
	bool is_several = has_processes(ask);

	for (int i = 0; i < l->phase_nr; i++) {
		const struct tare_phase_row *row = &l->phases[i];

		if (!is_shown(ask, row) || (device != RESIDENT && row->device_nr && !on_device(row, device)))
			continue;
		if (is_several && (!last || last->pid != row->pid || last->generation != row->generation))
			add_process(e, row);
		add_text_row(e, row, on_device(row, device));
		last = row;
	}
}

static void add_table(struct tare_emit *e, const struct tare_by_ask *ask, int device, const char *title)
{
	tare_emit_table(e, "rows", title, columns, has_repeats(ask) ? COLUMNS : COLUMNS_ONCE);
	if (!has_processes(ask))
		add_before(e, ask, device);
	add_rows(e, ask, device);
	tare_emit_table_end(e);
}

static bool is_large(const struct tare_phase_row *row)
{
	return row->resident_change_is_known && llabs(row->resident_change) >= LEAST_RESIDENT;
}

/* What was resident: of a program that opened a GPU where that changed by much, for the driver's own is in it. */
static bool add_resident(struct tare_emit *e, const struct tare_by_ask *ask)
{
	const struct tare_ledger *l = ask->ledgers[0];
	bool is_any = false, is_all = true;

	for (int i = 0; i < l->phase_nr; i++)
		if (is_shown(ask, &l->phases[i])) {
			is_any |= l->opened_gpu ? is_large(&l->phases[i]) : l->phases[i].resident_is_known;
			is_all &= l->phases[i].resident_change_is_known && l->phases[i].resident_after >= 0;
		}
	if (!is_any)
		return false;
	tare_emit_table(e, "resident", "CPU  resident: anonymous and files, sampled ten times a second",
	                TARE_COLUMNS(resident_columns));
	add_rows(e, ask, RESIDENT);
	tare_emit_table_end(e);
	if (!is_all)
		tare_emit_paragraph(e, "–: not known, because memory was not read before the phase began, "
		                       "or not while it lasted (each time, where it came several times).");
	return true;
}

/* What a phase had or changed on the CPU, where that is worth a table: always where no GPU was opened. */
static bool is_cpu_shown(const struct tare_by_ask *ask)
{
	const struct tare_ledger *l = ask->ledgers[0];

	for (int i = 0; i < l->phase_nr; i++) {
		const struct tare_phase_on_device *d = on_device(&l->phases[i], CPU);

		if (d && is_shown(ask, &l->phases[i]) && (!l->opened_gpu || d->peak >= LEAST))
			return true;
	}
	return false;
}

/* ---- where they lie in time: drawn where the format can draw ---- */

enum { MOST_LANES = 60 };

struct lane {
	const char *name, *kind;
	int64_t from_ns, to_ns, ns;
};

static const struct tare_column lane_columns[] = {
	TARE_COLUMN(lane, name, "label", NULL, TEXT, .as = TARE_AS_LANE),
	TARE_COLUMN(lane, kind, "kind", NULL, TEXT, .as = TARE_AS_NAME),
	TARE_COLUMN(lane, from_ns, "from_ns", NULL, TIME, .as = TARE_AS_FROM),
	TARE_COLUMN(lane, to_ns, "to_ns", NULL, TIME, .as = TARE_AS_TO),
	TARE_COLUMN(lane, ns, "ns", NULL, DURATION, .as = TARE_AS_VALUE),
};

static void show_lanes(struct tare_emit *e, const struct tare_by_ask *ask)
{
	const struct tare_ledger *l = ask->ledgers[0];
	int shown = 0;

	tare_emit_shape(e, TARE_SHAPE_INTERVALS, "lanes", NULL, TARE_COLUMNS(lane_columns));
	for (int i = 0; i < l->phase_nr && shown < MOST_LANES; i++) {
		const struct tare_phase_row *p = &l->phases[i];

		if (!is_shown(ask, p) || p->kind == TARE_PHASE_MOMENT)
			continue;
		tare_emit_add(e, &(struct lane){ p->name, kind_name(p->kind), p->first_t_ns, p->last_t_ns, p->ns });
		shown++;
	}
	tare_emit_table_end(e);
}

static void show_text(struct tare_emit *e, const struct tare_by_ask *ask)
{
	const struct tare_ledger *l = ask->ledgers[0];
	int shown = 0;

	show_lanes(e, ask);
	for (int i = 0; i < l->device_nr; i++)
		if (tare_device_text_is_touched(&l, 1, &l->devices[i])) {
			struct tare_str title = { 0 };

			tare_device_text_number(&title, &l->devices[i], "  ");
			tare_str_add(&title, l->devices[i].name);
			add_table(e, ask, l->devices[i].index, tare_str_text(&title));
			tare_str_free(&title);
			shown++;
		}
	if (is_cpu_shown(ask)) {
		add_table(e, ask, CPU, "CPU  tensors: what was asked for, of all processes");
		shown++;
	}
	shown += add_resident(e, ask);
	if (!shown)
		tare_emit_note(e, "phases were marked, but no memory was recorded in them: neither of a GPU nor of "
		                  "PyTorch's tensors on the CPU");
	tare_degraded_text(e, l);
}

/* ---- data ---- */

static void add_data_row(struct tare_emit *e, const struct tare_phase_row *phase, const struct tare_phase_on_device *d)
{
	struct row row = row_of(phase, d);

	tare_emit_add(e, &row);
}

/* What no cell can hold: the parameters of the name, and the change by account. */
static void add_parameters(struct tare_emit *e, const char *member, const void *of)
{
	const struct tare_phase_row *row = of;
	struct tare_phase_param params[PARAMS_MAX];
	size_t count = tare_phase_params(row->name, params, PARAMS_MAX);

	tare_emit_open(e, member, '{');
	for (size_t i = 0; i < count && i < PARAMS_MAX; i++) {
		TARE_FREED_BY(tare_str_free) struct tare_str key = { 0 }, value = { 0 };

		tare_str_add_n(&key, params[i].key, params[i].key_len);
		tare_str_add_n(&value, params[i].value, params[i].value_len);
		tare_emit_str(e, tare_str_text(&key), tare_str_text(&value));
	}
	tare_emit_close(e);
}

struct change {
	int device;
	const char *account;
	int64_t bytes;
};

static const struct tare_column change_columns[] = {
	TARE_COLUMN(change, device, "device", NULL, ID),
	TARE_COLUMN(change, account, "account", NULL, TEXT),
	TARE_COLUMN(change, bytes, "bytes", NULL, BYTES),
};

static void add_changes(struct tare_emit *e, const char *key, const void *of)
{
	const struct tare_phase_row *row = of;

	tare_emit_table(e, key, NULL, TARE_COLUMNS(change_columns));
	for (int d = 0; d < row->device_nr; d++)
		for (int k = 0; k < row->devices[d].part_nr; k++) {
			const struct tare_phase_part *part = &row->devices[d].parts[k];

			tare_emit_add(e, &(struct change){ row->devices[d].index, tare_accounts[part->account].key, part->bytes });
		}
	tare_emit_table_end(e);
}

static const struct tare_column detail_columns[] = {
	TARE_COLUMN(tare_phase_row, path, "path", NULL, TEXT),
	TARE_COLUMN(tare_phase_row, pid, "pid", NULL, ID),
	TARE_NESTED("params", add_parameters),
	TARE_NESTED("changes", add_changes),
};

static void show_details(struct tare_emit *e, const struct tare_by_ask *ask)
{
	const struct tare_ledger *l = ask->ledgers[0];

	tare_emit_table(e, "phases", NULL, TARE_COLUMNS(detail_columns));
	for (int i = 0; i < l->phase_nr; i++)
		if (is_shown(ask, &l->phases[i]))
			tare_emit_add(e, &l->phases[i]);
	tare_emit_table_end(e);
}

static void show_data(struct tare_emit *e, const struct tare_by_ask *ask)
{
	const struct tare_ledger *l = ask->ledgers[0];

	tare_emit_table(e, "rows", NULL, TARE_COLUMNS(data));
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
	if (tare_emit_has_members(e))
		show_details(e, ask);
}

void tare_phase_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	if (tare_emit_is_for_people(e))
		show_text(e, ask);
	else
		show_data(e, ask);
}
