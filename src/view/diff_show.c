/* SPDX-License-Identifier: Apache-2.0 */
/* Two reports side by side, for scripts and for people. */
#include "view/diff.h"

#include "base/sat.h"
#include "base/units.h"
#include "view/device_text.h"

#include <stdio.h>
#include <string.h>

static const char *side_of(unsigned side)
{
	static const char *const names[] = { "none", "before", "after", "both" };

	return names[side & 3];
}

struct row {
	const char *path, *after_path, *label, *account, *side, *call;
	struct tare_str shown;
	int64_t device; /* -1: the CPU */
	bool is_leaf, is_before, is_after;
	int64_t before, after, difference;
	uint64_t before_count, after_count;
};

#define BEFORE .when = TARE_WHEN(row, is_before)
#define AFTER  .when = TARE_WHEN(row, is_after)
#define CPU    .unknown = TARE_UNKNOWN_NEGATIVE

static const struct tare_column row_columns[] = {
	TARE_COLUMN(row, device, "device", NULL, ID, CPU),
	TARE_COLUMN(row, path, "path", NULL, TEXT),
	TARE_COLUMN(row, after_path, "after_path", NULL, TEXT),
	TARE_COLUMN(row, label, "label", NULL, TEXT),
	TARE_COLUMN(row, account, "account", NULL, TEXT),
	TARE_COLUMN(row, is_leaf, "leaf", NULL, FLAG),
	TARE_COLUMN(row, side, "side", NULL, TEXT),
	TARE_COLUMN(row, before, "before_bytes", NULL, BYTES),
	TARE_COLUMN(row, after, "after_bytes", NULL, BYTES),
	TARE_COLUMN(row, difference, "difference_bytes", NULL, CHANGE),
	TARE_COLUMN(row, before_count, "before_count", NULL, COUNT),
	TARE_COLUMN(row, after_count, "after_count", NULL, COUNT),
	TARE_COLUMN(row, call, "call", NULL, TEXT),
};

/* For people the cell of a row that a report does not have is empty, not 0. */
static const struct tare_column people_columns[] = {
	TARE_COLUMN(row, shown, "label", "", TEXT),
	TARE_COLUMN(row, before, "before_bytes", "BEFORE", BYTES, BEFORE),
	TARE_COLUMN(row, after, "after_bytes", "AFTER", BYTES, AFTER),
	TARE_COLUMN(row, difference, "difference_bytes", "CHANGE", CHANGE, .is_main = true),
};

/* Of what stays it is asked how it can go, and not by how much it changed. */
static const struct tare_column residue_columns[] = {
	TARE_COLUMN(row, shown, "label", "WHAT STAYS · WHAT GIVES IT BACK", TEXT),
	TARE_COLUMN(row, before, "before_bytes", "BEFORE", BYTES, BEFORE),
	TARE_COLUMN(row, after, "after_bytes", "STAYS", BYTES, AFTER, .is_main = true),
};

struct total {
	const char *label;
	int64_t device, before, after, difference;
};

static const struct tare_column total_columns[] = {
	TARE_COLUMN(total, device, "device", NULL, ID, CPU),
	TARE_COLUMN(total, label, "label", NULL, TEXT),
	TARE_COLUMN(total, before, "before_bytes", NULL, BYTES),
	TARE_COLUMN(total, after, "after_bytes", NULL, BYTES),
	TARE_COLUMN(total, difference, "difference_bytes", NULL, CHANGE),
};

