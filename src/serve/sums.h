/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has of a GPU, as sums by rows of a closed list: the ledger's accounts, and what PyTorch's allocator has taken. */
#ifndef TARE_SERVE_SUMS_H
#define TARE_SERVE_SUMS_H

#include "ledger/ledger.h"
#include "serve/metrics.h"

enum {
	TARE_SERVE_TENSORS = TARE_ACCOUNT_NR, /* live tensors … */
	TARE_SERVE_CACHED,                    /* … and what PyTorch keeps beside them */
	TARE_SERVE_PARTLY,
	TARE_SERVE_HELD,
	TARE_SERVE_ROW_NR
};

struct tare_serve_sums {
	int64_t rows[TARE_SERVE_ROW_NR];
	int64_t categories[TARE_CATEGORY_NR]; /* of TENSORS, as far as they are told apart */
};

/* pid -1: of what is in no process. */
void tare_serve_sums_add(struct tare_serve_sums *sums, const struct tare_device_ledger *d, int64_t pid);
/* A sample for each that is not nothing, so that their sum is that of the rows. */
void tare_serve_sums_tell(const struct tare_serve_sums *sums, struct tare_metrics *m, enum tare_metric metric,
                          struct tare_metric_labels labels);

/* The row that something with this name of an account is in. */
const char *tare_serve_row_of(const struct tare_growth *growth);

enum { TARE_SERVE_NUMBER = 24 };
/* "" of what is not known. */
const char *tare_serve_number(char buf[TARE_SERVE_NUMBER], int64_t number);
/* Of the process in a job; -1: none. */
int64_t tare_serve_rank(const struct tare_ledger *ledger, int64_t pid);

#endif
