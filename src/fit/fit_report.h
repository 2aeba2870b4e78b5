/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_FIT_REPORT_H
#define TARE_FIT_FIT_REPORT_H

#include "base/owned.h"
#include "fit/fit.h"

/* What a fit says in words. */
enum tare_fit_finding_kind {
	TARE_FIT_FINDING_PROPORTIONAL, /* doubling the parameter (nearly) doubles the quantity */
	TARE_FIT_FINDING_LINEAR,
	TARE_FIT_FINDING_CURVED,
	TARE_FIT_FINDING_WEAK,
	TARE_FIT_FINDING_NONE,      /* the parameter is in no law */
	TARE_FIT_FINDING_LEVELS,    /* the parameter is categorical */
	TARE_FIT_FINDING_ONE_VALUE, /* the parameter had one value only */
};

struct tare_fit_finding {
	const char *param;
	enum tare_fit_finding_kind kind;
	bool is_assumed;       /* the parameter had two values, and any curve goes through two values */
	double per_step;       /* mean growth when the parameter grows by 1; of a number */
	TARE_OWNED char *text; /* a sentence without the dot */
};

struct tare_fit_report {
	TARE_OWNED char **laws;   /* as laws.count: "69 MiB + 0.31 MiB × seq × batch" */
	TARE_OWNED size_t *cells; /* cells in which each law is the greatest */
	size_t law_count;
	TARE_OWNED struct tare_fit_finding *findings;
	size_t finding_count;
	TARE_OWNED char **cautions; /* sentences: where data are too few, and what is assumed */
	size_t caution_count, caution_cap;
	TARE_OWNED char *next; /* the cell to run next: "d_model=1024 layers=8", or NULL */
	TARE_OWNED char *next_why;
};

/* The unit of the target, for texts. */
struct tare_unit {
	bool is_bytes;
	const char *name; /* "MiB", "s"; "" where nothing is known */
};
bool tare_unit_is_size(const char *target); /* by its name: what is below 0 in it is a mistake */
struct tare_unit tare_unit_of(const struct tare_problem *p);
void tare_unit_add(const struct tare_unit *unit, double v, struct tare_str *out); /* "41.2 MiB" */

void tare_fit_report_make(const struct tare_problem *p, const struct tare_fitted *f, struct tare_fit_report *out);
TARE_FREES(tare_fit_report_free, tare_fit_report);

const char *tare_fit_finding_name(enum tare_fit_finding_kind kind);  /* "weak" */
const char *tare_fit_strength_name(enum tare_fit_strength strength); /* "law", "weak", "none" */

#endif
