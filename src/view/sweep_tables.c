/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with a row per configuration: its times, memory and speeds, and how short of memory it was. */
#include "view/sweep.h"

#include "base/arena.h"
#include "base/units.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

/* Parameters, and what else is not the same in every sweep, are texts. */
struct row {
	struct tare_str status;
	struct tare_summary_cell of;
	double refused_ms, driver_percent;
	const char *verdict;
	const char *texts[];
};

struct table {
	struct tare_emit *e;
	const struct tare_summary *s;
	struct tare_column *columns;
	size_t column_nr, text_nr, filled;
	struct row *row;
	struct tare_arena memory;
};

static const char *keepf(struct tare_arena *memory, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static const char *keepf(struct tare_arena *memory, const char *fmt, ...)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(&text, fmt, ap);
	va_end(ap);
	return tare_arena_strdup(memory, tare_str_text(&text));
}

static void add_column(struct table *t, struct tare_column column)
{
	t->columns[t->column_nr++] = column;
}

static void add_text_column(struct table *t, const char *head, bool is_number)
{
	add_column(t, (struct tare_column){
					  .head = head,
					  .kind = is_number ? TARE_COL_COUNT : TARE_COL_TEXT,
					  .type = TARE_FIELD_TEXT,
					  .offset = offsetof(struct row, texts) + t->text_nr++ * sizeof(const char *),
				  });
}

/* Begins with the parameters; more columns follow. */
static void begin_table(struct table *t, struct tare_emit *e, const struct tare_summary *s)
{
	*t = (struct table){ .e = e, .s = s };
	t->columns = tare_xcalloc(s->param_nr + s->work_nr + 12, sizeof(*t->columns));
	for (size_t i = 0; i < s->param_nr; i++)
		add_text_column(t, s->params[i].name, s->params[i].is_numeric);
}

static void open_table(struct table *t, const char *key)
{
	t->row = tare_xcalloc(1, sizeof(*t->row) + t->text_nr * sizeof(t->row->texts[0]));
	tare_emit_table(t->e, key, NULL, t->columns, t->column_nr);
}

static void begin_row(struct table *t, const struct tare_summary_cell *c)
{
	t->row->of = *c;
	t->filled = 0;
	for (size_t i = 0; i < t->s->param_nr; i++)
		t->row->texts[t->filled++] = c->values[i];
}

static void add_rate(struct table *t, double value)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	tare_sweep_add_rate(&text, value);
	t->row->texts[t->filled++] = tare_arena_strdup(&t->memory, tare_str_text(&text));
}

/* As many digits as suit the time that it belongs to. */
static void add_seconds(struct table *t, double value, double of)
{
	t->row->texts[t->filled++] = isnan(value) ? NULL : keepf(&t->memory, "%.*f", of < 10 ? 3 : 2, value);
}

static void end_row(struct table *t, enum tare_text_tone tone)
{
	tare_emit_add_as(t->e, t->row, (struct tare_row_look){ .tone = tone });
	tare_str_cut(&t->row->status, 0);
}

static void end_table(struct table *t)
{
	tare_emit_table_end(t->e);
	tare_str_free(&t->row->status);
	tare_arena_free(&t->memory);
	free(t->columns);
	free(t->row);
}

/* ---- configurations ---- */

#define SAID .unknown = TARE_UNKNOWN_NEGATIVE

static const struct tare_column status_column = TARE_COLUMN(row, status, NULL, "STATUS", TEXT);
static const struct tare_column memory_column = TARE_COLUMN(row, of.peak, NULL, "MEMORY", BYTES, SAID);

/* Of runs on the CPU. */
static const struct tare_column tensors_column = TARE_COLUMN(row, of.peak, NULL, "TENSORS", BYTES, SAID);
static const struct tare_column resident_column = TARE_COLUMN(row, of.resident, NULL, "RESIDENT", BYTES, SAID);

static enum tare_text_tone tone_of(const struct tare_summary *s, size_t cell)
{
	const struct tare_summary_cell *c = &s->cells[cell];

	if (cell == s->best)
		return TARE_TONE_STRONG;
	if (!c->runs || c->ended[TARE_RUN_OPEN] == c->runs)
		return TARE_TONE_QUIET;
	return tare_sweep_is_ok(c) ? TARE_TONE_PLAIN : TARE_TONE_ALARM;
}

