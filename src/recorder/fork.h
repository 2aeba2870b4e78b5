/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_FORK_H
#define TARE_RECORDER_FORK_H

#include <stdint.h>

/* Notices that this is a forked child, and makes it a process of its own. Costs one load. */
void tare_fork_check(void);
void tare_fork_start(void); /* once, at the start */
/* Whose memory this is, as far as is known: of a child of vfork its parent's. */
uint32_t tare_fork_owner(void);
/* The calling thread's id, asked for once: the system call costs more than a record. */
uint32_t tare_fork_tid(void);

#endif
