/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sweep.h"

#include "base/units.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shared ---- */

static void add_number(struct tare_doc *d, double value, int digits)
{
	if (isnan(value))
		tare_doc_cell(d, "–");
	else
		tare_doc_cell(d, "%.*f", digits, value);
}

void tare_sweep_add_rate(struct tare_str *out, double value)
{
	char text[TARE_UNITS_TEXT_MAX];

	if (isnan(value))
		tare_str_add(out, "–");
	else if (value >= 1000 && value < 1e15)
		tare_str_add(out, tare_units_count(text, (uint64_t)(value + 0.5)));
	else
		tare_str_addf(out, "%.4g", value);
}

static void add_rate(struct tare_doc *d, double value)
{
	struct tare_str text = { 0 };

	tare_sweep_add_rate(&text, value);
	tare_doc_cell(d, "%s", tare_str_text(&text));
	tare_str_free(&text);
}

void tare_sweep_add_mib(struct tare_doc *d, int64_t bytes)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_doc_cell(d, "%s", bytes < 0 ? "–" : tare_units_mib(text, bytes));
}

bool tare_sweep_is_ok(const struct tare_summary_cell *c)
{
	return c->runs && c->ended[TARE_RUN_OK] == c->runs;
}

const char *tare_sweep_unit(const struct tare_summary *s)
{
	return s->work_nr ? s->works[0] : "run";
}

void tare_sweep_add_status(struct tare_str *out, const struct tare_summary_cell *c)
{
	bool is_mixed = c->ended[TARE_RUN_OK] && c->ended[TARE_RUN_OK] < c->runs, is_first = true;

	if (!c->runs) {
		tare_str_add(out, "not run");
		return;
	}
	for (int i = 0; i < TARE_RUN_STATUS_NR; i++) {
		if (!c->ended[i])
			continue;
		tare_str_add(out, is_first ? "" : ", ");
		if (is_mixed)
			tare_str_addf(out, "%d of %d ", c->ended[i], c->runs);
		tare_str_add(out, tare_run_status_texts[i]);
		if (i == TARE_RUN_FAILED)
			tare_str_addf(out, " (exit %d)", c->exit_code);
		if (i == TARE_RUN_OOM && c->is_host_oom)
			tare_str_add(out, " (host)");
		is_first = false;
	}
}

/* ---- the head ---- */

static void add_head(struct tare_doc *d, const struct tare_summary *s)
{
	struct tare_str facts = { 0 };
	char text[TARE_UNITS_TEXT_MAX];
	int runs = 0;

	for (size_t i = 0; i < s->cell_nr; i++)
		runs += s->cells[i].runs;
	tare_doc_title(d, "Sweep: %s", s->command ? s->command : s->path);
	tare_str_addf(&facts, "%zu configuration%s, %d run%s", s->cell_nr,
		      s->cell_nr == 1 ? "" : "s", runs, runs == 1 ? "" : "s");
	if (s->gpu) {
		tare_str_addf(&facts, " · %s%s", s->gpu, s->is_simulated ? " (simulated)" : "");
		if (s->gpu_bytes >= 0)
			tare_str_addf(&facts, ", %s MiB", tare_units_mib(text, s->gpu_bytes));
		if (s->card_bytes >= 0)
			tare_str_addf(&facts, " standing for a card of %s MiB",
				      tare_units_mib(text, s->card_bytes));
	}
	tare_str_addf(&facts, " · %s · %s · Tare %s", s->host ? s->host : "–", s->date,
		      s->tare ? s->tare : "–");
	tare_doc_paragraph(d, "%s", tare_str_text(&facts));
	tare_str_free(&facts);
}

/* ---- configurations ---- */

