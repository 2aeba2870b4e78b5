/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_GAP_H
#define TARE_TRACE_GAP_H

#include "trace/log.h"

/*
 * Where a log lacks records without saying so in a LOST record (damage, a file that was cut), and between which
 * stamps the missing ones were made. Give it every step of a pass:
 *
 *     struct tare_gaps gaps = { 0 };
 *
 *     while ((step = tare_log_next(log, &rec)) != TARE_LOG_END)
 *             tare_gaps_add(&gaps, tare_log_info(log), step, &rec);
 *     tare_gaps_end(&gaps, tare_log_info(log));
 */
struct tare_gaps {
	uint64_t count;       /* places */
	uint64_t first, last; /* where there are some: stamps around them; first 0: from the begin of the log */

	uint64_t records; /* how many are missing; 0: not known */

	uint64_t *last_of; /* of the records outside of lanes, then of each lane; NULL: none yet */
	uint64_t highest;
	uint64_t block_end;
	uint32_t lane;            /* that the records are of: 1 + its number, 0: none */
	uint32_t open;            /* the last gap ends with the next record of this lane … */
	bool is_open, is_missing; /* … if there is one; the lane of the last gap is that of the next block */
};

void tare_gaps_add(struct tare_gaps *g, const struct tare_log_info *info, enum tare_log_step step,
                   const struct tare_log_record *rec);
/* All that was allocated is freed; `count`, `first`, `last` and `records` stay. */
void tare_gaps_end(struct tare_gaps *g, const struct tare_log_info *info);

#endif
