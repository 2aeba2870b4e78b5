/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sweep.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

/* Behind the columns of parameters and works, which each sweep has of its own. */
static const struct tare_column fixed[] = {
	TARE_LOOSE("status", NULL, TEXT),
	TARE_LOOSE("runs", NULL, COUNT),
	TARE_LOOSE("ok", NULL, COUNT),
	TARE_LOOSE("oom", NULL, COUNT),
	TARE_LOOSE("failed", NULL, COUNT),
	TARE_LOOSE("timeout", NULL, COUNT),
	TARE_LOOSE("seconds", NULL, NUMBER),
	TARE_LOOSE("seconds_sd", NULL, NUMBER),
	TARE_LOOSE("whole_seconds", NULL, NUMBER),
	TARE_LOOSE("peak_bytes", NULL, BYTES),
	TARE_LOOSE("need_bytes", NULL, BYTES),
	TARE_LOOSE("elastic_bytes", NULL, BYTES),
	TARE_LOOSE("left_bytes", NULL, BYTES),
	TARE_LOOSE("unexplained_bytes", NULL, BYTES),
	TARE_LOOSE("refused", NULL, COUNT),
	TARE_LOOSE("retries", NULL, COUNT),
	TARE_LOOSE("retry_seconds", NULL, NUMBER),
	TARE_LOOSE("driver_seconds", NULL, NUMBER),
	TARE_LOOSE("rate", NULL, NUMBER),
	TARE_LOOSE("speedup", NULL, NUMBER),
	TARE_LOOSE("hours", NULL, NUMBER),
};
enum { FIXED = sizeof(fixed) / sizeof(fixed[0]) };

static void add_number(struct tare_emit *e, double v)
{
	if (isnan(v))
		tare_emit_cell_unknown(e);
	else
		tare_emit_cell_number(e, v);
}

static void add_bytes(struct tare_emit *e, int64_t v)
{
	if (v < 0)
		tare_emit_cell_unknown(e);
	else
		tare_emit_cell_int(e, v);
}

static void add_cell(struct tare_emit *e, const struct tare_summary *s,
		     const struct tare_summary_cell *c)
{
	struct tare_str status = { 0 };

	tare_emit_cell_text(e, c->label);
	for (size_t i = 0; i < s->param_nr; i++)
		tare_emit_cell_text(e, c->values[i]);
	tare_sweep_add_status(&status, c);
	tare_emit_cell_text(e, tare_str_text(&status));
	tare_str_free(&status);
	tare_emit_cell_int(e, c->runs);
	for (int i = TARE_RUN_OK; i <= TARE_RUN_TIMEOUT; i++)
		tare_emit_cell_int(e, c->ended[i]);
	add_number(e, c->seconds);
	add_number(e, c->sd);
	add_number(e, c->whole);
	add_bytes(e, c->peak);
	add_bytes(e, c->need);
	add_bytes(e, c->elastic);
	add_bytes(e, c->left);
	tare_emit_cell_int(e, c->unexplained);
	tare_emit_cell_int(e, c->refused);
	tare_emit_cell_int(e, c->retries);
	add_number(e, c->retry_seconds);
	add_number(e, c->driver_seconds);
	add_number(e, c->rate);
	add_number(e, c->speedup);
	add_number(e, c->hours);
	tare_emit_row(e);
}

void tare_sweep_data(struct tare_emit *e, const struct tare_summary *s)
{
	struct tare_column *columns = tare_xcalloc(s->param_nr + FIXED + 1, sizeof(*columns));
	size_t n = 0;

	columns[n++] = (struct tare_column)TARE_LOOSE("label", NULL, TEXT);
	for (size_t i = 0; i < s->param_nr; i++)
		columns[n++] = (struct tare_column)TARE_LOOSE(s->params[i].name, NULL, TEXT);
	for (size_t i = 0; i < FIXED; i++)
		columns[n++] = fixed[i];
	tare_emit_uint(e, "tare", 1);
	tare_emit_str(e, "command", s->command);
	tare_emit_str(e, "unit", tare_sweep_unit(s));
	tare_emit_str(e, "timed", s->timed);
	tare_emit_str(e, "baseline", s->cell_nr ? s->cells[s->baseline].label : NULL);
	tare_emit_str(e, "best", s->best < s->cell_nr ? s->cells[s->best].label : NULL);
	tare_emit_table(e, "cells", NULL, columns, n);
	for (size_t i = 0; i < s->cell_nr; i++)
		add_cell(e, s, &s->cells[i]);
	tare_emit_table_end(e);
	free(columns);
}
