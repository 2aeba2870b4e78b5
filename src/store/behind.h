/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_BEHIND_H
#define TARE_STORE_BEHIND_H

#include "store/gathered.h"

/*
 * Blocks of events are written by another thread while the caller gathers the next one: encoding one takes as long as reading it. Who
 * writes anything else into the segment waits first.
 */
struct tare_behind;

struct tare_behind *tare_behind_new(void);

/* In the order of the calls; `g` has no records afterwards. */
void tare_behind_write(struct tare_behind *b, struct tare_segment_writer *w, uint32_t log,
                       const struct tare_layouts *layouts, struct tare_gathered *g);

/* Until all blocks are written. */
void tare_behind_wait(struct tare_behind *b);

void tare_behind_free(struct tare_behind *b);

#endif
