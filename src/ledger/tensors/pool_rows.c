/* SPDX-License-Identifier: Apache-2.0 */
/* The segments of PyTorch's allocator at an instant, and the block that has pinned each the longest. */
#include "ledger/tensors/tensors.h"

#include "base/array.h"
#include "base/bisect.h"
#include "base/comparator.h"

#include <stdlib.h>

/* A segment with what is found in it. */
struct found {
	struct tare_segment segment;
	const struct tare_live_block *oldest;
	uint64_t blocks;
};

TARE_COMPARATOR(by_segment, struct tare_segment, TARE_RISING(process) TARE_RISING(at))

static bool is_before(const struct tare_segment *s, const struct tare_live_block *b)
{
	return s->process != b->process ? s->process < b->process : s->at + s->size <= b->address;
}

/* How much of the block lies in it. */
static int64_t part_of(const struct tare_segment *s, const struct tare_live_block *b)
{
	uint64_t begin = b->address > s->at ? b->address : s->at, end = b->address + (uint64_t)b->bytes;

	if (end > s->at + s->size)
		end = s->at + s->size;
	return s->process == b->process && begin < end ? (int64_t)(end - begin) : 0;
}

/* The first segment, in order, that does not end before the block begins. */
static size_t first_of(const struct found *found, size_t count, const struct tare_live_block *b)
{
	size_t low = 0;

	TARE_BISECT(low, count, i, is_before(&found[i].segment, b));
	return low;
}

/* Of those whose age is not known, too, it is always the same one. */
static bool is_older(const struct tare_live_block *a, const struct tare_live_block *b)
{
	return a->born_ns != b->born_ns ? a->born_ns < b->born_ns : a->address < b->address;
}

/* The segments are in order, the blocks are not; a block may lie in several segments. */
static void fill(struct found *found, size_t count, struct tare_block_walk blocks)
{
	const struct tare_live_block *b;

	while ((b = tare_block_walk_next(&blocks)))
		for (size_t k = first_of(found, count, b); k < count; k++) {
			int64_t part = part_of(&found[k].segment, b);

			if (!part)
				break;
			found[k].segment.live += part;
			found[k].blocks++;
			if (!found[k].oldest || is_older(b, found[k].oldest))
				found[k].oldest = b;
		}
}

static int64_t stuck(const struct found *f)
{
	return f->segment.live > 0 ? (int64_t)f->segment.size - f->segment.live : 0;
}

TARE_COMPARATOR(by_stuck, struct found,
                TARE_FALLING_BY(stuck(it)) TARE_FALLING(segment.size)
                    TARE_COMPARED(by_segment(&x->segment, &y->segment)))

static void pin(const struct tare_fold *f, const struct found *found, struct tare_arena *memory,
                struct tare_pool_segment *out)
{
	const struct tare_live_block *b = found->oldest;

	if (!b)
		return;
	out->pin_address = b->address;
	out->pin_bytes = b->bytes;
	out->pin_born_ns = b->born_ns;
	if (!stuck(found))
		return; /* nobody asks */
	out->pin_line = tare_fold_site_name(f, b->site, true, memory);
	out->pin_short_line = tare_fold_site_name(f, b->site, false, memory);
}

static bool is_alike(const struct tare_segment *a, const struct tare_segment *b)
{
	return a->process == b->process && a->owner == b->owner && a->is_expandable == b->is_expandable;
}

static enum tare_account account_of(const struct tare_segment *s)
{
	return s->is_expandable ? TARE_ACCOUNT_VMM : TARE_ACCOUNT_ALLOCATION;
}

/* Where nobody reported blocks, nothing is known of what is in the segments: they are left out. */
static size_t leave_out(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                        struct tare_segment *s, size_t count)
{
	struct tare_segment last = { 0 };
	bool is_known = false;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct tare_segment now = s[i];

		if (!i || !is_alike(&now, &last))
			is_known = tare_fold_tensor_use(f, d, now.process, account_of(&now), now.owner, m).is_known;
		last = now;
		if (is_known)
			s[kept++] = now;
	}
	return kept;
}

static void add_collected(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                          struct tare_block_walk blocks, struct tare_collected_ledger *out)
{
	const struct tare_live_block *b;

	out->waiting = m == TARE_MOMENT_NOW ? -1 : 0;
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		const struct tare_amount *a = tare_fold_amount(f, &f->buckets[i], m);

		if (f->buckets[i].account != TARE_BUCKET_COLLECTED)
			continue;
		out->blocks += (uint64_t)a->count;
		out->bytes += a->bytes;
	}
	while (m != TARE_MOMENT_NOW && (b = tare_block_walk_next(&blocks)))
		if (b->flags & TARE_TENSOR_GC)
			out->waiting += b->bytes;
}

void tare_fold_pool_rows(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                         struct tare_arena *memory, struct tare_device_ledger *out)
{
	struct tare_block_walk blocks = tare_block_walk_of(f, d->index, -1, m);
	struct tare_segment *segments;
	size_t count = tare_fold_segments_at(f, d, m, &segments);
	struct found *found;

	if (!count)
		return;
	TARE_SORT(segments, count, by_segment);
	count = leave_out(f, d, m, segments, count);
	add_collected(f, d, m, blocks, &out->collected);
	found = tare_xcalloc(count + 1, sizeof(*found));
	for (size_t i = 0; i < count; i++)
		found[i].segment = segments[i];
	fill(found, count, blocks);
	TARE_SORT(found, count, by_stuck);
	out->segments = tare_arena_alloc(memory, (count + 1) * sizeof(*out->segments));
	out->segment_nr = (int)count;
	for (size_t i = 0; i < count; i++) {
		const struct tare_segment *s = &found[i].segment;
		const struct tare_process *p = f->processes[s->process]->process;

		out->segments[i] = (struct tare_pool_segment){
			.pid = p->pid,
			.generation = p->generation,
			.address = s->at,
			.bytes = (int64_t)s->size,
			.live = s->live,
			.blocks = found[i].blocks,
			.is_expandable = s->is_expandable,
			.is_trial = s->is_trial,
			.is_held = s->is_held,
			.is_of_graph = s->graph >= 0,
			.stream = tare_fold_stream_named(&s->on),
			.other_stream_blocks = s->other_stream_blocks,
			.graph_pool = s->graph >= 0 && (size_t)s->graph < f->group_nr ? f->groups[s->graph].pool : 0,
		};
		pin(f, &found[i], memory, &out->segments[i]);
	}
	free(found);
	free(segments);
}
