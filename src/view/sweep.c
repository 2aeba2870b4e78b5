/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a sweep for people. */
#include "view/sweep.h"

#include "base/simulated.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

/* ---- shared ---- */

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

void tare_sweep_heading(struct tare_emit *e, const char *text)
{
	tare_emit_gap(e);
	tare_emit_heading(e, "%s", text);
}

bool tare_sweep_is_ok(const struct tare_summary_cell *c)
{
	return c->runs && c->ended[TARE_RUN_OK] == c->runs;
}

bool tare_sweep_is_pressed(const struct tare_summary_cell *c)
{
	return c->ended[TARE_RUN_OOM] || c->retries || c->refused;
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

static void add_head(struct tare_emit *e, const struct tare_summary *s)
{
	TARE_FREED_BY(tare_str_free) struct tare_str facts = { 0 };
	char text[TARE_UNITS_TEXT_MAX];
	int runs = 0;

	for (size_t i = 0; i < s->cell_nr; i++)
		runs += s->cells[i].runs;
	tare_emit_title(e, "Sweep: %s", s->command ? s->command : s->path);
	tare_str_addf(&facts, "%zu configuration%s, %d run%s", s->cell_nr, s->cell_nr == 1 ? "" : "s", runs,
	              runs == 1 ? "" : "s");
	if (s->gpu) {
		tare_str_addf(&facts, " · %s%s", s->gpu, tare_simulated_mark(s->is_simulated));
		if (s->gpu_bytes >= 0)
			tare_str_addf(&facts, ", %s MiB", tare_units_mib(text, s->gpu_bytes));
		if (s->card_bytes >= 0)
			tare_str_addf(&facts, " standing for a card of %s MiB", tare_units_mib(text, s->card_bytes));
	}
	if (s->is_cpu) {
		tare_str_add(&facts, " · CPU");
		if (s->memory_bytes >= 0)
			tare_str_addf(&facts, ", %s MiB of memory", tare_units_mib(text, s->memory_bytes));
	}
	tare_str_addf(&facts, " · %s · %s · Tare %s", s->host ? s->host : "–", s->date, s->tare ? s->tare : "–");
	tare_emit_paragraph(e, "%s", tare_str_text(&facts));
}

/* A run that is slower and does more is not a slower configuration: the two are told apart in words. */
static void add_ratios(struct tare_emit *e, const struct tare_summary *s)
{
	const struct tare_summary_cell *base = &s->cells[s->baseline];
	int said = 0;

	for (size_t i = 0; s->work_nr && i < s->cell_nr && said < 4; i++) {
		const struct tare_summary_cell *c = &s->cells[i];
		double runs = base->seconds / c->seconds;

		if (i == s->baseline || isnan(c->speedup) || c->amounts[0] == base->amounts[0] ||
		    (runs < 1) == (c->speedup < 1))
			continue;
		if (!said)
			tare_emit_gap(e);
		tare_emit_item(e,
		               "%s: %s takes %.2f × as long (%.2f × the speed per run) and does %.2f × the %s: %.2f × the "
		               "%s/s%s",
		               c->label, s->timed ? s->timed : "a run", 1 / runs, runs, c->amounts[0] / base->amounts[0],
		               s->works[0], c->speedup, s->works[0],
		               tare_summary_differs(s, i, s->baseline) || isnan(c->sd) ? "" : ", within the scatter");
		said++;
	}
}

/* ---- notes ---- */

static void add_notes(struct tare_emit *e, const struct tare_summary *s)
{
	bool has_heading = false;

#define HEADING()                                                                                                      \
	do {                                                                                                               \
		if (!has_heading)                                                                                              \
			tare_sweep_heading(e, "Notes");                                                                            \
		has_heading = true;                                                                                            \
	} while (0)
	for (size_t i = 0; i < s->param_nr; i++) {
		if (!s->params[i].is_without_effect)
			continue;
		HEADING();
		tare_emit_item(e, "%s changed nothing: memory, driver calls and output are the same for all its values%s",
		               s->params[i].name,
		               s->params[i].in_command
		                   ? "; does the program read it?"
		                   : "; it is not in the command, and the program does not seem to read the "
		                     "environment variable");
	}
	for (size_t i = 0; i < s->cell_nr; i++) {
		const struct tare_summary_cell *c = &s->cells[i];

		if (!c->note || (i && s->cells[i - 1].note && !strcmp(s->cells[i - 1].note, c->note)))
			continue;
		HEADING();
		tare_emit_item(e, "%s: %s", c->label, c->note);
	}
#undef HEADING
}

void tare_sweep_text(struct tare_emit *e, const struct tare_sweep_view *view)
{
	const struct tare_summary *s = view->summary;

	add_head(e, s);
	if (!s->cell_nr) {
		tare_emit_gap(e);
		tare_emit_paragraph(e, "There are no configurations in it.");
		return;
	}
	tare_sweep_recommend(e, s);
	tare_sweep_configurations(e, s);
	add_ratios(e, s);
	tare_sweep_works(e, s);
	tare_sweep_breakdown(e, view);
	tare_sweep_pressure(e, s);
	add_notes(e, s);
}
