/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_LOG_TRIM_H
#define TARE_TRACE_LOG_TRIM_H

#include <stdint.h>

/*
 * Trims the log FOLDER/P-G.events: frees the room on the disk of all positions below `position`, which segments have by
 * then. Whole chunks are removed, a hole is made in the next chunk, and P-G.events is cut behind its schema once nothing else
 * of it is needed. Any process may trim a log while the log is written, as often as it likes, once everything below `position`
 * was written: a drainer that is late writes the same bytes again, and the next call trims them again. Returns 0, or the first
 * error as a negative errno after everything else was done; -EBADMSG: the header is damaged, and nothing was trimmed.
 */
int tare_log_trim(const char *log, uint64_t position);

#endif
