/* SPDX-License-Identifier: Apache-2.0 */
/* What log.c (opening) and log_next.c (reading) share. */
#ifndef TARE_TRACE_LOG_PRIVATE_H
#define TARE_TRACE_LOG_PRIVATE_H

#include "trace/log.h"

enum {
	LOG_RECORD_MAX = TARE_MAX_CELLS * TARE_CELL,
	LOG_WINDOW = 1 << 18, /* read at once; a few of the longest records */
};

struct tare_log {
	struct tare_log_info info;
	struct tare_log_counts counts;
	char *path;
	int fd;             /* of the .events file; -1 where there is none */
	uint64_t cut_bytes; /* after the last whole cell of the file, if the ring has no more */

	uint8_t *ring; /* copy of positions info.ring_begin .. ring_end; NULL without */
	uint64_t ring_end;

	/* Positions window_begin .. window_end, of the file and where it ends of the ring. */
	uint8_t *window;
	uint64_t window_begin, window_end;

	uint64_t position; /* of the next step */
	bool is_cut_told;
	uint8_t scratch[1024] __attribute__((aligned(16))); /* a record shorter than its struct */
};

/* trace/log_ring.c: copies the ring into log->ring and fills in info; without a ring does nothing. */
void tare_log_load_ring(struct tare_log *log, const char *ring_path);

/* Reads up to size bytes; the number of bytes got, fewer only at the end or after an error. */
size_t tare_log_pread(int fd, void *to, size_t size, uint64_t offset);

#endif