static const struct tare_column side_columns[] = {
	TARE_COLUMN(tare_diff_side, source, "source", NULL, TEXT),
	TARE_COLUMN(tare_diff_side, at, "at", NULL, TEXT),
	TARE_COLUMN(tare_diff_side, t_ns, "t_ns", NULL, TIME, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(tare_diff_side, is_simulated, "simulated", NULL, FLAG),
};

static struct row row_of(const struct tare_diff *d, const struct tare_diff_row *r)
{
	return (struct row){ .path = r->path,
		                 .after_path = r->after_path,
		                 .label = r->label,
		                 .account = r->account,
		                 .call = r->call,
		                 .side = side_of(r->is_before | (unsigned)r->is_after << 1),
		                 .device = d->totals[r->place].place->index,
		                 .is_leaf = r->is_leaf,
		                 .is_before = r->is_before,
		                 .is_after = r->is_after,
		                 .before = r->before,
		                 .after = r->after,
		                 .difference = tare_sat_sub(r->after, r->before),
		                 .before_count = r->before_count,
		                 .after_count = r->after_count };
}

static void add_sentences(struct tare_emit *e, const char *key, const struct tare_json_value *sentences)
{
	tare_emit_open(e, key, '[');
	for (const struct tare_json_value *v = sentences ? sentences->first : NULL; v; v = v->next)
		if (v->text)
			tare_emit_str_n(e, NULL, v->text, v->text_len);
	tare_emit_close(e);
}

static void show_data(struct tare_emit *e, const struct tare_diff *d)
{
	tare_emit_uint(e, "tare", 1);
	tare_emit_str(e, "by", d->by < 0 ? NULL : tare_by_infos[d->by].name);
	if (tare_emit_has_members(e)) { /* other data has one table, that of the rows */
		tare_emit_object(e, "before", TARE_COLUMNS(side_columns), &d->before);
		tare_emit_object(e, "after", TARE_COLUMNS(side_columns), &d->after);
		tare_emit_table(e, "totals", NULL, TARE_COLUMNS(total_columns));
		for (size_t i = 0; i < d->total_nr && !tare_diff_is_of_changes(d->by); i++) {
			const struct tare_diff_total *t = &d->totals[i];

			tare_emit_add(e, &(struct total){ .label = t->place->name,
			                                  .device = t->place->index,
			                                  .before = t->before,
			                                  .after = t->after,
			                                  .difference = tare_sat_sub(t->after, t->before) });
		}
		tare_emit_table_end(e);
	}
	tare_emit_table(e, "rows", NULL, TARE_COLUMNS(row_columns));
	for (size_t i = 0; i < d->row_nr; i++) {
		struct row row = row_of(d, &d->rows[i]);

		tare_emit_add(e, &row);
	}
	tare_emit_table_end(e);
	add_sentences(e, "before_degraded", d->before.degraded);
	add_sentences(e, "after_degraded", d->after.degraded);
	add_sentences(e, "before_notes", d->before.notes);
	add_sentences(e, "after_notes", d->after.notes);
}

/* ---- for people ---- */

/* What was not recorded as it should have been is no difference of the programs. */
static void say_degraded(struct tare_emit *e, const char *head, const struct tare_diff_side *s)
{
	char note[32];

	snprintf(note, sizeof(note), "note %s  ", head);
	for (const struct tare_json_value *v = s->notes ? s->notes->first : NULL; v; v = v->next)
		if (v->text)
			tare_emit_term(e, TARE_TONE_PLAIN, note, v->text);
	for (const struct tare_json_value *v = s->degraded ? s->degraded->first : NULL; v; v = v->next)
		if (v->text)
			tare_emit_alarm(e, "%s: %s", head, v->text);
}

static bool is_process(const struct tare_diff_row *row)
{
	return row->account && !strcmp(row->account, "process");
}

/* Is all that the programs have of one process? Then rows need not say so. */
static bool is_of_one_process(const struct tare_diff *d)
{
	size_t more = d->after.process_nr;

	for (size_t i = 0; i < d->after.process_nr; i++)
		more -= d->after.processes[i].twin >= 0;
	return d->before.process_nr + more <= 1;
}

/*
 * "allocations: PyTorch", "train.py: allocations: PyTorch". On the CPU all rows are of tensors, and processes have no row: there the
 * name of the process stands instead of the first label.
 */
static void add_label(struct tare_str *out, const struct tare_diff *d, const struct tare_diff_row *row,
                      bool without_process)
{
	bool is_host = d->totals[row->place].place->index < 0;
	bool is_named = row->parent < 0 && row->process && (is_host || is_process(row));
	size_t before = out->len;

	if (row->parent >= 0)
		add_label(out, d, &d->rows[row->parent], without_process);
	else if (is_named && !without_process)
		tare_str_add(out, row->process);
	if (is_named && (is_process(row) || !row->is_leaf))
		return;
	if (out->len > before)
		tare_str_add(out, ": ");
	tare_str_add(out, row->short_label);
}

/* Are counts shown: is it there on both sides, and not as often? */
static bool has_counts(const struct tare_diff_row *row)
{
	return row->is_before && row->is_after && row->before_count != row->after_count;
}

static void add_counts(struct tare_str *out, const struct tare_diff_row *row)
{
	tare_str_addf(out, " (%llu → %llu)", (unsigned long long)row->before_count, (unsigned long long)row->after_count);
}

static void add_total(struct tare_emit *e, const struct tare_diff_total *t, bool is_used)
{
	struct row row = { .is_before = t->is_before,
		               .is_after = t->is_after,
		               .before = t->before,
		               .after = t->after,
		               .difference = tare_sat_sub(t->after, t->before) };

	tare_str_add(&row.shown, is_used ? "used" : "all");
	tare_emit_add_as(e, &row, (struct tare_row_look){ .tone = TARE_TONE_STRONG });
	tare_emit_rule(e);
	tare_str_free(&row.shown);
}

static void add_row(struct tare_emit *e, const struct tare_diff *d, const struct tare_diff_row *r, bool without_process)
{
	struct row row = row_of(d, r);

	add_label(&row.shown, d, r, without_process);
	if (has_counts(r))
		add_counts(&row.shown, r);
	if (r->call)
		tare_str_addf(&row.shown, " · %s", r->call);
	tare_emit_add_as(e, &row, (struct tare_row_look){ .level = 1, .is_whole = r->call != NULL });
	tare_str_free(&row.shown);
}

/* What stands below the rows of a place instead of in them. */
struct below {
	size_t same, tiny;                  /* rows: without a change, with one that shows as 0.0 */
	const struct tare_diff_row *counts; /* the first with counts, or NULL */
};

static bool is_same(const struct tare_diff_row *row)
{
	return row->before == row->after && (!row->before || row->before_count == row->after_count);
}

/* 0 bytes of what the other side does not have: that is not the same on both. `unexplained` says so of a whole report. */
static bool is_nothing(const struct tare_diff_row *row)
{
	return !row->before && !row->after && row->is_before != row->is_after &&
	       (!row->account || strcmp(row->account, "unexplained") != 0);
}

static bool shows_as_nothing(int64_t bytes)
{
	return bytes > -TARE_UNITS_LEAST && bytes < TARE_UNITS_LEAST;
}

/* Rows that did not change, or by next to nothing, are only counted; `unexplained` is always a row. */
static struct below add_rows(struct tare_emit *e, const struct tare_diff *d, int place)
{
	bool without_process = is_of_one_process(d);
	const struct tare_diff_row *unexplained = NULL;
	struct below below = { 0 };

	for (size_t i = 0; i < d->row_nr; i++) {
		const struct tare_diff_row *row = &d->rows[i];

		if (row->place != place || !row->is_leaf || is_nothing(row))
			continue;
		if (row->account && !strcmp(row->account, "unexplained"))
			unexplained = row;
		else if (d->by != TARE_BY_RESIDUE && !tare_diff_is_of_changes(d->by) && is_same(row))
			below.same++;
		else if (!tare_diff_is_of_changes(d->by) && shows_as_nothing(row->before) && shows_as_nothing(row->after))
			below.tiny++;
		else {
			add_row(e, d, row, without_process);
			if (!below.counts && has_counts(row))
				below.counts = row;
		}
	}
	if (unexplained) {
		struct row row = row_of(d, unexplained);

		tare_str_add(&row.shown, unexplained->short_label);
		tare_emit_add_as(e, &row, (struct tare_row_look){ .tone = TARE_TONE_STRONG });
		tare_str_free(&row.shown);
	}
	return below;
}

static void say_below(struct tare_emit *e, const struct below *below)
{
	TARE_FREED_BY(tare_str_free) struct tare_str counts = { 0 };

	if (below->counts) {
		add_counts(&counts, below->counts);
		tare_emit_note(e, " %s: so many before, so many after", tare_str_text(&counts));
	}
	if (below->same)
		tare_emit_note(e, "  %zu row%s the same on both sides", below->same, below->same == 1 ? " is" : "s are");
	if (below->tiny)
		tare_emit_note(e, "  %zu row%s next to nothing on both sides", below->tiny, below->tiny == 1 ? " is" : "s are");
}

static bool has_rows(const struct tare_diff *d, int place)
{
	for (size_t i = 0; i < d->row_nr; i++)
		if (d->rows[i].place == place && (d->rows[i].before || d->rows[i].after || tare_diff_is_of_changes(d->by)))
			return true;
	return false;
}

static void add_name(struct tare_str *title, const struct tare_diff_place *place)
{
	const char *name = place->name ? place->name : "";

	if (place->index == TARE_HEAP_ORDINAL) {
		tare_str_add(title, name);
		return;
	}
	tare_device_text_place(title, place->index);
	tare_str_addf(title, "  %s", name);
}

static void show_place(struct tare_emit *e, const struct tare_diff *d, int place)
{
	const struct tare_diff_total *t = &d->totals[place];
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };
	struct below below;

	if (t->place->index >= 0)
		add_name(&title, t->place);
	else
		tare_str_add(&title, "CPU  tensors");
	if (t->place->host)
		tare_str_addf(&title, " on %s", t->place->host);
	if (d->by == TARE_BY_RESIDUE)
		tare_emit_shape(e, TARE_SHAPE_TREE, "rows", tare_str_text(&title), TARE_COLUMNS(residue_columns));
	else
		tare_emit_shape(e, TARE_SHAPE_TREE, "rows", tare_str_text(&title), TARE_COLUMNS(people_columns));
	if (!tare_diff_is_of_changes(d->by))
		add_total(e, t, t->place->is_counted);
	below = add_rows(e, d, place);
	tare_emit_table_end(e);
	say_below(e, &below);
	tare_emit_gap(e);
}

