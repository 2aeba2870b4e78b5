/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of now in one line or two, for people who watch the program itself: tare run --live. */
#ifndef TARE_TOP_STATUS_H
#define TARE_TOP_STATUS_H

#include "ledger/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is kept from one look to the next. {0} is the first. */
struct tare_status {
	uint64_t steps;  /* that were done when … */
	int64_t used;    /* … so much was used, … */
	uint64_t before; /* … after so many, of which … */
	int64_t change;  /* … it changed by this */
	bool has_change;
};

/* Looks at a ledger of now: call it once for each. */
void tare_status_take(struct tare_status *s, const struct tare_ledger *ledger);
/*
 * `line_nr` lines, none wider than `columns`: what has no room is left out, the least needed first. `ledger` NULL: nothing was recorded
 * yet; `seconds`: since the program began.
 */
void tare_status_lines(const struct tare_status *s, const struct tare_ledger *ledger, int64_t seconds, size_t columns,
                       struct tare_str *lines, size_t line_nr);

#endif