static bool has_scatter(const struct tare_summary *s)
{
	for (size_t i = 0; i < s->cell_nr; i++)
		if (!isnan(s->cells[i].sd))
			return true;
	return false;
}

static bool has_total(const struct tare_summary *s)
{
	return s->work_nr && !isnan(s->total);
}

static void choose_columns(struct table *t)
{
	const struct tare_summary *s = t->s;

	add_column(t, status_column);
	if (s->timed)
		add_text_column(t, "TIME s", true);
	add_text_column(t, s->timed ? keepf(&t->memory, "IN %s s", s->timed) : "TIME s", true);
	if (has_scatter(s))
		add_text_column(t, "± s", true);
	if (s->is_cpu) {
		add_column(t, tensors_column);
		add_column(t, resident_column);
	} else {
		add_column(t, memory_column);
	}
	add_text_column(t, "SPEED-UP", true);
	for (size_t w = 0; w < s->work_nr; w++)
		add_text_column(t, keepf(&t->memory, "%s/s", s->works[w]), true);
	if (has_total(s))
		add_text_column(t, keepf(&t->memory, "HOURS for %.10g", s->total), true);
}

static void explain(struct tare_emit *e, const struct tare_summary *s)
{
	tare_emit_gap(e);
	tare_emit_paragraph(
		e, "Time is %s. %s Speed-up is in %s/s, against %s.",
		has_scatter(s) ? "the mean of a configuration's runs that were ok, with the standard deviation of one run"
					   : "that of the one run that was ok",
		s->is_cpu ? "Tensors are what PyTorch had asked for on the CPU when that was most, "
					"resident is the most that the program's processes had in memory, as Linux says, with its "
					"libraries and all."
				  : "Memory is what the program held on its fullest GPU at the peak, context and code included.",
		s->work_nr ? s->works[0] : "runs", s->cells[s->baseline].label);
	if (!s->timed)
		return;
	tare_emit_gap(e);
	tare_emit_paragraph(
		e,
		"Speeds are those of the phase '%s', and ± is its scatter; what a run does before and after it is "
		"taken to be needed once%s.",
		s->timed, has_total(s) ? ", in the hours too" : "");
}

void tare_sweep_configurations(struct tare_emit *e, const struct tare_summary *s)
{
	struct table t;

	tare_sweep_heading(e, "Configurations");
	begin_table(&t, e, s);
	choose_columns(&t);
	open_table(&t, "configurations");
	for (size_t i = 0; i < s->cell_nr; i++) {
		const struct tare_summary_cell *c = &s->cells[i];

		begin_row(&t, c);
		tare_sweep_add_status(&t.row->status, c);
		if (s->timed)
			add_seconds(&t, c->whole, c->whole);
		add_seconds(&t, c->seconds, c->seconds);
		if (has_scatter(s))
			add_seconds(&t, c->sd, c->seconds);
		t.row->texts[t.filled++] = isnan(c->speedup) ? NULL : keepf(&t.memory, "%.2f ×", c->speedup);
		for (size_t w = 0; w < s->work_nr; w++)
			add_rate(&t, c->amounts[w] / c->seconds);
		if (has_total(s))
			add_rate(&t, c->hours);
		end_row(&t, tone_of(s, i));
	}
	end_table(&t);
	explain(e, s);
}

/* ---- pressure ---- */

static const char *verdict_of(struct table *t, const struct tare_summary_cell *c)
{
	if (c->ended[TARE_RUN_OOM])
		return c->is_host_oom ? "ran out of host memory" : "ran out";
	if (c->retries)
		return keepf(&t->memory, "gave back its cache %lld time%s", (long long)c->retries, c->retries == 1 ? "" : "s");
	return "was refused";
}

static const struct tare_column pressure_columns[] = {
	TARE_COLUMN(row, verdict, NULL, "PRESSURE", TEXT),
	TARE_COLUMN(row, of.refused, NULL, "REFUSED", COUNT),
	TARE_COLUMN(row, of.retries, NULL, "RETRIES", COUNT),
	TARE_COLUMN(row, refused_ms, NULL, "IN REFUSED CALLS ms", NUMBER, .digits = 1),
	TARE_COLUMN(row, of.driver_seconds, NULL, "IN THE DRIVER s", NUMBER, .digits = 3),
	TARE_COLUMN(row, driver_percent, NULL, "OF THE TIME %", NUMBER, .digits = 1),
	TARE_COLUMN(row, of.elastic, NULL, "ELASTIC", BYTES, SAID),
	TARE_COLUMN(row, of.left, NULL, "LEFT", BYTES, SAID),
};

