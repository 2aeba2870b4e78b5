/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver keeps of a call that was undone: room for streams, for nodes of graphs, code. A card
 * of that size would not have it, so it does not count, and is charged to the next call of its kind that
 * needs more room than any before: it will not have to take it again.
 */
#ifndef TARE_RECORDER_VRAM_KEPT_H
#define TARE_RECORDER_VRAM_KEPT_H

#include "recorder/vram/limit.h"

enum tare_kept { TARE_KEPT_NONE, TARE_KEPT_STREAM, TARE_KEPT_GRAPH, TARE_KEPT_CODE, TARE_KEPT_NR };

/* The call is about to run: what does not count for its kind counts again if the call needs it. */
void tare_kept_charge(const struct tare_limit *limit, enum tare_kept kind);
/* Objects of a kind that live in the current context: `by` is 1 or -1. */
void tare_kept_count(enum tare_kept kind, int by);
/* It was undone: what the device still has of it does not count. */
void tare_kept_keep(const struct tare_limit *limit, enum tare_kept kind);
/* What was kept may have gone with a module of the current context: the device's counter tells. */
void tare_kept_drop(enum tare_kept kind);
/* The context (its number in local.c) ended, and all that was kept in it. */
void tare_kept_end(struct tare_vram_card *card, int device, int context);

#endif
