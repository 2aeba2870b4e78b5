/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_LOG_OUT_H
#define TARE_TRACE_LOG_OUT_H

#include "record/chunk.h"

/* The files of a log, written by position. One is open at a time, for there may be thousands of logs. */
struct tare_log_out {
	char *path; /* of the first, which must be there */
	struct tare_chunks chunks;
	int fd; /* -1: none */
	uint64_t chunk;
};

/* 0, or a negative errno. Where a chunk cannot be opened, its part goes into the first file: chunk.h. */
int tare_log_out_write(struct tare_log_out *out, const void *bytes, uint64_t size, uint64_t position);
int tare_log_out_close_file(struct tare_log_out *out); /* as well */

#endif
