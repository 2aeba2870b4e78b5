/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lines are called, told once for all ledgers of a fold: those of a page are fifty, each with the stacks of all its places. A fold
 * has names of its own, because it numbers places by itself; ledgers refer to them.
 */
#ifndef TARE_LEDGER_LINE_NAMES_H
#define TARE_LEDGER_LINE_NAMES_H

#include "base/arena.h"
#include "base/map.h"

struct tare_line_names {
	struct tare_map by_site; /* a line that has nothing but its name */
	struct tare_arena memory;
};

static inline void tare_line_names_free(struct tare_line_names *names)
{
	tare_map_free(&names->by_site);
	tare_arena_free(&names->memory);
}

#endif
