/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory that a call makes resident: read before and after it, recorded if it changed. Around driver
 * calls that only weighing can size, and around the loading of a Python extension module.
 */
#ifndef TARE_RECORDER_WEIGH_RSS_H
#define TARE_RECORDER_WEIGH_RSS_H

#include <stdbool.h>
#include <stdint.h>

#define TARE_RSS_SMALL 65536 /* bytes: not worth a record */

struct tare_rss {
	bool is_read;
	uint64_t anon, file; /* bytes; file: also of shared memory */
};

/* Reads nothing when the time for weighing is used up. */
void tare_rss_read(struct tare_rss *out);

/* The most that ever was resident of the process, bytes; TARE_NOT_KNOWN. */
uint64_t tare_rss_most(void);

/* Bytes that came or went between two readings; 0: not known. */
uint64_t tare_rss_changed(const struct tare_rss *before, const struct tare_rss *after);

/* Records what changed between two readings, if it is worth it; ids as in event records. */
void tare_rss_record(const struct tare_rss *before, const struct tare_rss *after, uint32_t api, uint32_t python,
                     uint32_t stack, uint64_t stamp);

#endif
