/* SPDX-License-Identifier: Apache-2.0 */
/* What the ledger of a recording says of one process: its rows, its lines, its steps. */
#ifndef TARE_TOP_TREE_LEDGER_H
#define TARE_TOP_TREE_LEDGER_H

#include "top/tree.h"

bool tare_top_ledger_has(const struct tare_device_ledger *d, int64_t pid);
int64_t tare_top_ledger_sum(const struct tare_device_ledger *d, int64_t pid);
/* Steps of training that it ended; `device`: as tare_training.device. 0: none is known. */
uint64_t tare_top_ledger_steps(const struct tare_ledger *ledger, int64_t pid, int device);

/* Below the row `at` of the tree. */
void tare_top_add_ledger(struct tare_top_tree *tree, int at, const struct tare_device_ledger *d, int64_t pid);
void tare_top_add_lines(struct tare_top_tree *tree, int at, const struct tare_ledger_line *lines, int line_nr,
                        int64_t pid);

#endif
