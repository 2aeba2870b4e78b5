/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the ledgers of a report and prints them in the chosen format. */
#include "cmd/report.h"

#include "base/print.h"
#include "base/xalloc.h"
#include "cmd/format.h"
#include "cmd/output.h"
#include "ledger/driver_time.h"
#include "view/ledger_view.h"
#include "view/by.h"
#include "view/phase.h"
#include "view/serving.h"

#include <stdlib.h>
#include <string.h>

static const struct tare_instant peak_and_end[] = {
	{ .moment = TARE_MOMENT_PEAK, .text = "peak" },
	{ .moment = TARE_MOMENT_END, .text = "end" },
};

/* The ledgers of a report and, where a process was asked for, the same as that process sees them. */
struct ledgers {
	struct tare_ledger *whole, *filtered;
	const struct tare_ledger **shown;
	int count;
};

static void build(struct ledgers *l, struct tare_recording *recording, const struct tare_report_options *o)
{
	bool shows_tensors = o->line || o->annotate || (o->by >= 0 && tare_by_infos[o->by].flags & TARE_BY_TENSORS);
	bool shows_lines = o->line || o->annotate || o->by >= 0;
	struct tare_ledger_opts opts = { .without_heap_lines = !shows_lines, .without_tensors = !shows_tensors };
	int n = o->instant_nr;

	*l = (struct ledgers){ .count = n };
	l->whole = tare_xcalloc((size_t)n, sizeof(*l->whole));
	l->filtered = tare_xcalloc((size_t)n, sizeof(*l->filtered));
	l->shown = tare_xcalloc((size_t)n, sizeof(*l->shown));
	tare_ledger_of_recording(recording, &opts, o->instants, n, l->whole);
	for (int i = 0; i < n && o->by < 0; i++)
		if (o->instants[i].kind == TARE_INSTANT_MOMENT && o->instants[i].moment == TARE_MOMENT_PEAK)
			tare_report_replay(&l->whole[i], recording);
	for (int i = 0; i < n; i++) {
		l->shown[i] = &l->whole[i];
		if (o->pid < 0)
			continue;
		tare_filter_process(&l->whole[i], o->pid, &l->filtered[i]);
		l->shown[i] = &l->filtered[i];
	}
}

static void discard(struct ledgers *l)
{
	for (int i = 0; i < l->count; i++) {
		if (l->shown[i] == &l->filtered[i])
			tare_filter_free(&l->filtered[i]);
		tare_ledger_free(&l->whole[i]);
	}
	free(l->whole);
	free(l->filtered);
	free(l->shown);
}

static struct tare_by_ask ask_of(const struct ledgers *l, const struct tare_report_options *o)
{
	return (struct tare_by_ask){
		.by = (enum tare_by)o->by, .ledgers = l->shown, .ledger_nr = l->count, .pid = o->pid, .graphs = o->graphs
	};
}

/* What is the same at every instant stands only in the first ledger. */
static void write_json_by(struct tare_emit *e, const struct ledgers *l, const struct tare_report_options *o, int i)
{
	struct tare_by_ask ask = ask_of(l, o);

	ask.ledgers = &l->shown[i];
	ask.ledger_nr = 1;
	if (!i || !(tare_by_infos[o->by].flags & TARE_BY_OF_RECORDING) || !tare_by_is_any(&ask))
		tare_by_show(e, &ask);
}

static void write_json(struct tare_emit *e, const struct ledgers *l, const struct tare_report_options *o)
{
	for (int i = 0; i < l->count; i++) {
		if (i == 1)
			tare_emit_open(e, "also", '[');
		if (i)
			tare_emit_open(e, NULL, '{');
		tare_ledger_json(e, l->shown[i]);
		if (o->by >= 0)
			write_json_by(e, l, o, i);
		if (i)
			tare_emit_close(e);
	}
	if (l->count > 1)
		tare_emit_close(e);
}

/* Data that has tables only. */
static void write_tables(struct tare_emit *e, const struct ledgers *l, const struct tare_report_options *o)
{
	struct tare_by_ask ask = ask_of(l, o);

	if (o->by >= 0)
		tare_by_show(e, &ask);
	else
		tare_ledger_csv(e, l->shown, l->count);
}

