/* SPDX-License-Identifier: Apache-2.0 */
/* `--by category` and `--by tensor`: what tensors are for, and what each is called. */
#ifndef TARE_VIEW_TENSORS_H
#define TARE_VIEW_TENSORS_H

#include "base/emit.h"
#include "ledger/ledger.h"
#include "view/text_table.h"

/* Into `sums`, the largest first; returns how many there are. */
int tare_category_sums(const struct tare_tensor_rows *rows,
		       struct tare_category_sum sums[TARE_CATEGORY_NR]);

bool tare_tensors_is_any(const struct tare_ledger *const *ledgers, int ledger_nr);
void tare_tensors_text(struct tare_str *out, bool is_each, const struct tare_ledger *const *ledgers,
		       int ledger_nr, const struct tare_text_style *style);
void tare_tensors_data(struct tare_emit *e, bool is_each, const struct tare_ledger *const *ledgers,
		       int ledger_nr);

#endif
