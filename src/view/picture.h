/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory over time as one SVG file: a panel per GPU, and one for tensors on the CPU, under one another and
 * to the same scale. It needs nothing from outside, is legible at 800 px, and follows the reader's choice
 * of light or dark.
 */
#ifndef TARE_VIEW_PICTURE_H
#define TARE_VIEW_PICTURE_H

#include "base/str.h"
#include "ledger/ledger.h"
#include "ledger/memory_history.h"

/* What was recorded together. */
struct tare_picture_run {
	const char *title;
	const struct tare_ledger *ledger; /* at the peak */
	const struct tare_memory_history *history;
};

void tare_picture(struct tare_str *out, const struct tare_picture_run *runs, int run_nr);

#endif
