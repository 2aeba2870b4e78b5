/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of training, as tensors or phases tell them. Each thread of each process has its own in each memory; they
 * are told apart in three ways at once, and the best one that tells anything is shown.
 */
#ifndef TARE_LEDGER_TRAINING_H
#define TARE_LEDGER_TRAINING_H

#include "ledger/ledger.h"

/* Steps of one kind. Of many, every `stride`-th is kept: medians need no more. */
struct tare_training_list {
	bool is_open;
	int depth;                  /* of phases: how many are open that are called steps */
	int64_t begin_ns, first_ns; /* when the open and the first one began */
	struct tare_training_step open, first;
	uint64_t count; /* closed ones */
	uint64_t stride;
	struct tare_training_step *items; /* without the first */
	size_t nr, cap;
};

/* training_list.c. An end of what is not open is none. */
void tare_training_begin(struct tare_training_list *l, int64_t t, int64_t used, int64_t live);
void tare_training_end(struct tare_training_list *l, int64_t t);
void tare_training_most(struct tare_training_list *l, enum tare_training_figure what, int64_t now);

/* What a piece of work of one kind made last, and what the piece of that kind before it did. */
struct tare_training_last {
	uint32_t section, site, before_site;
	int64_t bytes, before_bytes; /* 0: nothing */
};

struct tare_training_fold {
	int process, device; /* -1: in the memory of the CPU */
	uint32_t tid;
	uint32_t section, backwards;
	bool has_backward, has_optimizer;   /* since the last step of that kind ended */
	struct tare_training_last lasts[2]; /* backward passes, optimizers */
	int64_t last_ns;                    /* when one of these made its last block */
	struct tare_training_list lists[TARE_TRAINING_BY_NR];
};

#endif
