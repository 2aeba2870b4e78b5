/* SPDX-License-Identifier: Apache-2.0 */
/* Ledgers made by hand, for the tests of the views. */
#ifndef TARE_TESTS_UNIT_SAMPLE_LEDGER_H
#define TARE_TESTS_UNIT_SAMPLE_LEDGER_H

#include "ledger/ledger.h"

/* A training run on one GPU at its peak and at its end: elastic rows, an unexplained rest. */
const struct tare_ledger *sample_train_peak(void);
const struct tare_ledger *sample_train_end(void);

/* The training run at its peak, on a card that it does not fit on, and on one of a profile that it fits on. */
const struct tare_ledger *sample_card(void);
const struct tare_ledger *sample_card_of_profile(void);

/* Two processes on two GPUs and a third that nobody used; contended rows, unknowns, odd names. */
const struct tare_ledger *sample_pair(void);

/* No counter at all, and nothing but what was asked for. */
const struct tare_ledger *sample_uncounted(void);

/*
 * Three ranks of a job on two GPUs: 0 and 2 share one, 2 left a context on the other; 1 failed first,
 * 0 was ended after it, 2 stopped without a word.
 */
const struct tare_ledger *sample_ranks(void);

/* Nobody opened a GPU. */
const struct tare_ledger *sample_idle(void);

const struct tare_ledger *sample_graphs(void); /* 22 graphs on one GPU */

/* PyTorch's segments on one GPU: plain, expandable, and for a graph; 12 of them are pinned. */
const struct tare_ledger *sample_pool(void);
/* The same, its segments on several streams. */
const struct tare_ledger *sample_streams(void);

#endif
