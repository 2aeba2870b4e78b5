/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_FORK_H
#define TARE_RECORDER_FORK_H

#include <stdint.h>

#include "recorder/recorder.h"

/* Its word is 0 in a copy of the process; where the kernel is too old to see to that, it is not known. */
extern struct tare_fork {
	uint32_t *owner;
	bool is_wiped; /* in copies */
} tare_fork;

TARE_COLD void tare_fork_look(void);
TARE_COLD uint32_t tare_fork_ask_tid(void);

/* Notices that this is a forked child, and makes it a process of its own. Costs two loads. */
static inline void tare_fork_check(void)
{
	if (unlikely(!tare_fork.is_wiped ||
		     __atomic_load_n(tare_fork.owner, __ATOMIC_RELAXED) == 0))
		tare_fork_look();
}

void tare_fork_start(void); /* once, at the start */
/* Whose memory this is, as far as is known: of a child of vfork its parent's. */
uint32_t tare_fork_owner(void);
/* The calling thread's id, asked for once: the system call costs more than a record. */
static inline uint32_t tare_fork_tid(void)
{
	return likely(tare_thread.tid) ? tare_thread.tid : tare_fork_ask_tid();
}

#endif
