/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much may be written into logs, so that a recording does not outgrow its cap: whoever writes a block takes its bytes from
 * what `tare` allows, before it writes, and where they are not allowed it does not write. Both numbers only grow. `tare` reads
 * how much was written, then looks how large the folder is, and allows what is missing to the cap from there on: what is written
 * between the two counts twice, which the next look puts right, and never not at all. Two limits: one that keeps what is in logs
 * readable, for which a thread waits as long as it may, and the cap, which is used before anything is lost.
 *
 * For the recorder, too: calls no library.
 */
#ifndef TARE_RECORD_ALLOWANCE_H
#define TARE_RECORD_ALLOWANCE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/format.h"

/* What tare_lane_write answers then. No file system does. */
#define TARE_ALLOWANCE_IS_USED_UP (-ENOBUFS)

/* 0: any number. `is_last_resort`: records are lost otherwise. */
static inline uint64_t tare_allowance_limit(const struct tare_control *control, bool is_last_resort)
{
	uint64_t limit = __atomic_load_n(&control->log_limit, __ATOMIC_RELAXED);
	uint64_t most = __atomic_load_n(&control->log_most, __ATOMIC_RELAXED);

	return is_last_resort && limit && most > limit ? most : limit;
}

static inline bool tare_allowance_is_below(const struct tare_control *control, uint64_t size, uint64_t limit)
{
	return !limit || __atomic_load_n(&control->log_written, __ATOMIC_RELAXED) + size <= limit;
}

static inline bool tare_allowance_has(const struct tare_control *control, uint64_t size)
{
	return tare_allowance_is_below(control, size, tare_allowance_limit(control, false));
}

/* Of a file that must be there, as a ring: what logs may have is less by that, until `tare` has seen it in the folder. */
static inline void tare_allowance_add(struct tare_control *control, uint64_t size)
{
	__atomic_fetch_add(&control->log_written, size, __ATOMIC_RELAXED);
}

/* False: they are not allowed, and nothing is taken. */
static inline bool tare_allowance_take_below(struct tare_control *control, uint64_t size, uint64_t limit)
{
	if (__atomic_add_fetch(&control->log_written, size, __ATOMIC_RELAXED) <= limit || !limit)
		return true;
	__atomic_fetch_sub(&control->log_written, size, __ATOMIC_RELAXED);
	return false;
}

static inline bool tare_allowance_take(struct tare_control *control, uint64_t size)
{
	return tare_allowance_take_below(control, size, tare_allowance_limit(control, false));
}

#endif
