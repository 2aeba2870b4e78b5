/* SPDX-License-Identifier: Apache-2.0 */
/* The fold: its loop over the events, its begin and its end. */
#ifndef TARE_LEDGER_RUN_H
#define TARE_LEDGER_RUN_H

#include "ledger/rows/rows.h"
#include "ledger/settle/settle.h"
#include "ledger/state/state.h"

/* part_readings.c: the first reading of the event's call does not begin before the thread's call before was over */
void tare_fold_part_readings(struct tare_fold *f, struct tare_event *e);
/* The other pass goes on where it was; and before the first: both begin where the fold does. */
void tare_fold_part_swap(struct tare_fold *f);
void tare_fold_part_keep(struct tare_fold *f);

/* take.c: the two passes over the events */
void tare_fold_look_ahead(struct tare_fold *f);
/*
 * Goes on with the first pass where it ended, with what the source has by now. False: a call came that the second pass should have
 * taken in already.
 */
bool tare_fold_look_further(struct tare_fold *f);
void tare_fold_run(struct tare_fold *f);
void tare_fold_run_until(struct tare_fold *f, int64_t until); /* stops at `until` */
bool tare_fold_take_next(struct tare_fold *f);                /* false: there is no more */
void tare_fold_settle_all(struct tare_fold *f);               /* as if nothing came any more */

/*
 * take_blocks.c: a block of a tensor on a device, in the first pass and in the second. False: it is another event, or something else
 * has to be done before it. And what follows a block that was taken, as far as that is of its kind and not later than `until`.
 */
bool tare_fold_prepass_block(struct tare_fold *f, const struct tare_event *e);
bool tare_fold_take_block(struct tare_fold *f, const struct tare_event *e);
void tare_fold_take_run(struct tare_fold *f, const struct tare_event *e, int64_t until);
/* The last moment before which a block need not wait for something else. */
int64_t tare_fold_nothing_until(const struct tare_fold *f, const struct tare_device_fold *d);
/* take_heap.c: what follows a block of the heap that was taken, or one that was freed, in the same way */
void tare_fold_take_heap(struct tare_fold *f, const struct tare_event *e, int64_t until);
/* take_phases.c: what follows a phase that was taken, in the same way */
void tare_fold_take_phases(struct tare_fold *f, const struct tare_event *e, int64_t until);

/* The same step by step, and from a state. */
int tare_fold_begin_from(struct tare_fold *f, const struct tare_ledger_span *span, const struct tare_ledger_opts *opts,
                         const struct tare_ledger_names *names);
void tare_fold_begin_ledgers(struct tare_fold *f, const struct tare_instant *instants, int nr, struct tare_ledger *out);
/* Instants whose first moment is in from..until-1. */
void tare_fold_add_instants(struct tare_fold *f, const struct tare_instant *instants, int nr, int64_t from,
                            int64_t until, struct tare_ledger *out);
void tare_fold_run_to_end(struct tare_fold *f);
/* Ledgers as if nothing came any more; the fold `of` stays as it is, and can go on. */
void tare_fold_show(struct tare_fold *of, const struct tare_ledger_opts *opts, const struct tare_ledger_names *names,
                    const struct tare_instant *instants, int instant_nr, struct tare_ledger *out);
void tare_fold_finish_ledgers(struct tare_fold *f, const struct tare_instant *instants, int nr,
                              struct tare_ledger *out);

/* What a state says, or what there is before the first event (NULL), without any event behind it. */
int tare_fold_of_state(struct tare_fold *f, const struct tare_ledger_state *from,
                       const struct tare_ledger_names *names);

/* two_folds.c: a fold of a moment before the state that `later` went on from, which has not run yet */
int tare_fold_begin_before(struct tare_fold *f, const struct tare_ledger_span *span,
                           const struct tare_ledger_opts *opts, const struct tare_ledger_names *names,
                           struct tare_fold *later);
void tare_fold_learn(struct tare_fold *f, const struct tare_fold *later);

#endif