static void write_people(struct tare_emit *e, const struct ledgers *l, const struct tare_report_options *o)
{
	const struct tare_ledger *last = l->shown[l->count - 1];
	struct tare_emit before = *e;
	struct tare_by_ask ask = ask_of(l, o);
	size_t start = e->out->len, begin;

	if (o->by < 0) {
		tare_ledger_text(e, l->shown, l->count);
		return;
	}
	tare_loss_text(e, last);
	begin = e->out->len;
	tare_by_show(e, &ask);
	if (e->out->len == begin) {
		/* Without a GPU there may be nothing to group: then what there is of the CPU. */
		before.is_sorted = e->is_sorted;
		before.sort_names = e->sort_names;
		*e = before;
		tare_str_cut(e->out, start);
		tare_ledger_text(e, l->shown, l->count);
		return;
	}
	if (!(tare_by_infos[o->by].flags & TARE_BY_OWN_NOTES && tare_by_is_any(&ask)))
		tare_degraded_text(e, last);
}

static void begin(struct tare_emit *e, FILE *out, struct tare_str *text, const struct tare_recording *recording,
                  const struct tare_report_options *o)
{
	tare_emit_begin(e, o->format, text);
	tare_emit_simulated(e, tare_recording_is_simulated(recording));
	if (!o->is_file)
		e->style = tare_terminal_style(out);
	e->sort = o->sort;
	if (o->page)
		tare_emit_page(e, "Memory of %s", o->page);
}

/* 0, or that no table has the column that rows are to be ordered by. */
static int finish(struct tare_emit *e, struct tare_err *err)
{
	int rc = tare_format_check_sort(e, err);

	tare_emit_end(e);
	return rc;
}

static int write_ledgers(FILE *out, struct tare_str *text, const struct ledgers *l,
                         const struct tare_recording *recording, const struct tare_report_options *o,
                         struct tare_err *err)
{
	struct tare_emit e;

	begin(&e, out, text, recording, o);
	if (tare_emit_is_for_people(&e))
		write_people(&e, l, o);
	else if (tare_emit_has_members(&e))
		write_json(&e, l, o);
	else
		write_tables(&e, l, o);
	return finish(&e, err);
}

/* Up to the last instant that was asked for; the peak and the end stand for all of it. */
static void say_degraded(struct tare_emit *e, const char *sentence)
{
	tare_emit_str(e, NULL, sentence);
	tare_emit_alarm(e, "degraded: %s", sentence);
}

static int write_time(FILE *out, struct tare_str *text, struct tare_recording *recording,
                      const struct tare_report_options *o, struct tare_err *err)
{
	const struct tare_instant *last = &o->instants[o->instant_nr - 1];
	struct tare_time_opts opts = { .pid = o->pid, .until_ns = INT64_MAX };
	struct tare_time_rows rows;
	struct tare_emit e;

	if (last->kind == TARE_INSTANT_TIME)
		opts.until_ns = last->t_ns;
	tare_driver_time_of_recording(recording, &opts, &rows);
	begin(&e, out, text, recording, o);
	tare_emit_uint(&e, "tare", 1);
	tare_time_view(&e, &rows);
	tare_emit_open(&e, "degraded", '[');
	for (int i = 0; i < tare_recording_note_nr(recording); i++)
		say_degraded(&e, tare_recording_note(recording, i));
	if (rows.is_cut)
		say_degraded(&e, "calls whose events went to keep the recording under its cap are "
		                 "not counted here");
	tare_emit_close(&e);
	tare_driver_time_free(&rows);
	return finish(&e, err);
}

static int check_pid(struct tare_recording *recording, int64_t pid, struct tare_err *err)
{
	struct tare_str known = { 0 };

	for (int i = 0; i < tare_recording_process_nr(recording); i++) {
		const struct tare_process *p = tare_recording_process(recording, i);

		if (p->role != TARE_ROLE_PROGRAM)
			continue;
		if (pid < 0 || (int64_t)p->pid == pid) {
			tare_str_free(&known);
			return 0;
		}
		tare_str_addf(&known, "%s%u (%s)", known.len ? ", " : "", p->pid, p->program);
	}
	if (pid < 0)
		return 0;
	tare_err_set(err, TARE_E_NOT_FOUND, "no process %lld was recorded; there is %s", (long long)pid,
	             known.len ? tare_str_text(&known) : "none at all");
	tare_str_free(&known);
	return TARE_E_NOT_FOUND;
}

