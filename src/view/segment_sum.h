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
	TARE_LOOSE(NULL, "NR", COUNT), TARE_LOOSE(NULL, "BLOCKS", COUNT),                          \
		TARE_LOOSE(NULL, "LIVE", BYTES), TARE_LOOSE(NULL, "CACHED", BYTES),                \
		TARE_LOOSE(NULL, "STUCK", BYTES), TARE_LOOSE(NULL, "FOR GRAPHS", BYTES),           \
		TARE_LOOSE(NULL, "ALL", BYTES)
void tare_segment_sum_show(struct tare_emit *e, const struct tare_segment_sum *sum);

/* The same for scripts. */
#define TARE_SEGMENT_SUM_DATA                                                                      \
	TARE_LOOSE("segments", "", COUNT), TARE_LOOSE("blocks", "", COUNT),                        \
		TARE_LOOSE("bytes", "", BYTES), TARE_LOOSE("live_bytes", "", BYTES),               \
		TARE_LOOSE("cached_bytes", "", BYTES), TARE_LOOSE("stuck_bytes", "", BYTES),       \
		TARE_LOOSE("held_bytes", "", BYTES)
void tare_segment_sum_emit(struct tare_emit *e, const struct tare_segment_sum *sum);

#endif
