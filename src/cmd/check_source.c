/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the reports that `tare check` takes its figures from, each once. */
#include "cmd/check_source.h"

#include "base/array.h"
#include "base/units.h"
#include "cmd/diff_source.h"
#include "cmd/report.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>

static int write_json(struct tare_str *out, const struct tare_operands *paths, int by, const char *at,
                      struct tare_err *err)
{
	struct tare_report_options o = TARE_REPORT_DEFAULTS;
	struct tare_recording *recording;
	struct tare_instant instant;
	int rc = tare_instant_parse(at, &instant, err);

	if (!rc)
		rc = tare_recording_open_all(&recording, paths->items, paths->count, NULL, err);
	if (rc)
		return rc;
	o.instants = &instant;
	o.instant_nr = 1;
	o.by = by;
	o.format = TARE_EMIT_JSON;
	rc = tare_report_write(out, stdout, recording, &o, err);
	tare_recording_close(recording);
	return rc;
}

static int get(struct tare_check_source *s, int by, const char *at, const struct tare_json_value **out,
               struct tare_err *err)
{
	struct tare_check_report report = { .by = by, .at = at };
	struct tare_str text = { 0 };
	int rc;

	for (size_t i = 0; i < s->nr; i++)
		if (s->reports[i].by == by && !strcmp(s->reports[i].at, at)) {
			*out = s->reports[i].report;
			return 0;
		}
	rc = write_json(&text, s->paths, by, at, err);
	if (!rc)
		rc = tare_json_parse(&s->arena, tare_str_text(&text), text.len, &report.report, err);
	tare_str_free(&text);
	if (rc) {
		tare_err_prefix(err, "%s", s->paths->items[0]);
		return rc;
	}
	TARE_APPEND(s->reports, s->nr, s->cap) = report;
	*out = report.report;
	return 0;
}

/* The row that became most more, where one did. */
static const char *say_row(struct tare_budget *b, const struct tare_diff *d, int place)
{
	char more[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	const char *kept = NULL;

	for (size_t i = 0; i < d->row_nr && !kept; i++) {
		const struct tare_diff_row *r = &d->rows[i];

		if (r->place != place || !r->is_leaf || r->after <= r->before)
			continue;
		tare_str_addf(&text, "%s has %s MiB more than in %s", r->label, tare_units_mib(more, r->after - r->before),
		              d->before.source);
		kept = tare_arena_strdup(&b->arena, tare_str_text(&text));
	}
	return kept;
}

/* A baseline is a run like this one: a few bytes of tensors on the CPU are not what it is there for. */
#define LEAST_MORE 52429 /* from here on a tenth of a MiB is shown */

static bool is_in_both(const struct tare_diff_total *t)
{
	return t->is_before && t->is_after;
}

static void settle(struct tare_budget *b, struct tare_budget_limit *l, const struct tare_diff *d, int i)
{
	const struct tare_diff_total *t = &d->totals[i];
	double most = (double)t->before * (1 + l->share) + (double)l->bytes;
	int64_t limit = most < 0x1p62 ? (int64_t)most : INT64_MAX;

	if (!is_in_both(t)) {
		l->state = TARE_LIMIT_UNKNOWN;
		l->is_known = false;
		l->device = t->place->index;
		l->why = t->is_before ? "only the baseline used it" : "the baseline did not use it";
		return;
	}
	if (l->is_known && t->after - limit <= l->found - l->most)
		return;
	l->is_known = true;
	l->found = t->after;
	l->most = limit;
	l->device = t->place->index;
	l->state = t->after - limit >= LEAST_MORE ? TARE_LIMIT_OVER : TARE_LIMIT_OK;
	l->why = l->state == TARE_LIMIT_OVER ? say_row(b, d, i) : NULL;
}

/*
 * Memory of the host is in a recording as it was asked for: in one alone it is nothing to compare, nor is next to nothing, unless there is
 * nothing else.
 */
static bool is_compared(const struct tare_diff *d, const struct tare_diff_total *t)
{
	bool is_of_host = t->place->index < 0 || t->place->is_heap;
	bool is_any = t->before >= LEAST_MORE || t->after >= LEAST_MORE;

	if (!is_of_host || (is_in_both(t) && is_any))
		return true;
	for (size_t i = 0; i < d->total_nr; i++)
		if (&d->totals[i] != t && is_in_both(&d->totals[i]))
			return false;
	return true;
}

/* As tare diff has it: GPU by GPU what is used, and what the CPU has in tensors. */
static int compare(struct tare_budget *b, struct tare_budget_limit *l, const struct tare_json_value *report,
                   struct tare_err *err)
{
	struct tare_diff d = { .by = -1 };
	bool is_first = true;
	int rc = tare_diff_source_read(&d.before, l->baseline, NULL, -1, err);

	if (!rc)
		rc = tare_diff_read(&d.after, report, -1, NULL, err);
	if (!rc) {
		b->is_simulated |= d.before.is_simulated || d.after.is_simulated;
		tare_diff_build(&d);
		l->state = TARE_LIMIT_UNKNOWN;
		l->why = "neither recording has memory that could be compared";
		for (size_t i = 0; i < d.total_nr; i++)
			if (is_compared(&d, &d.totals[i]) && (is_first || l->is_known)) {
				settle(b, l, &d, (int)i);
				is_first = false;
			}
	}
	tare_diff_free(&d);
	return rc;
}

int tare_check_find(struct tare_check_source *source, struct tare_budget *budget, struct tare_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < budget->nr && !rc; i++) {
		struct tare_budget_limit *l = &budget->limits[i];
		const struct tare_json_value *report;

		rc = get(source, l->by, l->at ? l->at : "peak", &report, err);
		if (rc)
			break;
		if (l->kind == TARE_LIMIT_BASELINE)
			rc = compare(budget, l, report, err);
		else
			rc = tare_budget_find(budget, l, report, err);
		if (rc && l->file)
			tare_err_prefix(err, "%s:%u", l->file, l->line);
		else if (rc)
			tare_err_prefix(err, "check: %s", l->name);
	}
	return rc;
}
