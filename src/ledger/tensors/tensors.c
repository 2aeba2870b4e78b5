/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "tensors": PyTorch's allocator takes segments from the driver and hands out blocks of them. A
 * block lies in the live allocation of its library that holds its address. So a segment is in use, or
 * cached: wholly, then the allocator can give it back, or partly, then its blocks pin it. One that was
 * taken while a graph was captured is the graph's as long as that is there: replays use what is cached in it.
 *
 * The bytes of segments are in the books already; what is kept here says how they are made up, and
 * enters no sum.
 */
#include "ledger/tensors/tensors.h"

/* What of a block lies in a segment. */
static int64_t part_in(const struct tare_segment *s, const struct tare_live_block *b)
{
	uint64_t begin = b->address > s->at ? b->address : s->at;
	uint64_t block_end = b->address + (uint64_t)b->bytes, end = s->at + s->size;

	return (int64_t)(block_end < end ? block_end : end) - (int64_t)begin;
}

/* The first segment in which some of a block lies; NULL: none does. `i`: tare_segments_place() of its address. */
static struct tare_segment *segment_of(const struct tare_segments *s, int i, uint64_t address, int64_t bytes)
{
	if (i < 0 || address - s->items[i].at >= s->items[i].size)
		i++;
	return (size_t)i < s->count && s->items[i].at < address + (uint64_t)bytes ? &s->items[i] : NULL;
}

/*
 * The block comes into a segment, or goes (`on` NULL): `part` of it, and it is counted in its first one. Returns how
 * much of it is booked by that.
 */
static int64_t move_in(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                       struct tare_segment *s, struct tare_live_block *b, const struct tare_on_stream *on, int64_t part,
                       bool is_first)
{
	int bucket;

	if (!on) {
		part = part > s->live ? s->live : part;
		tare_fold_segment_move(f, d, s, b->site, -part, -(int64_t)is_first);
		return 0;
	}
	tare_fold_segment_on(tensors, s, on);
	bucket = tare_fold_segment_move(f, d, s, b->site, part, is_first);
	if (bucket < 0)
		return 0;
	b->bucket = bucket;
	return part;
}

/* The same from `first` on: a block may lie in several mappings side by side. NULL: none is there any more. */
static int64_t spread(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                      struct tare_segments *s, struct tare_segment *first, struct tare_live_block *b,
                      const struct tare_on_stream *on)
{
	const struct tare_segment *end = s->items + s->count;
	uint64_t block_end = b->address + (uint64_t)b->bytes;
	int64_t booked = 0;

	if (first && b->address >= first->at && block_end <= first->at + first->size)
		return move_in(tensors, f, d, first, b, on, b->bytes, true);
	for (struct tare_segment *g = first; g && g < end && g->at < block_end; g++)
		booked += move_in(tensors, f, d, g, b, on, part_in(g, b), g == first);
	return booked;
}

/* Nobody took it back, as far as is known. */
static const struct tare_taking unseen, at_end = { .flags = TARE_TENSOR_FINALIZING };

/* `segment`: tare_segments_place() of the address. */
static void block_free(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                       struct tare_process_on_device *p, uint64_t address, int segment, struct tare_taking by)
{
	struct tare_live_block *block = tare_blocks_remove(&p->blocks, address, by, &f->block_serial, &d->kept_blocks);

	if (!block)
		return;
	spread(tensors, f, d, &p->segments, segment_of(&p->segments, segment, block->address, block->bytes), block, NULL);
	tare_fold_block_gone(tensors, f, &p->blocks.work, block);
	tare_tensor_kinds_gone(f, block, d->index);
	tare_block_courses_change(f, block, d->index, true);
	tare_blocks_release(&p->blocks, block);
}

/* A segment goes in which the block has its end. */
static void shorten(struct tare_fold *f, struct tare_device_fold *d, struct tare_process_on_device *p,
                    struct tare_segment *s, struct tare_live_block *b)
{
	struct tare_work *w = &p->blocks.work;
	int64_t part = part_in(s, b);

