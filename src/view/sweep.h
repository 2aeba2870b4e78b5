/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a sweep: for people, and as data. */
#ifndef TARE_VIEW_SWEEP_H
#define TARE_VIEW_SWEEP_H

#include "base/emit.h"
#include "sweep/summary.h"

/* What somebody said that an account takes: "context", "allocations/PyTorch", or "total". */
struct tare_sweep_claim {
	const char *name;
	int64_t bytes;
};

struct tare_sweep_view {
	const struct tare_summary *summary;
	const struct tare_sweep_claim *claims;
	size_t claim_nr;
};

void tare_sweep_text(struct tare_emit *e, const struct tare_sweep_view *view);

/* JSON (docs/JSON.md) or CSV: a row per cell. */
void tare_sweep_data(struct tare_emit *e, const struct tare_summary *s);

/* What the parts of the report share. */
void tare_sweep_add_rate(struct tare_str *out, double value); /* four digits, wherever the point is */
void tare_sweep_heading(struct tare_emit *e, const char *text);
/* "ok", "out of memory", "2 of 3 ok, failed (exit 1)" */
void tare_sweep_add_status(struct tare_str *out, const struct tare_summary_cell *c);
bool tare_sweep_is_ok(const struct tare_summary_cell *c); /* every run of it */
/* It was short of memory: refused some, or made to give back what was cached. */
bool tare_sweep_is_pressed(const struct tare_summary_cell *c);
const char *tare_sweep_unit(const struct tare_summary *s); /* of the first work, else "run" */

/* sweep_tables.c, sweep_breakdown.c, sweep_words.c: sections */
void tare_sweep_configurations(struct tare_emit *e, const struct tare_summary *s);
void tare_sweep_pressure(struct tare_emit *e, const struct tare_summary *s);
void tare_sweep_breakdown(struct tare_emit *e, const struct tare_sweep_view *view);
void tare_sweep_works(struct tare_emit *e, const struct tare_summary *s);
void tare_sweep_recommend(struct tare_emit *e, const struct tare_summary *s);

#endif
