/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what grows, and from which line. */
#include "view/ledger_view.h"

#include "base/units.h"
#include "ledger/line.h"

#include <string.h>

enum { MAX_ROWS = 6 };

/* ---- for scripts ---- */

struct row {
	double since_seconds;
	struct tare_growth of;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, of.line, "line", NULL, TEXT),
	TARE_COLUMN(row, of.stack, "stack", NULL, TEXT),
	TARE_COLUMN(row, of.module, "module", NULL, TEXT),
	TARE_COLUMN(row, of.what, "what", NULL, TEXT),
	TARE_COLUMN(row, of.pid, "pid", NULL, ID),
	TARE_COLUMN(row, of.generation, "generation", NULL, ID),
	TARE_COLUMN(row, of.program, "program", NULL, TEXT),
	TARE_COLUMN(row, of.device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, of.per_step, "bytes_per_step", NULL, BYTES, .when = TARE_WHEN(row, of.has_steps)),
	TARE_COLUMN(row, of.per_second, "bytes_per_second", NULL, BYTES),
	TARE_COLUMN(row, of.bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(row, since_seconds, "since_seconds", NULL, NUMBER),
	TARE_COLUMN(row, of.confidence, "confidence", NULL, NUMBER),
};

void tare_growth_json(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_table(e, "growth", NULL, TARE_COLUMNS(columns));
	for (int i = 0; i < ledger->growth_nr; i++) {
		const struct tare_growth *g = &ledger->growths[i];

		tare_emit_add(e, &(struct row){ (double)g->since_ns / 1e9, *g });
	}
	tare_emit_table_end(e);
}

/* ---- for people ---- */

struct shown {
	char rate[TARE_UNITS_TEXT_MAX + 16];
	struct tare_str where;
	struct tare_growth of;
};

static const struct tare_column shown_columns[] = {
	TARE_COLUMN(shown, where, "where", "WHERE", TEXT), /* first: on a narrow screen it is cut, and not left out */
	TARE_COLUMN(shown, rate, "rate", "GROWS BY", TEXT, .is_whole = true),
	TARE_COLUMN(shown, of.since_ns, "since", "SINCE", TIME),
	TARE_COLUMN(shown, of.bytes, "bytes", "SO FAR", BYTES),
	TARE_COLUMN(shown, of.confidence, "sure", "SURE", PERCENT),
};

static void add_rate(struct shown *s)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_units_human(text, (uint64_t)(s->of.has_steps ? s->of.per_step : s->of.per_second));
	snprintf(s->rate, sizeof(s->rate), "%s %s", text, s->of.has_steps ? "a step" : "a second");
}

/* A file of another tool may be of a board, or of a process: its device is none. */
static bool is_gpu(const struct tare_ledger *ledger, int device)
{
	for (int i = 0; i < ledger->device_nr; i++)
		if (ledger->devices[i].index == device)
			return tare_device_ledger_is_gpu(&ledger->devices[i]);
	return true;
}

static void add_where(struct shown *s, const struct tare_ledger *ledger, bool is_one_process)
{
	const struct tare_growth *g = &s->of;

	if (g->short_line)
		tare_str_addf(&s->where, "%s · ", g->short_line);
	if (g->module)
		tare_str_addf(&s->where, "in %s · ", g->module);
	tare_str_add(&s->where, g->what);
	if (g->device >= 0 && is_gpu(ledger, g->device))
		tare_str_addf(&s->where, ", GPU %d", g->device);
	else if (g->device < 0 && !g->is_resident)
		tare_str_add(&s->where, ", CPU");
	if (!is_one_process)
		tare_str_addf(&s->where, " · %s (pid %lld)", g->program, (long long)g->pid);
}

/* Who called the line: the rest of the stack by which most of it came. */
static void add_callers(struct tare_emit *e, const struct tare_growth *g)
{
	const char *at = g->short_line && g->short_stack ? strstr(g->short_stack, g->short_line) : NULL;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (at)
		at += strlen(g->short_line);
	if (!at || strncmp(at, TARE_LINE_BETWEEN, strlen(TARE_LINE_BETWEEN)) != 0)
		return;
	tare_str_addf(&text, "  most of it by %s", at + strlen(TARE_LINE_BETWEEN));
	tare_emit_line(e, tare_str_text(&text));
}

static bool is_of_one_process(const struct tare_ledger *ledger)
{
	for (int i = 1; i < ledger->growth_nr; i++)
		if (ledger->growths[i].pid != ledger->growths[0].pid)
			return false;
	return true;
}

static bool has_arenas(const struct tare_ledger *ledger)
{
	for (int i = 0; i < ledger->growth_nr; i++)
		if (ledger->growths[i].is_of_python)
			return true;
	return false;
}

void tare_growth_text(struct tare_emit *e, const struct tare_ledger *ledger)
{
	bool is_one = is_of_one_process(ledger);
	int shown = (int)tare_view_most((size_t)ledger->growth_nr, MAX_ROWS);

	if (!ledger->growth_nr)
		return;
	tare_emit_table(e, "growth", "what grows", TARE_COLUMNS(shown_columns));
	for (int i = 0; i < shown; i++) {
		struct shown s = { .of = ledger->growths[i] };

		add_rate(&s);
		add_where(&s, ledger, is_one);
		tare_emit_add(e, &s);
		add_callers(e, &s.of);
		tare_str_free(&s.where);
	}
	tare_emit_table_end(e);
	if (has_arenas(ledger))
		tare_emit_note(
			e,
			"what Python maps is for small objects of many lines: told is the line that came to need more, which may keep nothing "
			"itself; PYTHONMALLOC=malloc tare run --host=full … tells the line of each object");
	if (ledger->growth_nr > shown)
		tare_emit_note(e, "%d more lines grow: tare report --json", ledger->growth_nr - shown);
	tare_emit_gap(e);
}
