/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory that a call makes resident: read before and after it, recorded if it changed. Around driver
 * calls that only weighing can size, and around the loading of a Python extension module.
 *
 * For the second the recorder owns dlopen. Which libraries dlopen finds depends on who calls it, so ours
 * reads and then jumps on; what was read is compared when the same frame of the interpreter asks for the
 * module's PyInit_ function, which is the next thing it does.
 */
#ifndef TARE_RECORDER_WEIGH_RSS_H
#define TARE_RECORDER_WEIGH_RSS_H

#include <stdbool.h>
#include <stdint.h>

struct tare_rss {
	bool is_read;
	uint64_t anon, file; /* bytes; file: also of shared memory */
};

/* Reads nothing when the time for weighing is used up. */
void tare_rss_read(struct tare_rss *out);

/* Records what changed between two readings, if it is worth it; ids as in event records. */
void tare_rss_record(const struct tare_rss *before, const struct tare_rss *after, uint32_t api,
		     uint32_t python, uint32_t stack, uint64_t stamp);

/* The interpreter looks up a PyInit_ function; `frame`: the stack of the caller, as at its call of dlopen. */
void tare_rss_loaded(uintptr_t frame);

#endif
