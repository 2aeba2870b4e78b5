/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the rows of a sweep as data. */
#include "view/sweep.h"

#include "base/xalloc.h"

#include <stddef.h>
#include <stdlib.h>

struct row {
	struct tare_str status;
	struct tare_summary_cell of;
	bool has_run, is_slowed;
	const char *values[]; /* of the parameters, which each sweep has of its own */
};

#define SAID .unknown = TARE_UNKNOWN_NEGATIVE

static const struct tare_column label = TARE_COLUMN(row, of.label, "label", NULL, TEXT);

/* Behind the label and the parameters. */
static const struct tare_column fixed[] = {
	TARE_COLUMN(row, status, "status", NULL, TEXT),
	TARE_COLUMN(row, of.runs, "runs", NULL, COUNT),
	TARE_COLUMN(row, of.ended[TARE_RUN_OK], "ok", NULL, COUNT),
	TARE_COLUMN(row, of.ended[TARE_RUN_OOM], "oom", NULL, COUNT),
	TARE_COLUMN(row, of.ended[TARE_RUN_FAILED], "failed", NULL, COUNT),
	TARE_COLUMN(row, of.ended[TARE_RUN_TIMEOUT], "timeout", NULL, COUNT),
	TARE_COLUMN(row, of.seconds, "seconds", NULL, NUMBER),
	TARE_COLUMN(row, of.sd, "seconds_sd", NULL, NUMBER),
	TARE_COLUMN(row, of.whole, "whole_seconds", NULL, NUMBER),
	TARE_COLUMN(row, of.peak, "peak_bytes", NULL, BYTES, SAID),
	TARE_COLUMN(row, of.need, "need_bytes", NULL, BYTES, SAID),
	TARE_COLUMN(row, of.elastic, "elastic_bytes", NULL, BYTES, SAID),
	TARE_COLUMN(row, of.resident, "resident_bytes", NULL, BYTES, SAID),
	TARE_COLUMN(row, of.left, "left_bytes", NULL, BYTES, SAID),
	TARE_COLUMN(row, of.unexplained, "unexplained_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.refused, "refused", NULL, COUNT),
	TARE_COLUMN(row, of.retries, "retries", NULL, COUNT),
	TARE_COLUMN(row, of.retry_seconds, "retry_seconds", NULL, NUMBER),
	TARE_COLUMN(row, of.driver_seconds, "driver_seconds", NULL, NUMBER),
	TARE_COLUMN(row, is_slowed, "memory_slowed", NULL, FLAG, .when = TARE_WHEN(row, has_run)),
	TARE_COLUMN(row, of.rate, "rate", NULL, NUMBER),
	TARE_COLUMN(row, of.speedup, "speedup", NULL, NUMBER),
	TARE_COLUMN(row, of.hours, "hours", NULL, NUMBER),
};
enum { FIXED = sizeof(fixed) / sizeof(fixed[0]) };

static void add_cell(struct tare_emit *e, const struct tare_summary *s, const struct tare_summary_cell *c)
{
	TARE_FREED_HERE struct row *row = tare_xcalloc(1, sizeof(*row) + s->param_nr * sizeof(row->values[0]));

	row->of = *c;
	row->has_run = c->runs > 0;
	row->is_slowed = tare_sweep_is_pressed(c);
	for (size_t i = 0; i < s->param_nr; i++)
		row->values[i] = c->values[i];
	tare_sweep_add_status(&row->status, c);
	tare_emit_add(e, row);
	tare_str_free(&row->status);
}

void tare_sweep_data(struct tare_emit *e, const struct tare_summary *s)
{
	TARE_FREED_HERE struct tare_column *columns = tare_xcalloc(s->param_nr + FIXED + 1, sizeof(*columns));
	size_t n = 0;

	columns[n++] = label;
	for (size_t i = 0; i < s->param_nr; i++)
		columns[n++] = (struct tare_column){
			.key = s->params[i].name,
			.kind = TARE_COL_TEXT,
			.type = TARE_FIELD_TEXT,
			.offset = offsetof(struct row, values) + i * sizeof(const char *),
		};
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
}
