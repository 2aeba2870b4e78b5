/* SPDX-License-Identifier: Apache-2.0 */
/* What a clock says. The recorder has a function of its own (record/clock.h). */
#ifndef TARE_BASE_NOW_H
#define TARE_BASE_NOW_H

#include <stdint.h>
#include <time.h>

static inline int64_t tare_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