static void say_side(struct tare_emit *e, const char *head, const struct tare_diff_side *s, bool is_of_changes)
{
	char text[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	tare_str_add(&line, s->source ? s->source : "a report without a name");
	if (!is_of_changes)
		tare_str_addf(&line, " at %s", s->at ? s->at : "an instant without a name");
	if (!is_of_changes && s->t_ns >= 0 && s->at && !strncmp(s->at, "peak", 4))
		tare_str_addf(&line, " (%s)", tare_units_duration(text, s->t_ns));
	if (s->is_simulated)
		tare_str_add(&line, ", of a simulated GPU");
	tare_emit_term(e, TARE_TONE_QUIET, head, tare_str_text(&line));
}

static void show_people(struct tare_emit *e, const struct tare_diff *d)
{
	bool is_of_changes = tare_diff_is_of_changes(d->by), is_any = false;

	say_side(e, "before  ", &d->before, is_of_changes);
	say_side(e, "after   ", &d->after, is_of_changes);
	tare_emit_gap(e);
	for (size_t i = 0; i < d->total_nr; i++) {
		if (!has_rows(d, (int)i))
			continue;
		show_place(e, d, (int)i);
		is_any = true;
	}
	if (!is_any)
		tare_emit_paragraph(e, "Neither side has any memory to compare%s%s%s%s", d->by < 0 ? "" : " by ",
		                    d->by < 0 ? "" : tare_by_infos[d->by].name, d->before.note ? ": " : "",
		                    d->before.note ? d->before.note : "");
	say_degraded(e, "before", &d->before);
	say_degraded(e, "after", &d->after);
}

void tare_diff_show(struct tare_emit *e, const struct tare_diff *diff)
{
	(tare_emit_is_for_people(e) ? show_people : show_data)(e, diff);
}