	if (tare_fold_segment_move(f, d, s, b->site, part > s->live ? -s->live : -part, 0) >= 0)
		tare_block_book(w, b, tare_block_booked(b, tare_block_facts_of(w, b)) - part);
}

/*
 * Blocks of a segment go with it: their ends will not be told, or mean nothing, so they were there to the last. One
 * that begins before it has less from now on.
 */
void tare_fold_free_segment_blocks(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                                   struct tare_process_on_device *p, struct tare_segment *s)
{
	for (size_t i = 0; i < p->blocks.count; i++) {
		struct tare_live_block *b = &p->blocks.items[i];

		if (b->process < 0)
			continue;
		if (b->address - s->at < s->size) {
			block_free(tensors, f, d, p, b->address, (int)(s - p->segments.items), at_end);
		} else if (b->address < s->at && b->address + (uint64_t)b->bytes > s->at) {
			shorten(f, d, p, s, b);
		}
	}
	if (s->live)
		tare_fold_segment_move(f, d, s, 0, -s->live, 0); /* of reports that contradict each other */
}

void tare_tensors_leave(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d, int process,
                        int context)
{
	struct tare_process_on_device *p = tare_fold_process_on(f, process, d->index);

	for (size_t i = 0; i < p->blocks.count; i++) {
		const struct tare_live_block *b = &p->blocks.items[i];
		int s = b->process < 0 ? -1 : tare_segments_place(&p->segments, b->address);

		if (b->process >= 0 && (context < 0 || (s >= 0 && p->segments.items[s].context == context)))
			block_free(tensors, f, d, p, b->address, s, at_end);
	}
}

/* Outside of any segment it is not known what a block is. */
static struct tare_live_block *block_alloc(struct tare_tensors_part *tensors, struct tare_fold *f,
                                           struct tare_device_fold *d, struct tare_process_on_device *p,
                                           const struct tare_block *b, int place)
{
	struct tare_segment *segment = segment_of(&p->segments, place, b->address, b->bytes);
	struct tare_live_block *block;
	int64_t booked;

	if (!segment) {
		block_free(tensors, f, d, p, b->address, place, unseen);
		return NULL;
	}
	block = tare_blocks_add(&p->blocks, b);
	if (!block) { /* its end was not seen */
		block_free(tensors, f, d, p, b->address, place, unseen);
		block = tare_blocks_add(&p->blocks, b);
	}
	if (tare_block_facts_are_full(&p->blocks.work.facts))
		tare_block_facts_make_room(&p->blocks, &d->kept_blocks, b->process);
	booked = spread(tensors, f, d, &p->segments, segment, block, &b->on);
	block->marks = tare_booked_mark(block, booked);
	tare_work_begin(tensors, f, &p->blocks.work, block, b, block->marks & TARE_BLOCK_IN_PART ? booked : 0);
	tare_fold_segment_allocated(f, d, segment, b->site, b->bytes);
	tare_tensor_kinds_made(f, block, d->index);
	tare_block_courses_change(f, block, d->index, false);
	return block;
}

/* Python's cyclic collector takes it back: until then nothing but itself referred to it. */
static void collect(struct tare_fold *f, struct tare_device_fold *d, struct tare_process_on_device *p, uint64_t address)
{
	struct tare_live_block *block = tare_blocks_find(&p->blocks, address);
	int i = tare_segments_place(&p->segments, address);

	if (!block || i < 0)
		return;
	block->flags |= TARE_TENSOR_GC;
	tare_fold_segment_collected(f, d, &p->segments.items[i], block->bytes);
}

bool tare_tensor_hand_out(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                          struct tare_process_on_device *p, const struct tare_block *b, int segment,
                          struct tare_block_change *c)
{
	const struct tare_live_block *made = block_alloc(tensors, f, d, p, b, segment);

	if (!made)
		return false;
	tare_work_change(&p->blocks.work, made, c);
	c->device = d->index;
	c->used = d->used;
	c->live = d->live;
	return true;
}

void tare_tensor_take_back(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                           struct tare_process_on_device *p, uint64_t address, int segment, struct tare_taking by)
{
	if (by.flags & TARE_TENSOR_GC)
		collect(f, d, p, address);
	block_free(tensors, f, d, p, address, segment, by);
}

