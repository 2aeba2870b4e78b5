/* SPDX-License-Identifier: Apache-2.0 */
/* What works, what does not, and what to take. */
#include "view/sweep.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	ITEMS_MAX = 16,
	NAMED_MAX = 3, /* configurations that work and are named one by one */
};

static void add_memory(struct tare_str *out, const struct tare_summary *s, const struct tare_summary_cell *c)
{
	int64_t size = s->card_bytes >= 0 ? s->card_bytes : s->gpu_bytes;
	char text[TARE_UNITS_TEXT_MAX];

	if (s->is_cpu) {
		if (c->peak >= 0)
			tare_str_addf(out, ", %s MiB of tensors", tare_units_mib(text, c->peak));
		if (c->resident >= 0)
			tare_str_addf(out, ", %s MiB resident", tare_units_mib(text, c->resident));
		return;
	}
	if (c->peak < 0)
		return;
	tare_str_addf(out, ", %s MiB", tare_units_mib(text, c->peak));
	if (size > 0)
		tare_str_addf(out, " of %s", tare_units_mib(text, size));
}

static void add_why(struct tare_str *out, const struct tare_summary *s, const struct tare_summary_cell *c)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_sweep_add_status(out, c);
	if (c->ended[TARE_RUN_OOM] && c->is_host_oom) {
		tare_str_add(out, ": the system's OOM killer ended it");
	} else if (c->ended[TARE_RUN_OOM]) {
		tare_str_add(out, ": it was refused ");
		if (c->oom_bytes >= 0)
			tare_str_addf(out, "%s MiB more", tare_units_mib(text, c->oom_bytes));
		else
			tare_str_add(out, "more");
		if (c->peak >= 0)
			tare_str_addf(out, " with %s MiB at its peak", tare_units_mib(text, c->peak));
	} else if (c->ended[TARE_RUN_TIMEOUT] && s->timeout_ns) {
		tare_str_addf(out, " after %s", tare_units_duration(text, s->timeout_ns));
	}
}

static void add_item(struct tare_emit *e, const struct tare_summary *s, const struct tare_summary_cell *c)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (tare_sweep_is_ok(c)) {
		tare_str_addf(&text, "%s works", c->label);
		add_memory(&text, s, c);
		if (c->retries)
			tare_str_add(&text, ", under memory pressure");
	} else {
		tare_str_addf(&text, "%s: ", c->label);
		add_why(&text, s, c);
	}
	tare_emit_item(e, "%s", tare_str_text(&text));
}

/* Nothing is to be said of the configuration except that it works. */
static bool is_plain(const struct tare_summary_cell *c)
{
	return tare_sweep_is_ok(c) && !c->retries;
}

