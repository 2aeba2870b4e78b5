/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_CUDA_FIRST_H
#define TARE_RECORDER_CUDA_FIRST_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/base/fork.h"

/* True once for each (handle, context) since the last tare_first_rearm(). */
bool tare_first_time(const void *handle);
bool tare_first_time_with(const void *handle, uint64_t what);
void tare_first_rearm(void);
extern uint64_t tare_first_epoch_now; /* moves with each rearming, from 1; and in a forked child */
static inline uint64_t tare_first_epoch(void)
{
	return __atomic_load_n(&tare_first_epoch_now, __ATOMIC_RELAXED) + tare_fork_now.generation;
}
void tare_first_forget(const void *handle);

#endif
