/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sweep.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

/* Behind the columns of parameters and works, which each sweep has of its own. */
static const struct tare_column fixed[] = {
	{ "status", NULL, TARE_COL_TEXT },
	{ "runs", NULL, TARE_COL_COUNT },
	{ "ok", NULL, TARE_COL_COUNT },
	{ "oom", NULL, TARE_COL_COUNT },
	{ "failed", NULL, TARE_COL_COUNT },
	{ "timeout", NULL, TARE_COL_COUNT },
	{ "seconds", NULL, TARE_COL_NUMBER },
	{ "seconds_sd", NULL, TARE_COL_NUMBER },
	{ "whole_seconds", NULL, TARE_COL_NUMBER },
	{ "peak_bytes", NULL, TARE_COL_BYTES },
	{ "need_bytes", NULL, TARE_COL_BYTES },
	{ "elastic_bytes", NULL, TARE_COL_BYTES },
	{ "left_bytes", NULL, TARE_COL_BYTES },
	{ "unexplained_bytes", NULL, TARE_COL_BYTES },
	{ "refused", NULL, TARE_COL_COUNT },
	{ "retries", NULL, TARE_COL_COUNT },
	{ "retry_seconds", NULL, TARE_COL_NUMBER },
	{ "driver_seconds", NULL, TARE_COL_NUMBER },
	{ "rate", NULL, TARE_COL_NUMBER },
	{ "speedup", NULL, TARE_COL_NUMBER },
	{ "hours", NULL, TARE_COL_NUMBER },
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

	columns[n++] = (struct tare_column){ "label", NULL, TARE_COL_TEXT };
	for (size_t i = 0; i < s->param_nr; i++)
		columns[n++] = (struct tare_column){ s->params[i].name, NULL, TARE_COL_TEXT };
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
