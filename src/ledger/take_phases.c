/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass over phases, many at once. */
#include "ledger/run.h"

/* Phases are of no device. An instant that shows the CPU comes before the first of them behind it; nothing else does. */
void tare_fold_take_phases(struct tare_fold *f, const struct tare_event *e, int64_t until)
{
	int64_t host = f->host_next < f->timed_nr ? f->timed[f->host_next].t_ns : INT64_MAX;
	struct tare_phase_run run;

	if (!f->source->phase_run || !f->source->phase_run(f->source->arg, host < until ? host : until, &run))
		return;
	if (f->last_ns < run.times[run.n - 1])
		f->last_ns = run.times[run.n - 1];
	tare_phases_take_run(&f->parts->phases, f, e->process->index, &run);
	tare_parts_phases(f);
}
