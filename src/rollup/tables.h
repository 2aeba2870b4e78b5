/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_ROLLUP_TABLES_H
#define TARE_ROLLUP_TABLES_H

#include "store/segment.h"
#include "trace/log.h"

/* The first segments of a recording, which go. */
struct tare_rollup_going {
	const uint32_t *numbers;
	size_t nr;
};

/*
 * Writes what they have of a log besides events, for the log of this number, but for what nobody needs without its events. `until`: the
 * stamp up to which events are gone.
 */
void tare_rollup_write_tables(struct tare_segment_writer *w, uint32_t number, struct tare_log *log,
                              const struct tare_rollup_going *going, uint64_t until);

#endif
