/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of the clocks of which only those are needed that say when something was. */
#ifndef TARE_ROLLUP_CLOCKS_H
#define TARE_ROLLUP_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tare_rollup_clock {
	uint64_t ticks, monotonic_ns, realtime_ns;
	bool is_gone;
};

/*
 * Of readings in the order in which they were made those go that lie on the line between their neighbours, within a microsecond, which reading
 * the clocks takes; and of more than 64 also those that lie farther from it, the nearer first. `until`: what is later than
 * these ticks stays as it is, and so do the readings next to it.
 */
void tare_rollup_thin_clocks(struct tare_rollup_clock *clocks, size_t n, uint64_t until);

#endif
