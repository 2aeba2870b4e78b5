/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs of programs that print what NVML says: "precon: used: 1204 MiB, diff: 24 MiB". Each such line becomes a phase with
 * what stands before the figures for its name: from what was in use before (`used` less `diff`, or what the
 * line before said) to what is printed. Nothing is known of what was in use between two prints.
 */
#include "base/str.h"
#include "base/units.h"
#include "import/import_reader.h"
#include "import/printed_line.h"

#include <stdio.h>
#include <string.h>

enum { DEVICES_MAX = 64 };

/* Where a log has no times, each line with figures is taken to stand for this. */
#define STEP_NS INT64_C(1000000000)

struct device {
	int ordinal; /* 1 + that of the recording; 0: not seen */
	bool is_known;
	int64_t used;
};

struct reader {
	struct tare_import_job *job;
	struct device devices[DEVICES_MAX];
	struct tare_printed_line pending; /* `used` without `diff`, which may stand on the next line */
	uint64_t pending_nr;
	bool is_pending;
	char heading[sizeof(((struct tare_printed_line *)0)->label)]; /* a line of text above the figures */
	uint64_t first_unreadable, without_unit, decimal, without_time, without_used;
	int64_t first_ns, last_ns; /* of the times that are printed; the recording's */
	bool has_time;
};

static int64_t time_of(struct reader *r, const struct tare_printed_line *line)
{
	int64_t t = r->last_ns + STEP_NS;

	if (line->has_time && !r->has_time) {
		r->first_ns = line->time_ns - r->last_ns;
		r->has_time = true;
	}
	if (r->has_time)
		t = line->has_time ? line->time_ns - r->first_ns : r->last_ns;
	r->without_time += !line->has_time;
	/* What add_figures() records of a line is at four times. */
	return t > r->last_ns + 3 ? t : r->last_ns + 4;
}

static struct device *device_of(struct reader *r, const struct tare_printed_line *line)
{
	int index = line->device >= 0 && line->device < DEVICES_MAX ? line->device : 0;
	struct device *d = &r->devices[index];
	int64_t total = -1;

	if (d->ordinal)
		return d;
	if (line->total.is_there)
		total = tare_printed_bytes(&line->total, &r->job->options->units);
	d->ordinal = 1 + tare_import_device(r->job->out, "as printed", index, total > 0 ? (uint64_t)total : TARE_NOT_KNOWN);
	return d;
}

static void count_unit(struct reader *r, const struct tare_printed_figure *f)
{
	r->decimal += f->is_there && f->is_decimal && !r->job->options->units.is_binary;
	r->without_unit += f->is_there && f->unit == 0 && !r->job->options->units.plain;
}

static void count_unreadable(struct reader *r, uint64_t line_nr)
{
	if (!r->job->result->unreadable++)
		r->first_unreadable = line_nr;
}

/* One of the two figures may be without its unit: "used: 1204, diff: 24 MiB". */
static void share_unit(struct tare_printed_figure *a, struct tare_printed_figure *b)
{
	if (a->unit == 0 && b->is_there) {
		a->unit = b->unit;
		a->is_decimal = b->is_decimal;
	}
}

static void add_figures(struct reader *r, struct tare_printed_line *line, uint64_t line_nr)
{
	const struct tare_import_units *units = &r->job->options->units;
	struct device *d = device_of(r, line);
	int64_t used, before, diff, begin_ns = r->last_ns + 1, t;
	char name[32];

	share_unit(&line->used, &line->diff);
	share_unit(&line->diff, &line->used);
	/* A small difference without a unit is in what `used` is in. */
	if (line->used.is_there && line->diff.is_there && line->used.unit == 0 && !units->plain &&
	    tare_printed_bytes(&line->used, units) == (int64_t)line->used.number)
		line->used.unit = line->diff.unit = 1;
	diff = line->diff.is_there ? tare_printed_bytes(&line->diff, units) : 0;
	used = line->used.is_there ? tare_printed_bytes(&line->used, units) : d->used + diff;
	before = line->diff.is_there ? used - diff : d->is_known ? d->used : used;
	if (used < 0 || before < 0) {
		count_unreadable(r, line_nr);
		return;
	}
	count_unit(r, &line->used);
	count_unit(r, &line->diff);
	r->without_used += !line->used.is_there && !d->is_known;
	t = time_of(r, line);
	snprintf(name, sizeof(name), "line %llu", (unsigned long long)line_nr);
	if (!d->is_known || before != d->used)
		tare_import_used(r->job->out, begin_ns, d->ordinal - 1, (uint64_t)before);
	tare_import_phase(r->job->out, begin_ns + 1, TARE_PHASE_PUSH,
	                  line->label[0]  ? line->label
	                  : r->heading[0] ? r->heading
	                                  : name);
	tare_import_used(r->job->out, t - 1, d->ordinal - 1, (uint64_t)used);
	tare_import_phase(r->job->out, t, TARE_PHASE_POP, NULL);
	d->used = used;
	d->is_known = true;
	r->last_ns = t;
	r->heading[0] = '\0';
	r->job->result->taken++;
}

