/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes make up a rank, and how it ended. */
#ifndef TARE_LEDGER_RANKS_H
#define TARE_LEDGER_RANKS_H

#include "ledger/core/fold.h"

/* The part: all of it is made when the first pass is over. */
struct tare_ranks_part {
	TARE_ONLY_FREED struct tare_rank_ledger *items;
	TARE_NOT_SAVED int count;
	TARE_ONLY_FREED int *of; /* by process: place in items, -1: none */
	TARE_NOT_SAVED int process_nr;
};

void tare_ranks_begin(struct tare_ranks_part *p, const struct tare_fold *f);
/* Into the row of a process. */
void tare_ranks_process_row(const struct tare_ranks_part *p, int process, struct tare_row *row);
void tare_ranks_rows(const struct tare_ranks_part *p, const struct tare_fold *f, struct tare_ledger *out);
const char *tare_ranks_check(const struct tare_ranks_part *p, const struct tare_fold *f);

#endif