static int write_line(FILE *out, struct tare_str *text, const struct ledgers *l, const struct tare_recording *recording,
                      const struct tare_report_options *o, struct tare_err *err)
{
	struct tare_emit e;
	int rc;

	begin(&e, out, text, recording, o);
	rc = tare_report_line(&e, l->shown, l->count, recording, o, err);
	if (rc)
		return rc;
	tare_degraded_text(&e, l->shown[l->count - 1]);
	return finish(&e, err);
}

static int write_out(FILE *out, const char *file, struct tare_str *text, struct tare_err *err)
{
	int rc;

	if (file)
		return tare_cmd_write_file(file, text, err);
	rc = tare_print(out, text);
	return rc ? tare_err_set_errno(err, -rc, "the report cannot be written") : 0;
}

static int write(FILE *out, struct tare_str *text, struct tare_recording *recording,
                 const struct tare_report_options *o, struct tare_err *err)
{
	struct tare_report_options own = *o;
	struct ledgers l;
	int rc;

	if (o->is_time)
		return write_time(out, text, recording, o, err);
	build(&l, recording, o);
	if (o->is_plain && tare_phases_are_printed(l.shown[0])) {
		own.by = TARE_BY_PHASE;
		o = &own;
	}
	if (o->line || o->annotate)
		rc = write_line(out, text, &l, recording, o, err);
	else
		rc = write_ledgers(out, text, &l, recording, o, err);
	discard(&l);
	return rc;
}

/* One moment, with everything that was there. */
static bool is_of_all(const struct tare_report_options *o)
{
	return o->instant_nr == 1 && o->by < 0 && !o->is_time && !o->line && !o->annotate && o->pid < 0;
}

static int write_dropped(FILE *out, struct tare_str *text, struct tare_recording *recording,
                         const struct tare_report_options *o, struct tare_err *err)
{
	struct tare_emit e;

	begin(&e, out, text, recording, o);
	tare_report_dropped(&e, recording, o->instants);
	return finish(&e, err);
}

/* Has a server given its cache back before the end? */
static bool is_over_at_end(struct tare_recording *recording, const struct tare_report_options *o)
{
	struct tare_report_options at_end = *o;
	struct tare_instant end = peak_and_end[1];
	struct ledgers l;
	bool is_over;

	at_end.instants = &end;
	at_end.instant_nr = 1;
	build(&l, recording, &at_end);
	is_over = !tare_serving_is_found(l.shown[0]);
	discard(&l);
	return is_over;
}

int tare_report_write(struct tare_str *text, FILE *out, struct tare_recording *recording,
                      const struct tare_report_options *options, struct tare_err *err)
{
	struct tare_report_options o = *options;
	const struct tare_instant *asked = o.instants;
	struct tare_instant *instants;
	int rc = check_pid(recording, o.pid, err);

	if (!o.instant_nr && rc == 0 && o.by >= 0 && tare_by_infos[o.by].flags & TARE_BY_AT_END) {
		o.instant_nr = 1;
		asked = is_over_at_end(recording, &o) ? peak_and_end : peak_and_end + 1;
	}
	if (!o.instant_nr) {
		o.is_plain = o.by < 0 && !o.is_time && !o.line && !o.annotate;
		asked = peak_and_end;
		/* Of ranks the peak says it all: at the end most have given back what they held. */
		o.instant_nr = o.is_time || (o.by >= 0 && tare_by_infos[o.by].flags & TARE_BY_AT_PEAK) ? 1 : 2;
	}
	instants = tare_xcalloc((size_t)o.instant_nr, sizeof(*instants));
	memcpy(instants, asked, (size_t)o.instant_nr * sizeof(*instants));
	o.instants = instants;
	if (rc == 0)
		rc = tare_instants_settle(recording, instants, o.instant_nr, err);
	if (rc == TARE_E_RANGE && is_of_all(&o) && tare_report_is_dropped(recording, instants))
		rc = write_dropped(out, text, recording, &o, err);
	else if (rc == 0)
		rc = write(out, text, recording, &o, err);
	free(instants);
	return rc;
}

int tare_report_print(FILE *out, const char *file, struct tare_recording *recording,
                      const struct tare_report_options *options, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	int rc = tare_report_write(&text, out, recording, options, err);

	if (rc == 0)
		rc = write_out(out, file, &text, err);
	return rc;
}
