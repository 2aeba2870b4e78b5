/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks for recordings and reads them in a thread of its own, so that a screen never waits for them. What the thread reads with is its
 * own; what it knows of a recording is handed over as a whole, under a lock that nobody holds while something is read.
 *
 *     r = tare_top_reader_begin(&wanted, tare_screen_call, &err);
 *     tare_top_reader_go(r, false);
 *     … tare_screen_call() was called: it has looked at all …
 *     tare_top_reader_take(r, &found);
 *     tare_top_reader_end(r);
 */
#ifndef TARE_TOP_READER_H
#define TARE_TOP_READER_H

#include "top/find.h"

struct tare_top_reader;

/*
 * Which recordings there are is known when it returns; none was read. `wanted`: what to look for, whose list is empty. `on_read` is called
 * by the thread at the end of each look, and calls nothing of this. NULL: no thread can be had.
 */
struct tare_top_reader *tare_top_reader_begin(const struct tare_finder *wanted, void (*on_read)(void),
                                              struct tare_err *err);

/* Looks once, if it is not looking already. `is_all`: also at what did not change. */
void tare_top_reader_go(struct tare_top_reader *r, bool is_all);

/* What is known by now takes the place of the list of `found`: always the same one, which is empty at first. */
void tare_top_reader_take(struct tare_top_reader *r, struct tare_finder *found);

/* What takes longer to read than people like to wait for is left to the end of the process. */
void tare_top_reader_end(struct tare_top_reader *r);

#endif
