/* SPDX-License-Identifier: Apache-2.0 */
/* Records that are missing. */
#ifndef TARE_LEDGER_LOSSES_H
#define TARE_LEDGER_LOSSES_H

#include "ledger/core/fold.h"

struct tare_loss_fold {
	int process;
	uint32_t tid, reason;
	uint64_t records;
	int64_t from_ns, to_ns;
	TARE_NOT_SAVED int64_t told_ns; /* when a record told of it */
};

/* The part. */
struct tare_losses_part {
	struct tare_loss_fold *items; /* one for each process, thread and reason */
	size_t count, cap;
	/* Of a fold that will be saved, what these are sums of: each that a record tells of, and before them those of the state. */
	TARE_ONLY_FREED struct tare_loss_fold *told;
	TARE_NOT_SAVED size_t told_nr, told_cap;
};

/* An event of the first pass. */
void tare_losses_prepass(struct tare_losses_part *p, const struct tare_fold *f, const struct tare_event *e);
/* What the reader found missing, which no record tells of. */
void tare_losses_begin(struct tare_losses_part *p, const struct tare_fold *f);
/* Losses that are told of after `until`, and those that the reader found: both will be found again. */
void tare_losses_forget(struct tare_losses_part *p, int64_t until);
/* All that a later fold knows: a LOST record stands behind what was lost. */
void tare_losses_learn(struct tare_losses_part *p, const struct tare_losses_part *later);
/*
 * `evidence`, but at most INFERRED where records of the process are missing. process -1: of no process.
 */
enum tare_evidence tare_losses_evidence(const struct tare_losses_part *p, int process, int64_t t,
                                        enum tare_evidence evidence);
void tare_losses_doubt(const struct tare_losses_part *p, const struct tare_fold *f, int64_t t, struct tare_ledger *out);
void tare_losses_rows(const struct tare_losses_part *p, const struct tare_fold *f, struct tare_ledger *out);
const char *tare_losses_check(const struct tare_losses_part *p, const struct tare_fold *f);

#endif
