/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that restricts its own system calls (seccomp) may be killed for one that it does not expect,
 * and it does not expect ours. Once it has done so, or where somebody did it between `tare` and the
 * program, the recorder makes none: what is open goes on, nothing else is opened, weighed or looked up.
 */
#ifndef TARE_RECORDER_CONFINED_H
#define TARE_RECORDER_CONFINED_H

#include <stdbool.h>
#include <stdint.h>

extern uint32_t tare_is_confined __attribute__((visibility("hidden")));

static inline bool tare_may_syscall(void)
{
	return __builtin_expect(!__atomic_load_n(&tare_is_confined, __ATOMIC_RELAXED), 1);
}

#endif
