/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that draws the live lines (tare run --live) beside the one that records: reading a recording takes time that its rings do not have. It is
 * no part of what the program sees: a child of `tare`, in no group of its own, deaf to all signals.
 */
#ifndef TARE_SESSION_LIVE_H
#define TARE_SESSION_LIVE_H

#include "base/region.h"

#include <sys/types.h>

/* What the process that draws is told, a byte each. The end of the socket means that `tare` was killed. */
enum tare_live_word {
	TARE_LIVE_STOPPED = 's', /* the program is; answered by the same once the terminal is put back */
	TARE_LIVE_GOES_ON = 'g',
	TARE_LIVE_ENDED = 'e',   /* by itself … */
	TARE_LIVE_CRASHED = 'c', /* … or by a signal; answered by the end of the process */
};

/* Draws until it is told to end. `folder`: the recording; `leader`: the program, in the memory that both map. */
typedef void tare_live_maker(const char *folder, struct tare_region *region, const pid_t *leader, int socket);

struct tare_live;

/* Makes room for the lines, before the program writes anything. NULL: `make` is, or there can be none: `why` is the caller's to free. */
struct tare_live *tare_live_start(const char *folder, tare_live_maker *make, char **why);
/* NULL is fine for all of these. */
void tare_live_leader(struct tare_live *live, pid_t pid);
void tare_live_stop(struct tare_live *live, bool is_stopped);
/* Puts the terminal back. `away_ns`: how long there were no lines, and why, of TARE_REGION_WHY_NR. */
void tare_live_end(struct tare_live *live, bool is_crash, int64_t *away_ns);

#endif
