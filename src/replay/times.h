/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_REPLAY_TIMES_H
#define TARE_REPLAY_TIMES_H

#include "base/map.h"
#include "base/owned.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Times of events in µs, in their order: any number, but in four bytes each where a time is at most an hour behind
 * that of one of the 256 before it, as nearly all are.
 */
struct tare_times {
	TARE_OWNED uint32_t *behind; /* the time of the block of 256 that it is in; TARE_TIMES_FAR: see far */
	TARE_OWNED int64_t *begins;
	size_t count, behind_cap, begin_cap;
	TARE_OWNED struct tare_map far; /* by number of the event */
};

#define TARE_TIMES_FAR   UINT32_MAX
#define TARE_TIMES_BLOCK 256

void tare_times_add(struct tare_times *times, int64_t us);
int64_t tare_times_at(const struct tare_times *times, size_t at); /* pre: at < count */
TARE_FREES(tare_times_free, tare_times);

#endif