/* Autograd's engine works on threads of its own, which run no Python. */
uint32_t tare_tensor_site(struct tare_fold *f, struct tare_process_fold *p, const struct tare_event *e)
{
	if (!e->python && (e->rec.tensor->flags & TARE_TENSOR_BACKWARD))
		return tare_fold_site_of_backward(f, p, e->process);
	return tare_fold_site(f, p, e);
}

void tare_tensor_block(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e,
                       struct tare_block *out)
{
	const struct tare_rec_tensor *r = e->rec.tensor;
	struct tare_process_fold *p = tare_fold_process(f, e->process);

	*out = (struct tare_block){ .address = r->block,
		                        .bytes = r->bytes,
		                        .t = e->at_ns,
		                        .born_ns = e->at_ns,
		                        .process = e->process->index,
		                        .tid = r->tid,
		                        .flags = r->flags };
	if (r->bytes <= 0)
		return;
	out->module = tare_modules_of_block(&p->modules, r);
	out->site = tare_tensor_site(f, p, e);
	out->on = tare_fold_stream_of(p, d, r);
}

/* Memory of cuMemCreate belongs to no context. */
static bool is_of(const struct tare_fold *f, const struct tare_bucket *b, enum tare_account account)
{
	return (account == TARE_ACCOUNT_VMM) == !f->contexts[b->context].handle;
}

/* Of one process's pool at a moment: bytes in blocks, their number, and cached beside them. */
struct tare_pool_use tare_fold_tensor_use(const struct tare_fold *f, const struct tare_device_fold *d, int process,
                                          enum tare_account account, uint64_t owner, enum tare_moment m)
{
	struct tare_pool_use use = { 0 };

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &f->buckets[i];
		const struct tare_amount *a = tare_fold_amount(f, b, m);

		if (b->process != process || b->owner != owner || !is_of(f, b, account))
			continue;
		use.is_known |= b->account == TARE_BUCKET_TENSOR || b->account == TARE_BUCKET_TRIED;
		if (b->account == TARE_BUCKET_TENSOR) {
			use.live += a->bytes;
			use.count += a->count;
		} else if (b->account == TARE_BUCKET_PARTLY) {
			use.partly += a->bytes;
		} else if (b->account == TARE_BUCKET_HELD) {
			use.held += a->bytes;
		}
	}
	return use;
}

/* ---- the part ---- */

/* What the blocks of a process on a device have that are booked. */
static int64_t booked(const struct tare_process_on_device *p)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < p->blocks.count; i++)
		if (p->blocks.items[i].process >= 0)
			bytes += tare_block_booked(&p->blocks.items[i], tare_block_facts_of(&p->blocks.work, &p->blocks.items[i]));
	return bytes;
}

static int64_t in_segments(const struct tare_process_on_device *p)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < p->segments.count; i++)
		bytes += p->segments.items[i].is_trial ? 0 : p->segments.items[i].live;
	return bytes;
}

/* Blocks have what their segments say is live in them, and segments are in order, each beside the next. */
const char *tare_tensors_check(const struct tare_tensors_part *tensors, const struct tare_fold *f)
{
	(void)tensors;
	for (int i = 0; i < f->process_nr; i++)
		for (int d = 0; f->processes[i] && d < f->processes[i]->on_device_nr; d++) {
			const struct tare_process_on_device *p = f->processes[i]->on_device[d];

			for (size_t k = 1; p && k < p->segments.count; k++)
				if (p->segments.items[k - 1].at >= p->segments.items[k].at)
					return "segments are out of order";
			if (p && booked(p) != in_segments(p))
				return "the live blocks are not what their segments hold";
		}
	return NULL;
}

void tare_tensors_event(struct tare_tensors_part *tensors, struct tare_fold *f, const struct tare_device_fold *d,
                        const struct tare_event *e)
{
	(void)tensors;
	if (e->kind == TARE_KIND_MODULE)
		tare_modules_take(f, e);
	else if (e->kind == TARE_KIND_MAPPED_FILE)
		tare_mapped_file_take(f, e);
	else
		tare_fold_stream(f, d, e);
}
