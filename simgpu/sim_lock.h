/* SPDX-License-Identifier: Apache-2.0 */
/* A lock in shared memory. A holder that is killed does not keep it; all zero is a free one. */
#ifndef SIM_LOCK_H
#define SIM_LOCK_H

#include <stdint.h>

struct sim_lock {
	uint32_t holder; /* thread id, 0: nobody */
	uint32_t waiters;
};

void sim_lock_take(struct sim_lock *lock);
void sim_lock_give(struct sim_lock *lock);

#endif
