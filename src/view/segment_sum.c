/* SPDX-License-Identifier: Apache-2.0 */
/* Sums segments of PyTorch's allocator. */
#include "view/segment_sum.h"

void tare_segment_sum_take(struct tare_segment_sum *sum, const struct tare_pool_segment *s)
{
	sum->segments++;
	sum->blocks += s->blocks;
	sum->other_stream_blocks += s->other_stream_blocks;
	sum->bytes += s->bytes;
	sum->live += s->live;
	*(s->live ? &sum->stuck : s->is_held ? &sum->held : &sum->cached) += s->bytes - s->live;
}
