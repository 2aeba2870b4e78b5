/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_FORK_H
#define TARE_RECORDER_FORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/recorder.h"

/* Its word is 0 in a copy of the process; where the kernel is too old to see to that, it is not known. */
extern struct tare_fork {
	uint32_t *owner;
	bool is_wiped; /* in copies */
} tare_fork;

TARE_COLD void tare_fork_look(void);
void tare_fork_in_child(void); /* libc has forked, and says so */
TARE_COLD uint32_t tare_fork_ask_tid(void);

/* Notices that this is a forked child, and makes it a process of its own. Costs two loads. */
static inline void tare_fork_check(void)
{
	if (unlikely(!tare_fork.is_wiped || __atomic_load_n(tare_fork.owner, __ATOMIC_RELAXED) == 0))
		tare_fork_look();
}

/* Is this a forked child that nothing has noticed yet: of clone() itself, or of _Fork()? */
static inline bool tare_fork_is_copy(void)
{
	return tare_fork.is_wiped && __atomic_load_n(tare_fork.owner, __ATOMIC_RELAXED) == 0;
}

/* Whose memory this is, as far as is known: of a child of vfork its parent's. */
uint32_t tare_fork_owner(void);
/* The calling thread's id, asked for once: the system call costs more than a record. */
static inline uint32_t tare_fork_tid(void)
{
	return likely(tare_thread.tid) ? tare_thread.tid : tare_fork_ask_tid();
}

/*
 * What says something of this process alone, and is 0 at its start: a forked child sets it to 0 again, without a word
 * to whose it is.
 */
struct tare_of_process {
	void *at;
	size_t size;
};
#define TARE_OF_PROCESS(variable)                                                                                      \
	static struct tare_of_process of_process_##variable                                                                \
		__attribute__((section("tare_of_process"), used)) = { &(variable), sizeof(variable) }

/* For what is not 0 then. */
extern struct tare_fork_now {
	uint64_t born;       /* ticks: when this process began, as far as we know */
	uint32_t generation; /* one more in every forked child */
} tare_fork_now;

#endif
