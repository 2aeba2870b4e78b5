/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_ROLLUP_DROP_H
#define TARE_ROLLUP_DROP_H

#include "rollup/rollup.h"

/*
 * Drops the oldest segments of which a state knows all events, until the folder has at most `cap` bytes. What they had besides
 * events (names, stacks, what was lost) goes into one segment that stands for them. No more than the newest state allows.
 */
int tare_rollup_drop(const char *folder, uint64_t cap, struct tare_rolled_up *out, struct tare_err *err);

#endif
