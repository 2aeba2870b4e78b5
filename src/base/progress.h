/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command that takes long has done so far: a line on the terminal of standard error, from the first second on, ten times a second,
 * which is gone when it is done. A thread draws it, so that it is there also while nobody says how far it is: then it is how long it took so far.
 * Where standard error is no terminal nothing is printed, and there is no thread. Nor is there one in a child that was forked meanwhile.
 *
 *     tare_progress_begin("importing");
 *     while (…)
 *             tare_progress_at(done, total);
 *     tare_progress_end();
 *
 * Whoever reads or computes says how far it is, whether or not a command began; only the commands of a user begin.
 */
#ifndef TARE_BASE_PROGRESS_H
#define TARE_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Lines that change in place may be printed: standard error is a terminal that knows how. */
bool tare_progress_has_terminal(void);

/* `what` is copied. Where one goes on already, it is the next part of the same command. */
void tare_progress_begin(const char *what);
void tare_progress_end(void); /* also where none began */

/* What goes through the same once more begins at 0 again. */
void tare_progress_say(int64_t done, int64_t total);
extern bool tare_progress_is_on;
extern unsigned tare_progress_calls;

/* total 0: nobody knows how much there is. */
static inline void tare_progress_at(int64_t done, int64_t total)
{
	if (tare_progress_is_on)
		tare_progress_say(done, total);
}

/* The same where it is called very often: true once in some thousand times. */
static inline bool tare_progress_is_due(void)
{
	return tare_progress_is_on && !(++tare_progress_calls & 0xfff);
}

#endif
