/* SPDX-License-Identifier: Apache-2.0 */
#include "view/segment_sum.h"

void tare_segment_sum_take(struct tare_segment_sum *sum, const struct tare_pool_segment *s)
{
	sum->segments++;
	sum->blocks += s->blocks;
	sum->otherwise += s->otherwise;
	sum->bytes += s->bytes;
	sum->live += s->live;
	*(s->live ? &sum->stuck : s->is_held ? &sum->held : &sum->cached) += s->bytes - s->live;
}

void tare_segment_sum_join(struct tare_segment_sum *all, const struct tare_segment_sum *sum)
{
	all->segments += sum->segments;
	all->blocks += sum->blocks;
	all->otherwise += sum->otherwise;
	all->bytes += sum->bytes;
	all->live += sum->live;
	all->cached += sum->cached;
	all->stuck += sum->stuck;
	all->held += sum->held;
}

void tare_segment_sum_show(struct tare_emit *e, const struct tare_segment_sum *sum)
{
	tare_emit_cell_uint(e, sum->segments);
	tare_emit_cell_uint(e, sum->blocks);
	tare_emit_cell_int(e, sum->live);
	tare_emit_cell_int(e, sum->cached);
	tare_emit_cell_int(e, sum->stuck);
	tare_emit_cell_int(e, sum->held);
	tare_emit_cell_int(e, sum->bytes);
}

void tare_segment_sum_emit(struct tare_emit *e, const struct tare_segment_sum *sum)
{
	tare_emit_cell_uint(e, sum->segments);
	tare_emit_cell_uint(e, sum->blocks);
	tare_emit_cell_int(e, sum->bytes);
	tare_emit_cell_int(e, sum->live);
	tare_emit_cell_int(e, sum->cached);
	tare_emit_cell_int(e, sum->stuck);
	tare_emit_cell_int(e, sum->held);
}