/* Configurations that just work, in one line: the table has each of them. */
static void add_plain(struct tare_emit *e, const struct tare_summary *s, size_t plain)
{
	int64_t size = s->card_bytes >= 0 ? s->card_bytes : s->gpu_bytes;
	int64_t least = INT64_MAX, most = -1;
	char text[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str out = { 0 };

	for (size_t i = 0; i < s->cell_nr; i++) {
		const struct tare_summary_cell *c = &s->cells[i];

		if (!is_plain(c) || c->peak < 0)
			continue;
		least = c->peak < least ? c->peak : least;
		most = c->peak > most ? c->peak : most;
	}
	if (plain == s->cell_nr)
		tare_str_addf(&out, "all %zu configurations work", plain);
	else
		tare_str_addf(&out, "%zu of %zu configurations work", plain, s->cell_nr);
	if (most >= 0) {
		tare_str_addf(&out, ", with %s", tare_units_mib(text, least));
		if (most > least)
			tare_str_addf(&out, " to %s", tare_units_mib(text, most));
		tare_str_addf(&out, " MiB%s", s->is_cpu ? " of tensors" : "");
		if (size > 0 && !s->is_cpu)
			tare_str_addf(&out, " of %s", tare_units_mib(text, size));
	}
	tare_emit_item(e, "%s", tare_str_text(&out));
}

void tare_sweep_works(struct tare_emit *e, const struct tare_summary *s)
{
	size_t plain = 0, shown = 0;
	bool is_summed;

	tare_sweep_heading(e, "What works and what does not");
	for (size_t i = 0; i < s->cell_nr; i++)
		plain += is_plain(&s->cells[i]);
	is_summed = plain > NAMED_MAX || (plain > 1 && plain == s->cell_nr);
	if (is_summed)
		add_plain(e, s, plain);
	for (size_t i = 0; i < s->cell_nr && shown < ITEMS_MAX; i++) {
		if (is_summed && is_plain(&s->cells[i]))
			continue;
		add_item(e, s, &s->cells[i]);
		shown++;
	}
	if (shown == ITEMS_MAX && s->cell_nr - (is_summed ? plain : 0) > shown)
		tare_emit_item(e, "%zu more: the table has them", s->cell_nr - (is_summed ? plain : 0) - shown);
}

/* The fastest of the others that works: is the choice larger than the scatter? */
static size_t second_best(const struct tare_summary *s)
{
	size_t found = s->cell_nr;

	for (size_t i = 0; i < s->cell_nr; i++)
		if (i != s->best && tare_sweep_is_ok(&s->cells[i]) && !isnan(s->cells[i].rate) &&
		    (found == s->cell_nr || s->cells[i].rate > s->cells[found].rate))
			found = i;
	return found;
}

static void add_gain(struct tare_str *out, const struct tare_summary *s)
{
	const struct tare_summary_cell *best = &s->cells[s->best];
	size_t second = second_best(s);

	tare_str_addf(out, "%s: ", best->label);
	tare_sweep_add_rate(out, best->rate);
	tare_str_addf(out, " %s/s", s->work_nr ? s->works[0] : "runs");
	if (s->best != s->baseline)
		tare_str_addf(out, ", %.2f × that of %s", best->speedup, s->cells[s->baseline].label);
	if (second == s->cell_nr)
		return;
	if ((isnan(best->sd) || isnan(s->cells[second].sd)) && second == s->baseline)
		tare_str_add(out, ". It was run once, so how much of that is scatter is not known; "
		                  "--repeat 3 tells");
	else if (isnan(best->sd) || isnan(s->cells[second].sd))
		tare_str_addf(out,
		              ". It was run once, so how much of the difference to %s (%.2f ×) is scatter is not known; "
		              "--repeat 3 tells",
		              s->cells[second].label, s->cells[second].speedup);
	else if (!tare_summary_differs(s, s->best, second))
		tare_str_addf(out, ". %s is as fast within the scatter, at %s memory", s->cells[second].label,
		              s->cells[second].peak < best->peak   ? "less"
		              : s->cells[second].peak > best->peak ? "more"
		                                                   : "the same");
}

/* What starts fast may be done first with little work, and what works fast with much. */
static void add_hours(struct tare_str *out, const struct tare_summary *s)
{
	const struct tare_summary_cell *best = &s->cells[s->best], *soonest;

	if (s->soonest == s->cell_nr || isnan(best->hours))
		return;
	tare_str_addf(out, "%.10g %s take %.3g hours", s->total, tare_sweep_unit(s), best->hours);
	soonest = &s->cells[s->soonest];
	if (soonest->hours < best->hours && soonest->rate < best->rate) {
		double later = best->whole - best->seconds - (soonest->whole - soonest->seconds);

		tare_str_addf(out, ", with %s %.3g: it starts sooner, and is ahead up to ", soonest->label, soonest->hours);
		tare_sweep_add_rate(out, later / (1 / soonest->rate - 1 / best->rate));
		tare_str_addf(out, " %s", tare_sweep_unit(s));
	}
	tare_str_add(out, ". ");
}

void tare_sweep_recommend(struct tare_emit *e, const struct tare_summary *s)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	char mib[TARE_UNITS_TEXT_MAX];

	tare_sweep_heading(e, "Recommendation");
	if (s->best == s->cell_nr) {
		tare_emit_paragraph(e, "None: no configuration has worked in every run.");
		return;
	}
	add_gain(&text, s);
	tare_str_add(&text, ". ");
	if (!s->work_nr && second_best(s) < s->cell_nr)
		tare_str_add(&text, "Every run counts as one, however much it does: --work says how "
		                    "much. ");
	add_hours(&text, s);
	if (s->cells[s->best].left >= 0)
		tare_str_addf(&text, "%s MiB of the %s are left at its peak.", tare_units_mib(mib, s->cells[s->best].left),
		              s->is_cpu ? "memory" : "card");
	tare_emit_paragraph(e, "%s", tare_str_text(&text));
}
