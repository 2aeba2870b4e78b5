/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over segments of PyTorch's allocator, however they are grouped, and their columns. */
#ifndef TARE_VIEW_SEGMENT_SUM_H
#define TARE_VIEW_SEGMENT_SUM_H

#include "base/emit.h"
#include "ledger/ledger.h"

struct tare_segment_sum {
	uint64_t segments, blocks, other_stream_blocks;
	int64_t bytes, live, cached, stuck, held; /* bytes is the sum of the others */
};

void tare_segment_sum_take(struct tare_segment_sum *sum, const struct tare_pool_segment *segment);

/* Columns of a row's struct with a field `sum`. */
#define TARE_SEGMENT_SUM_COLUMNS(ROW)                                                                                  \
	TARE_COLUMN(ROW, sum.segments, "segments", "NR", COUNT, .is_sum = true),                                           \
		TARE_COLUMN(ROW, sum.blocks, "blocks", "BLOCKS", COUNT, .is_sum = true),                                       \
		TARE_COLUMN(ROW, sum.bytes, "bytes", NULL, BYTES),                                                             \
		TARE_COLUMN(ROW, sum.live, "live_bytes", "LIVE", BYTES, .is_sum = true),                                       \
		TARE_COLUMN(ROW, sum.cached, "cached_bytes", "CACHED", BYTES, .is_sum = true),                                 \
		TARE_COLUMN(ROW, sum.stuck, "stuck_bytes", "STUCK", BYTES, .is_sum = true),                                    \
		TARE_COLUMN(ROW, sum.held, "held_bytes", "FOR GRAPHS", BYTES, .is_sum = true),                                 \
		TARE_COLUMN(ROW, sum.bytes, NULL, "ALL", BYTES, .is_sum = true)

#endif
