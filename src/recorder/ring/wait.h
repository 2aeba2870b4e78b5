/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that may write no more into its log waits while `tare` compacts logs: a program that records faster than that is
 * slowed down, and no record is lost. How long it waits at most stands here, for no program may wait for a `tare` that hangs.
 */
#ifndef TARE_RECORDER_RING_WAIT_H
#define TARE_RECORDER_RING_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#define TARE_WAIT_BRIEF_NS UINT64_C(250000000)
#define TARE_WAIT_STUCK_NS UINT64_C(10000000000)

/*
 * Whether a process whose log is `age` ns old may wait on. `sum`: so long it has waited in all; half of its time, and a quarter of a
 * second. `stuck`: so long since room was made last; an eighth of its time, and a quarter of a second, but never more than ten
 * seconds. What several threads wait at the same time counts once.
 */
static inline bool tare_wait_may(uint64_t age, uint64_t sum, uint64_t stuck)
{
	uint64_t most = TARE_WAIT_BRIEF_NS + age / 8;

	return sum < TARE_WAIT_BRIEF_NS + age / 2 && stuck < (most < TARE_WAIT_STUCK_NS ? most : TARE_WAIT_STUCK_NS);
}

/*
 * Waits until so many bytes may be written into the log. False: they still may not, and what has no room is given up. That comes at
 * once where `tare` makes no room, because it could not, has no child that does, or is no more; half a second after `tare` was stopped
 * or killed; and where the program may not sleep. Holds no lock; signal handlers run meanwhile, and may record and fork.
 */
bool tare_wait_for_room(uint64_t size);
/* Whether that would wait at all; asked for every record that is given up. */
bool tare_wait_is_possible(void);

#endif
