/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Trace Event Format of Chrome, which chrome://tracing, Perfetto and Speedscope open: a counter of each GPU whose series are rows,
 * phases as slices, marks, peaks and what ran out of memory as instants.
 */
#include "base/json.h"
#include "base/text.h"
#include "export/course.h"

#include <stdlib.h>
#include <string.h>

enum { PHASES_PID = 1000000 };

/* What began before the recording stands at its begin. */
static double us_of(int64_t t_ns)
{
	return t_ns > 0 ? (double)t_ns / 1e3 : 0;
}

/* Names are what a program was called: viewers show them as they are. */
static void add_name(struct tare_json *j, const char *key, const char *name)
{
	struct tare_str clean = { 0 };

	tare_text_add_name(&clean, name);
	tare_json_str(j, key, tare_str_text(&clean));
	tare_str_free(&clean);
}

static void add_row(struct tare_json *j, const char *name, int64_t bytes)
{
	struct tare_str clean = { 0 };

	tare_text_add_name(&clean, name);
	tare_json_i64(j, tare_str_text(&clean), bytes);
	tare_str_free(&clean);
}

static void begin_event(struct tare_json *j, const char *phase, const char *name, int64_t pid, int64_t tid,
                        int64_t t_ns)
{
	tare_json_open(j, NULL, '{');
	tare_json_str(j, "ph", phase);
	add_name(j, "name", name);
	tare_json_i64(j, "pid", pid);
	tare_json_i64(j, "tid", tid);
	tare_json_number(j, "ts", us_of(t_ns));
}

static void name_process(struct tare_json *j, int64_t pid, const char *name)
{
	begin_event(j, "M", "process_name", pid, 0, 0);
	tare_json_open(j, "args", '{');
	add_name(j, "name", name);
	tare_json_close(j);
	tare_json_close(j);
}

/* Its label, and where an earlier band has the same one, its key besides. */
static void add_band(struct tare_json *j, const struct tare_memory_history_panel *p, int band, int64_t bytes)
{
	struct tare_str label = { 0 };

	tare_str_add(&label, p->bands[band].label);
	for (int i = 0; i < band; i++)
		if (!strcmp(p->bands[i].label, p->bands[band].label)) {
			tare_str_addf(&label, " (%s)", p->bands[band].key);
			break;
		}
	add_row(j, tare_str_text(&label), bytes);
	tare_str_free(&label);
}

static void add_course(struct tare_json *j, const struct tare_export_course *c, int64_t pid)
{
	struct tare_memory_history_point point;
	struct tare_str name = { 0 };

	tare_str_addf(&name, "bytes by %s", c->by);
	for (size_t at = 0; tare_export_course_next(c, &at, &point);) {
		begin_event(j, "C", tare_str_text(&name), pid, 0, point.t_ns);
		tare_json_open(j, "args", '{');
		for (int b = 0; b < c->panel->band_nr; b++)
			add_band(j, c->panel, b, point.bytes[b]);
		tare_json_close(j);
		tare_json_close(j);
	}
	tare_str_free(&name);
}

static void add_spans(struct tare_json *j, const struct tare_memory_history *h)
{
	int nr, *lanes = tare_export_lanes(h, &nr);

	if (h->span_nr)
		name_process(j, PHASES_PID, "phases");
	for (size_t i = 0; i < h->span_nr; i++) {
		const struct tare_memory_history_span *s = &h->spans[i];

		begin_event(j, s->is_mark ? "i" : "X", s->name, PHASES_PID, lanes[i] + 1, s->begin_ns);
		if (s->is_mark)
			tare_json_str(j, "s", "p");
		else
			tare_json_number(j, "dur", us_of(s->end_ns) - us_of(s->begin_ns));
		tare_json_open(j, "args", '{');
		tare_json_u64(j, "count", s->count);
		tare_json_close(j);
		tare_json_close(j);
	}
	free(lanes);
}

/* The moment that was asked for: each row of the ledger by its path. */
static void add_ledger(struct tare_json *j, const struct tare_device_ledger *d, const char *at, int64_t pid)
{
	struct tare_str name = { 0 };

	tare_str_addf(&name, "ledger: %s", at);
	begin_event(j, "i", tare_str_text(&name), pid, 0, d->t_ns);
	tare_str_free(&name);
	tare_json_str(j, "s", "p");
	tare_json_open(j, "args", '{');
	if (d->used != TARE_NOT_KNOWN)
		tare_json_u64(j, "used", d->used);
	for (int i = 0; i < d->row_nr; i++)
		if (tare_row_is_end(&d->rows[i]))
			add_row(j, d->rows[i].path, d->rows[i].bytes);
	tare_json_i64(j, "unexplained", d->unexplained);
	tare_json_close(j);
	tare_json_close(j);
}

static void add_ooms(struct tare_json *j, const struct tare_ledger *l)
{
	for (int i = 0; i < l->oom_nr; i++) {
		const struct tare_oom *o = &l->ooms[i];

		begin_event(j, "i", "out of memory", PHASES_PID, 0, o->t_ns);
		tare_json_str(j, "s", "g");
		tare_json_open(j, "args", '{');
		tare_json_u64(j, "asked", o->asked);
		add_name(j, "source", o->source);
		tare_json_u64(j, "count", o->count);
		tare_json_close(j);
		tare_json_close(j);
	}
}

static void add_data(struct tare_json *j, struct tare_export *x)
{
	tare_export_note_course(x);
	tare_json_open(j, "otherData", '{');
	add_name(j, "title", x->title);
	tare_json_str(j, "exporter", "tare " TARE_VERSION);
	tare_json_str(j, "notes", tare_str_text(&x->notes));
	tare_json_close(j);
}

int tare_export_chrome(struct tare_str *out, struct tare_export *x, struct tare_err *err)
{
	struct tare_json j = { .out = out };
	struct tare_export_courses courses;

	(void)err;
	tare_export_courses_make(&courses, x);
	tare_json_open(&j, NULL, '{');
	tare_json_str(&j, "displayTimeUnit", "ms");
	add_data(&j, x);
	tare_json_open(&j, "traceEvents", '[');
	for (size_t i = 0; i < courses.nr; i++) {
		const struct tare_export_course *c = &courses.items[i];
		int64_t pid = c->panel->device + 2;

		if (!strcmp(c->by, "account"))
			name_process(&j, pid, tare_str_text(&c->name));
		add_course(&j, c, pid);
	}
	for (int i = 0; i < x->ledger->device_nr; i++)
		add_ledger(&j, &x->ledger->devices[i], x->ledger->at, i + 2);
	add_spans(&j, x->by_account);
	add_ooms(&j, x->ledger);
	tare_json_close(&j);
	tare_json_close(&j);
	tare_str_add_char(out, '\n');
	tare_export_courses_free(&courses);
	return 0;
}