static void settle_pending(struct reader *r)
{
	if (r->is_pending)
		add_figures(r, &r->pending, r->pending_nr);
	r->is_pending = false;
}

static void take_figures(struct reader *r, struct tare_printed_line *line, uint64_t line_nr)
{
	if (r->is_pending && !line->used.is_there && !line->label[0] && !r->pending.diff.is_there) {
		r->pending.diff = line->diff;
		settle_pending(r);
		return;
	}
	settle_pending(r);
	if (!line->used.is_there && line->diff.unit == 0 && !r->job->result->taken)
		return; /* "diff: 3" of some other program */
	if (!line->diff.is_there) {
		r->pending = *line;
		r->pending_nr = line_nr;
		r->is_pending = true;
		return;
	}
	add_figures(r, line, line_nr);
}

static void take_line(struct reader *r, const char *text, uint64_t line_nr)
{
	struct tare_printed_line line;

	switch (tare_printed_line(text, &line)) {
	case TARE_PRINTED_FIGURES:
		take_figures(r, &line, line_nr);
		return;
	case TARE_PRINTED_UNREADABLE:
		settle_pending(r);
		count_unreadable(r, line_nr);
		return;
	case TARE_PRINTED_TEXT:
		settle_pending(r);
		if (line.label[0])
			memcpy(r->heading, line.label, sizeof(r->heading));
		return;
	}
}

/* What was read, and what had to be taken for granted, is one sentence in every report. */
static void add_notes(struct reader *r)
{
	struct tare_str text = { 0 };
	char n[TARE_UNITS_TEXT_MAX];

	tare_str_addf(&text,
	              "a program printed these figures (%s): what was in use between two prints is not "
	              "known, so PEAK is the larger of both",
	              tare_import_in_path(r->job->in));
	if (!r->has_time)
		tare_str_add(&text, "; the lines have no times, each stands for a second");
	else if (r->without_time)
		tare_str_addf(&text, "; %s lines have no time and are at the one before", tare_units_count(n, r->without_time));
	if (r->decimal)
		tare_str_add(&text, "; KB, MB and GB are powers of 1000 (--binary: of 1024)");
	if (r->without_unit)
		tare_str_add(&text, "; figures without a unit are MiB, those from 10,000,000 "
		                    "on bytes (--unit)");
	if (r->without_used)
		tare_str_add(&text, "; what was in use before the first figure is not printed "
		                    "and is taken for 0");
	tare_import_remark(r->job->out, "%s", tare_str_text(&text));
	tare_str_free(&text);
	if (r->job->result->unreadable)
		tare_import_left_out(r->job->out,
		                     "%s line%s `used` or `diff` and no figure that can be; the first is "
		                     "line %llu of %s",
		                     tare_units_count(n, r->job->result->unreadable),
		                     r->job->result->unreadable == 1 ? " says" : "s say",
		                     (unsigned long long)r->first_unreadable, tare_import_in_path(r->job->in));
}

/* What a terminal would show of a line: what stands behind the last return to its begin, without colours. */
static char *as_shown(char *line)
{
	char *begin = strrchr(line, '\r'), *to;

	begin = to = begin ? begin + 1 : line;
	for (const char *from = begin; *from;) {
		if (from[0] != '\033' || from[1] != '[') {
			*to++ = *from++;
			continue;
		}
		from += 2;
		from += strspn(from, "0123456789;?");
		from += *from != '\0';
	}
	*to = '\0';
	return begin;
}

int tare_import_read_printed(struct tare_import_job *job, struct tare_err *err)
{
	struct reader r = { .job = job };
	char *line;
	int rc;

	while ((rc = tare_import_in_line(job->in, &line, err)) > 0)
		take_line(&r, as_shown(line), tare_import_in_line_nr(job->in));
	if (rc < 0)
		return rc;
	settle_pending(&r);
	if (!job->result->taken)
		return tare_err_set(err, TARE_E_EMPTY, "%s: no line has figures such as `used: 1204 MiB, diff: 24 MiB`",
		                    tare_import_in_path(job->in));
	add_notes(&r);
	return 0;
}

static bool has_figures(const char *line)
{
	struct tare_printed_line parsed;

	return tare_printed_line(line, &parsed) == TARE_PRINTED_FIGURES;
}

bool tare_import_is_printed(const char *head, size_t size)
{
	return tare_import_any_line(head, size, has_figures);
}