/* The CPU has no driver, and no allocator there gives back what it cached. */
static const struct tare_column cpu_pressure_columns[] = {
	TARE_COLUMN(row, verdict, NULL, "PRESSURE", TEXT),
	TARE_COLUMN(row, of.refused, NULL, "REFUSED", COUNT),
	TARE_COLUMN(row, of.left, NULL, "LEFT", BYTES, SAID),
};

static void add_pressure_columns(struct table *t)
{
	const struct tare_column *columns = t->s->is_cpu ? cpu_pressure_columns : pressure_columns;
	size_t n = t->s->is_cpu ? sizeof(cpu_pressure_columns) / sizeof(*cpu_pressure_columns)
	                        : sizeof(pressure_columns) / sizeof(*pressure_columns);

	for (size_t i = 0; i < n; i++)
		add_column(t, columns[i]);
}

static void add_pressed(struct tare_emit *e, const struct tare_summary *s)
{
	struct table t;

	begin_table(&t, e, s);
	add_pressure_columns(&t);
	open_table(&t, "pressure");
	for (size_t i = 0; i < s->cell_nr; i++) {
		const struct tare_summary_cell *c = &s->cells[i];

		if (!tare_sweep_is_pressed(c))
			continue;
		begin_row(&t, c);
		t.row->verdict = verdict_of(&t, c);
		t.row->refused_ms = c->retry_seconds * 1000;
		t.row->driver_percent = 100 * c->driver_seconds / c->whole;
		end_row(&t, c->ended[TARE_RUN_OOM] ? TARE_TONE_ALARM : TARE_TONE_PLAIN);
	}
	end_table(&t);
	tare_emit_gap(e);
	tare_emit_paragraph(
		e, "%s",
		s->is_cpu ? "Refused are allocations for which the system had no memory. Left is what the machine, or the "
					"limit of the container, has beyond what was resident."
				  : "A retry is a call that was refused before its program got memory after all: an allocator "
					"that had to give back what it cached. Elastic memory was taken because there was room. Left "
					"is what the card still had at the peak.");
}

/* A high share of the card in use looks like pressure, and is none as long as nobody was refused any. */
static void add_unpressed(struct tare_emit *e, const struct tare_summary *s, size_t count, bool is_all)
{
	const struct tare_summary_cell *least = NULL;
	char text[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str out = { 0 };

	for (size_t i = 0; i < s->cell_nr; i++) {
		const struct tare_summary_cell *c = &s->cells[i];

		if (c->runs && !tare_sweep_is_pressed(c) && c->left >= 0 && (!least || c->left < least->left))
			least = c;
	}
	if (is_all)
		tare_str_add(&out, "Memory slowed no run: ");
	else
		tare_str_addf(&out, "Memory slowed no run of the other %zu configuration%s: ", count, count == 1 ? "" : "s");
	tare_str_add(&out,
	             s->is_cpu ? "the system refused none" : "no call was refused, and no allocator gave back its cache");
	if (least)
		tare_str_addf(&out, ". The least that was left is %s MiB (%s)", tare_units_mib(text, least->left),
		              least->label);
	tare_str_add(&out, s->is_cpu ? "." : ". How full a card is does not make it slower.");
	if (!is_all)
		tare_emit_gap(e);
	tare_emit_paragraph(e, "%s", tare_str_text(&out));
}

void tare_sweep_pressure(struct tare_emit *e, const struct tare_summary *s)
{
	size_t pressed = 0, ran = 0;

	for (size_t i = 0; i < s->cell_nr; i++) {
		ran += s->cells[i].runs > 0;
		pressed += s->cells[i].runs && tare_sweep_is_pressed(&s->cells[i]);
	}
	if (!ran)
		return;
	tare_sweep_heading(e, "Memory pressure");
	if (pressed)
		add_pressed(e, s);
	if (ran > pressed)
		add_unpressed(e, s, ran - pressed, !pressed);
}
