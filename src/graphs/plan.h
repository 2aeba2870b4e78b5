/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_GRAPHS_PLAN_H
#define TARE_GRAPHS_PLAN_H

#include "graphs/block.h"

/*
 * Sets items[i].offset so that no two items that are alive at once, or that belong to different
 * streams, overlap, and returns the bytes needed: never more than the offsets had before needed,
 * and never less than tare_plan_floor(). Pure. UINT64_MAX: no host memory, offsets as before.
 */
uint64_t tare_plan(struct tare_item *items, size_t count);

/* No plan can do with less: the most bytes alive at one time, summed over streams that stay apart. */
uint64_t tare_plan_floor(const struct tare_item *items, size_t count);

/* Must these two items not share bytes? */
bool tare_plan_conflict(const struct tare_item *a, const struct tare_item *b);

#endif
