/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory in the course of single steps, for pictures: the time of each is cut into equal parts, and of each part the most is kept. Made
 * in a fold of its own, which has to know when the steps are.
 */
#ifndef TARE_LEDGER_STEP_CURVES_H
#define TARE_LEDGER_STEP_CURVES_H

#include "base/owned.h"
#include "ledger/ledger.h"

enum { TARE_STEP_PARTS = 64 };

struct tare_step_curve {
	const struct tare_training *of; /* in the ledger that the steps are of */
	const struct tare_training_mark *mark;
	bool is_last;                                         /* of its training */
	int64_t used[TARE_STEP_PARTS], live[TARE_STEP_PARTS]; /* -1: not known */
};

/* Those of one memory. */
struct tare_step_range {
	size_t next, end; /* of its curves, those that are not over */
	int64_t until_ns; /* so far they are known */
};

struct tare_step_curves {
	TARE_OWNED struct tare_step_curve *items; /* by memory, then by time */
	size_t nr;
	TARE_OWNED struct tare_step_range *ranges; /* of CPUs, then by tare_device.index */
	int range_nr;
};

/* Of all marks of a ledger; `ledger` has to stay. Then tare_ledger_opts.step_curves. */
void tare_step_curves_begin(struct tare_step_curves *out, const struct tare_ledger *ledger);
TARE_FREES(tare_step_curves_free, tare_step_curves);

/* Is a step under way there, or one to come? */
static inline bool tare_step_curves_wait(const struct tare_step_curves *curves, int memory)
{
	const struct tare_step_range *r = curves && memory + 1 < curves->range_nr ? &curves->ranges[memory + 1] : NULL;

	return r && r->next < r->end;
}

#endif
