/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the files of a log. No descriptor is kept, for programs close what they do not know. */
#ifndef TARE_RECORDER_RING_WRITE_H
#define TARE_RECORDER_RING_WRITE_H

#include <stdint.h>

enum { TARE_RING_NAME_MAX = 40 };

/* In the recording's folder, as open(2). */
int tare_ring_open_file(const char *name, int flags);
/* 0, or a negative errno. */
int tare_ring_write_all(int fd, const uint8_t *bytes, uint64_t size, uint64_t offset);

/*
 * As a tare_lane_write, `arg` the epoch of the log that the block is of: to the log, in the chunks where it belongs, unless
 * a limit or a full disk was met less than 0.1 s ago.
 */
int tare_ring_file_write(void *arg, const void *bytes, uint64_t size, uint64_t position);

/*
 * What tare_ring_file_write() would answer without trying, or 0: it would try. For who gives up record after record: it costs
 * no system call, and no block is put together that nobody writes.
 */
int tare_ring_file_is_failing(void);
/* The next block is tried, whatever was met before. */
void tare_ring_file_try_again(void);

#endif
