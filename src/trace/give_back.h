/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_GIVE_BACK_H
#define TARE_TRACE_GIVE_BACK_H

#include <stdint.h>

/*
 * Gives positions below `position` of a log, FOLDER/P-G.events, back to the disk: whole chunks are removed, a hole is
 * made in the next, and P-G.events is cut behind its schema once all of it is given back. Any process may do it while
 * the log is written, as often as it likes, once everything there was written: a drainer that is late writes the same
 * bytes again, which the next call takes away. 0, or the first error as a negative errno, and everything else is done;
 * -EBADMSG: the header is damaged, and nothing is.
 */
int tare_give_back(const char *log, uint64_t position);

#endif
