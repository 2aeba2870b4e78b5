/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over segments of PyTorch's allocator, however they are grouped, and their columns. */
#ifndef TARE_VIEW_SEGMENT_SUM_H
#define TARE_VIEW_SEGMENT_SUM_H

#include "base/emit.h"
#include "ledger/ledger.h"

struct tare_segment_sum {
	uint64_t segments, blocks, otherwise;
	int64_t bytes, live, cached, stuck, held; /* bytes is the sum of the others */
};

void tare_segment_sum_take(struct tare_segment_sum *sum, const struct tare_pool_segment *segment);
void tare_segment_sum_join(struct tare_segment_sum *all, const struct tare_segment_sum *sum);

/* On the screen: what stands behind the first column, and its cells. */
#define TARE_SEGMENT_SUM_SHOWN                                                                     \
	{ NULL, "NR", TARE_COL_COUNT }, { NULL, "BLOCKS", TARE_COL_COUNT },                        \
		{ NULL, "LIVE", TARE_COL_BYTES }, { NULL, "CACHED", TARE_COL_BYTES },              \
		{ NULL, "STUCK", TARE_COL_BYTES }, { NULL, "FOR GRAPHS", TARE_COL_BYTES },         \
	{                                                                                          \
		NULL, "ALL", TARE_COL_BYTES                                                        \
	}
void tare_segment_sum_show(struct tare_emit *e, const struct tare_segment_sum *sum);

/* The same for scripts. */
#define TARE_SEGMENT_SUM_DATA                                                                      \
	{ "segments", "", TARE_COL_COUNT }, { "blocks", "", TARE_COL_COUNT },                      \
		{ "bytes", "", TARE_COL_BYTES }, { "live_bytes", "", TARE_COL_BYTES },             \
		{ "cached_bytes", "", TARE_COL_BYTES }, { "stuck_bytes", "", TARE_COL_BYTES },     \
	{                                                                                          \
		"held_bytes", "", TARE_COL_BYTES                                                   \
	}
void tare_segment_sum_emit(struct tare_emit *e, const struct tare_segment_sum *sum);

#endif
