/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folds a recording while it is written, so that the report at the end of the program has little left to fold. A child of `tare` does it,
 * on processors that are idle, and only where there is much to fold; what it came to is kept in memory. It may be
 * killed at any time.
 */
#ifndef TARE_SESSION_AHEAD_H
#define TARE_SESSION_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

struct tare_control;
struct tare_ahead;

/* A state of the fold, in a file that has no name. number 0: there is none. */
struct tare_ahead_state {
	uint32_t number;
	int64_t until_ns;
	uint64_t size;
	bool has_more; /* another may be made at once */
};

/* What it is made by is known above (rollup/ahead.h): reads the state before from `from`, writes the next into `to`. 0, or no state. In a process of its own. */
typedef int tare_ahead_maker(const char *folder, const struct tare_ahead_state *before, int from,
                             struct tare_ahead_state *out, int to);

/* `make` NULL: nothing is ever folded ahead. */
struct tare_ahead *tare_ahead_new(const char *folder, const struct tare_control *control, tare_ahead_maker *make);
void tare_ahead_free(struct tare_ahead *ahead); /* NULL is fine */

/* Begins a child if there is enough to fold and a processor is idle, or sees that one is done. Takes some µs. */
void tare_ahead_turn(struct tare_ahead *ahead);

/*
 * The program has ended. What a child is at is waited for, a moment. Returns the file with the newest state, which is the caller's to
 * close, or -1.
 */
int tare_ahead_finish(struct tare_ahead *ahead, struct tare_ahead_state *out);

#endif
