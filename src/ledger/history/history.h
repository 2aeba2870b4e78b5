/* SPDX-License-Identifier: Apache-2.0 */
/* Memory over time, made of the samples that the books keep, and when phases were open. */
#ifndef TARE_LEDGER_HISTORY_H
#define TARE_LEDGER_HISTORY_H

#include "base/map.h"
#include "ledger/core/change.h"
#include "ledger/core/fold.h"
#include "ledger/memory_history.h"
#include "ledger/step_curves.h"

struct tare_device_fold;
struct tare_fold;

/* A phase while it was open, or repeats that a picture would not show apart. */
struct tare_history_span {
	uint64_t known; /* the same for repeats of one phase */
	const char *name;
	bool is_mark;
	int64_t begin, end;
	uint64_t count;
};

/* The part. */
struct tare_history_part {
	struct tare_history_span *items;
	size_t count, cap;
	struct tare_map last_of; /* known → 1 + the last span of it */
	uint64_t dropped;
	TARE_NOT_SAVED struct tare_step_curves *step_curves; /* of the fold */
	TARE_NOT_SAVED struct tare_heap_lines *heap_lines;   /* by device; none: nobody asked for them */
	TARE_NOT_SAVED int heap_lines_nr;
};

void tare_history_begin(struct tare_history_part *p, struct tare_fold *f);
/* advance: the state has held up to t, and is about to change. used: what is in use has changed. */
void tare_history_advance(struct tare_history_part *p, struct tare_fold *f, struct tare_device_fold *d, int64_t t);
void tare_history_used(struct tare_history_part *p, struct tare_fold *f, struct tare_device_fold *d, int64_t t);
void tare_history_host(struct tare_history_part *p, struct tare_fold *f, int64_t t);
/* heap_lines.c: the heap by line at the points of `f->lines_of_heap`; until when is nothing of it to be taken? */
void tare_heap_lines_begin(struct tare_history_part *p, const struct tare_fold *f);
int64_t tare_heap_lines_wait(const struct tare_history_part *p, const struct tare_device_fold *d);
void tare_heap_lines_advance(struct tare_history_part *p, const struct tare_fold *f, const struct tare_device_fold *d,
                             int64_t t);
void tare_heap_lines_close(struct tare_history_part *p, const struct tare_fold *f);
void tare_heap_lines_free(struct tare_history_part *p);
/* Every change counts for the curve of a step. */
static inline int64_t tare_history_calm_until(const struct tare_history_part *p, const struct tare_device_fold *d)
{
	if (tare_step_curves_wait(p->step_curves, d->index))
		return INT64_MIN;
	return p->heap_lines_nr ? tare_heap_lines_wait(p, d) : INT64_MAX;
}
/* The ledgers are made. */
void tare_history_close(struct tare_history_part *p, struct tare_fold *f);
const char *tare_history_check(const struct tare_history_part *p, const struct tare_fold *f);

/* step_curves.c: a device, or the processes on the CPU, have had what they have up to t */
void tare_history_step_device(struct tare_step_curves *curves, const struct tare_fold *f,
                              const struct tare_device_fold *d, int64_t t);
void tare_history_step_host(struct tare_step_curves *curves, const struct tare_fold *f, int64_t t);

/* by_category.c: `f->history_by_category` once more, with its tensors by category */
void tare_history_by_category(const struct tare_history_part *p, const struct tare_fold *f,
                              struct tare_memory_history *out);

/* span.c: a phase is over */
void tare_history_add_span(struct tare_history_part *p, const struct tare_fold *f, const struct tare_phase_change *c);
static inline void tare_history_phase(struct tare_history_part *p, const struct tare_fold *f,
                                      const struct tare_phase_change *c)
{
	if (c->device == TARE_PHASE_OVER)
		tare_history_add_span(p, f, c);
}
void tare_history_spans(const struct tare_history_part *p, struct tare_memory_history *out);

#endif
