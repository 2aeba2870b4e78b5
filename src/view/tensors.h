/* SPDX-License-Identifier: Apache-2.0 */
/* `--by category` and `--by tensor`: what tensors are for, and what each is called. */
#ifndef TARE_VIEW_TENSORS_H
#define TARE_VIEW_TENSORS_H

#include "ledger/ledger.h"

/* Into `sums`, the largest first; returns how many there are. */
int tare_category_sums(const struct tare_tensor_rows *rows,
		       struct tare_category_sum sums[TARE_CATEGORY_NR]);

#endif
