/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_FILTER_H
#define TARE_VIEW_FILTER_H

#include "ledger/ledger.h"

/*
 * The ledger as one process sees it: every other recorded process becomes a single row, so that the
 * books still balance. `out` borrows everything from `in` but its own arrays; free it first.
 */
void tare_filter_process(const struct tare_ledger *in, int64_t pid, struct tare_ledger *out);
void tare_filter_free(struct tare_ledger *out);

#endif