static const char *keepf(struct tare_doc *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static const char *keepf(struct tare_doc *d, const char *fmt, ...)
{
	struct tare_str text = { 0 };
	const char *out;
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(&text, fmt, ap);
	va_end(ap);
	out = tare_arena_strdup(&d->memory, tare_str_text(&text));
	tare_str_free(&text);
	return out;
}

static enum tare_text_tone tone_of(const struct tare_summary *s, size_t cell)
{
	const struct tare_summary_cell *c = &s->cells[cell];

	if (cell == s->best)
		return TARE_TONE_STRONG;
	if (!c->runs || c->ended[TARE_RUN_OPEN] == c->runs)
		return TARE_TONE_QUIET;
	return tare_sweep_is_ok(c) ? TARE_TONE_PLAIN : TARE_TONE_ALARM;
}

static size_t add_params(struct tare_doc_column *columns, const struct tare_summary *s)
{
	for (size_t i = 0; i < s->param_nr; i++)
		columns[i] = (struct tare_doc_column){ s->params[i].name, s->params[i].is_numeric };
	return s->param_nr;
}

static void add_values(struct tare_doc *d, const struct tare_summary *s,
		       const struct tare_summary_cell *c)
{
	for (size_t i = 0; i < s->param_nr; i++)
		tare_doc_cell(d, "%s", c->values[i]);
}

static void add_configurations(struct tare_doc *d, const struct tare_summary *s)
{
	struct tare_doc_column *columns =
		tare_xcalloc(s->param_nr + s->work_nr + 9, sizeof(*columns));
	size_t n = add_params(columns, s);
	bool has_total = s->work_nr && !isnan(s->total);

	tare_doc_heading(d, "Configurations");
	columns[n++] = (struct tare_doc_column){ "STATUS", false };
	columns[n++] = (struct tare_doc_column){ "TIME s", true };
	if (s->timed)
		columns[n++] = (struct tare_doc_column){ keepf(d, "IN %s s", s->timed), true };
	columns[n++] = (struct tare_doc_column){ "± s", true };
	columns[n++] = (struct tare_doc_column){ "MEMORY MiB", true };
	columns[n++] = (struct tare_doc_column){ "SPEED-UP", true };
	for (size_t w = 0; w < s->work_nr; w++)
		columns[n++] = (struct tare_doc_column){ keepf(d, "%s/s", s->works[w]), true };
	if (has_total)
		columns[n++] =
			(struct tare_doc_column){ keepf(d, "HOURS for %.10g", s->total), true };
	tare_doc_table(d, columns, n);
	for (size_t i = 0; i < s->cell_nr; i++) {
		const struct tare_summary_cell *c = &s->cells[i];
		struct tare_str status = { 0 };

		add_values(d, s, c);
		tare_sweep_add_status(&status, c);
		tare_doc_cell(d, "%s", tare_str_text(&status));
		tare_str_free(&status);
		if (s->timed)
			add_number(d, c->whole, c->whole < 10 ? 3 : 2);
		add_number(d, c->seconds, c->seconds < 10 ? 3 : 2);
		add_number(d, c->sd, c->seconds < 10 ? 3 : 2);
		tare_sweep_add_mib(d, c->peak);
		if (isnan(c->speedup))
			tare_doc_cell(d, "–");
		else
			tare_doc_cell(d, "%.2f ×", c->speedup);
		for (size_t w = 0; w < s->work_nr; w++)
			add_rate(d, c->amounts[w] / c->seconds);
		if (has_total)
			add_rate(d, c->hours);
		tare_doc_row(d, tone_of(s, i));
	}
	free(columns);
	tare_doc_paragraph(
		d,
		"Time is the mean of a configuration's runs that were ok, with the standard deviation of one run. "
		"Memory is what the program held on its fullest GPU at the peak, context and code included. "
		"Speed-up is in %s/s, against %s.",
		s->work_nr ? s->works[0] : "runs", s->cells[s->baseline].label);
	if (s->timed)
		tare_doc_paragraph(
			d,
			"Speeds are those of the phase '%s', and ± is its scatter; what a run does before and after it is "
			"taken to be needed once%s.",
			s->timed, has_total ? ", in the hours too" : "");
}

/* A run that is slower and does more is not a slower configuration: the two are told apart in words. */
static void add_ratios(struct tare_doc *d, const struct tare_summary *s)
{
	const struct tare_summary_cell *base = &s->cells[s->baseline];
	int said = 0;

	for (size_t i = 0; s->work_nr && i < s->cell_nr && said < 4; i++) {
		const struct tare_summary_cell *c = &s->cells[i];
		double runs = base->seconds / c->seconds;

		if (i == s->baseline || isnan(c->speedup) || c->amounts[0] == base->amounts[0] ||
		    (runs < 1) == (c->speedup < 1))
			continue;
		tare_doc_item(
			d,
			"%s: %s takes %.2f × as long (%.2f × the speed per run) and does %.2f × the %s: %.2f × the "
			"%s/s%s",
			c->label, s->timed ? s->timed : "a run", 1 / runs, runs,
			c->amounts[0] / base->amounts[0], s->works[0], c->speedup, s->works[0],
			tare_summary_differs(s, i, s->baseline) || isnan(c->sd)
				? ""
				: ", within the scatter");
		said++;
	}
}

/* ---- pressure ---- */

static void add_verdict(struct tare_doc *d, const struct tare_summary_cell *c)
{
	if (c->ended[TARE_RUN_OOM])
		tare_doc_cell(d, c->is_host_oom ? "ran out of host memory" : "ran out");
	else if (c->retries)
		tare_doc_cell(d, "gave back its cache %lld time%s", (long long)c->retries,
			      c->retries == 1 ? "" : "s");
	else if (c->refused)
		tare_doc_cell(d, "was refused");
	else
		tare_doc_cell(d, c->runs ? "none" : "–");
}

static void add_pressure(struct tare_doc *d, const struct tare_summary *s)
{
	struct tare_doc_column *columns = tare_xcalloc(s->param_nr + 8, sizeof(*columns));
	size_t n = add_params(columns, s);

	tare_doc_heading(d, "Memory pressure");
	columns[n++] = (struct tare_doc_column){ "PRESSURE", false };
	columns[n++] = (struct tare_doc_column){ "REFUSED", true };
	columns[n++] = (struct tare_doc_column){ "RETRIES", true };
	columns[n++] = (struct tare_doc_column){ "IN REFUSED CALLS ms", true };
	columns[n++] = (struct tare_doc_column){ "IN THE DRIVER s", true };
	columns[n++] = (struct tare_doc_column){ "OF THE TIME %", true };
	columns[n++] = (struct tare_doc_column){ "ELASTIC MiB", true };
	columns[n++] = (struct tare_doc_column){ "LEFT MiB", true };
	tare_doc_table(d, columns, n);
	free(columns);
	for (size_t i = 0; i < s->cell_nr; i++) {
		const struct tare_summary_cell *c = &s->cells[i];

		add_values(d, s, c);
		add_verdict(d, c);
		tare_doc_cell(d, "%lld", (long long)c->refused);
		tare_doc_cell(d, "%lld", (long long)c->retries);
		add_number(d, c->retry_seconds * 1000, 1);
		add_number(d, c->driver_seconds, 3);
		add_number(d, 100 * c->driver_seconds / c->whole, 1);
		tare_sweep_add_mib(d, c->elastic);
		tare_sweep_add_mib(d, c->left);
		tare_doc_row(d, c->ended[TARE_RUN_OOM] ? TARE_TONE_ALARM : TARE_TONE_PLAIN);
	}
	tare_doc_paragraph(
		d,
		"A retry is a call that was refused before its program got memory after all: an allocator "
		"that had to give back what it cached. Elastic memory was taken because there was room. Left "
		"is what the card still had at the peak.");
}

/* ---- notes ---- */

static void add_notes(struct tare_doc *d, const struct tare_summary *s)
{
	bool has_heading = false;

#define HEADING()                                                                                  \
	do {                                                                                       \
		if (!has_heading)                                                                  \
			tare_doc_heading(d, "Notes");                                              \
		has_heading = true;                                                                \
	} while (0)
	for (size_t i = 0; i < s->param_nr; i++) {
		if (!s->params[i].is_without_effect)
			continue;
		HEADING();
		tare_doc_item(
			d,
			"%s changed nothing: memory, driver calls and output are the same for all its values%s",
			s->params[i].name,
			s->params[i].in_command
				? "; does the program read it?"
				: "; it is not in the command, and the program does not seem to read the "
				  "environment variable");
	}
	for (size_t i = 0; i < s->cell_nr; i++) {
		const struct tare_summary_cell *c = &s->cells[i];

		if (!c->note ||
		    (i && s->cells[i - 1].note && !strcmp(s->cells[i - 1].note, c->note)))
			continue;
		HEADING();
		tare_doc_item(d, "%s: %s", c->label, c->note);
	}
#undef HEADING
}

void tare_sweep_doc(struct tare_doc *d, const struct tare_sweep_view *view)
{
	const struct tare_summary *s = view->summary;

	add_head(d, s);
	if (!s->cell_nr) {
		tare_doc_paragraph(d, "There are no configurations in it.");
		return;
	}
	tare_sweep_recommend(d, s);
	add_configurations(d, s);
	add_ratios(d, s);
	tare_sweep_works(d, s);
	tare_sweep_breakdown(d, view);
	add_pressure(d, s);
	add_notes(d, s);
}
