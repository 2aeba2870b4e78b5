/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "tensors": PyTorch's allocator takes segments from the driver and hands out blocks of them. A
 * block lies in the live allocation of its library that holds its address. So a segment is in use, or
 * cached: wholly, then the allocator can give it back, or partly, then its blocks pin it.
 *
 * The bytes of segments are in the books already; what is kept here says how they are made up, and
 * enters no sum.
 */
#include "ledger/fold.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* The library whose allocator reports blocks. */
static const char *const allocators[] = { "libc10_cuda", "libc10_hip" };

bool tare_fold_tensor_is_pool(const struct tare_fold *f, uint64_t owner)
{
	const char *name = owner ? f->owners[owner - 1] : "";

	for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++)
		if (!strcmp(name, allocators[i]))
			return true;
	return false;
}

/* Is what is booked there cut into blocks? */
bool tare_fold_tensor_is_segment(const struct tare_fold *f, int bucket)
{
	const struct tare_bucket *b = bucket < 0 ? NULL : &f->buckets[bucket];

	return b && (b->account == TARE_ACCOUNT_ALLOCATION || b->account == TARE_ACCOUNT_VMM) &&
	       tare_fold_tensor_is_pool(f, b->owner);
}

/* The place of the last segment that begins at or before the address; -1: none does. */
static int place_of(const struct tare_segments *s, uint64_t at)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->items[mid].at <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return (int)low - 1;
}

static void book(struct tare_fold *f, const struct tare_segment *s, int account, int64_t bytes,
		 int64_t count)
{
	if (bytes || count)
		tare_fold_book(f, tare_fold_bucket(f, s->context, account, s->owner),
			       &(struct tare_amount){ .bytes = bytes,
						      .low = bytes,
						      .high = bytes,
						      .count = count,
						      .evidence = 1 + TARE_EVIDENCE_EXACT });
}

static int64_t pinned(const struct tare_segment *s)
{
	return s->live > 0 ? (int64_t)s->size - s->live : 0;
}

/* Blocks of so many bytes came, or went. */
static void move(struct tare_fold *f, struct tare_segment *s, int64_t bytes, int64_t count)
{
	int64_t before = pinned(s);

	s->live += bytes;
	book(f, s, TARE_BUCKET_TENSOR, bytes, count);
	book(f, s, TARE_BUCKET_PARTLY, pinned(s) - before, 0);
}

void tare_fold_tensor_segment_add(struct tare_fold *f, int bucket, uint64_t at, uint64_t size)
{
	const struct tare_bucket *b = &f->buckets[bucket];
	struct tare_segments *s = &tare_fold_place(f, b->process, b->device)->segments;
	size_t i = (size_t)(place_of(s, at) + 1);

	s->items = tare_array_reserve(s->items, &s->cap, s->count + 1, sizeof(*s->items));
	memmove(&s->items[i + 1], &s->items[i], (s->count - i) * sizeof(*s->items));
	s->items[i] = (struct tare_segment){
		.at = at, .size = size, .context = b->context, .owner = b->owner
	};
	s->count++;
}

/* Adds or takes a block, which may lie in several mappings side by side. Is any of them there? */
static bool spread(struct tare_fold *f, struct tare_segments *s, uint64_t at, uint64_t bytes, int sign)
{
	int i = place_of(s, at);
	bool is_first = true;

	if (i < 0 || at - s->items[i].at >= s->items[i].size)
		i++;
	for (; (size_t)i < s->count && s->items[i].at < at + bytes; i++) {
		struct tare_segment *g = &s->items[i];
		uint64_t begin = at > g->at ? at : g->at, end = at + bytes;
		int64_t part;

		if (end > g->at + g->size)
			end = g->at + g->size;
		part = (int64_t)(end - begin);
		if (sign < 0 && part > g->live)
			part = g->live;
		move(f, g, sign * part, is_first ? sign : 0);
		is_first = false;
	}
	return !is_first;
}

static void take_back(struct tare_fold *f, struct tare_device_fold *d, struct tare_place *p,
		      uint64_t address)
{
	struct tare_live_block block;

	if (tare_blocks_remove(&p->blocks, address, d->mark_nr, d->kept_blocks, &block))
		spread(f, &p->segments, address, (uint64_t)block.bytes, -1);
}

/* Blocks of a segment go with it: their ends will not be told, or mean nothing. */
static void take_back_all(struct tare_fold *f, struct tare_device_fold *d, struct tare_place *p,
			  uint64_t at, uint64_t size)
{
	for (size_t i = 0; i < p->blocks.count; i++)
		if (p->blocks.items[i].process >= 0 && p->blocks.items[i].address - at < size)
			take_back(f, d, p, p->blocks.items[i].address);
}

/* Also of what was no segment, or is booked elsewhere by now. */
void tare_fold_tensor_segment_remove(struct tare_fold *f, int process, int device, uint64_t at)
{
	struct tare_place *p = tare_fold_place(f, process, device);
	struct tare_segments *s = &p->segments;
	int i = place_of(s, at);

	if (i < 0 || s->items[i].at != at)
		return;
	if (s->items[i].live)
		take_back_all(f, f->devices[device], p, at, s->items[i].size);
	if (s->items[i].live) /* of a block that begins before it */
		move(f, &s->items[i], -s->items[i].live, 0);
	s->count--;
	memmove(&s->items[i], &s->items[i + 1], (s->count - (size_t)i) * sizeof(*s->items));
}

static void apply(struct tare_fold *f, struct tare_device_fold *d, const struct tare_block *b)
{
	struct tare_place *p = tare_fold_place(f, b->process, d->index);

	if (b->flags & TARE_TENSOR_FINALIZING && !d->is_marked[TARE_MARK_END])
		tare_fold_mark(f, d, TARE_MARK_END, b->t);
	take_back(f, d, p, b->address); /* also what was handed out again: its end was not seen */
	if (b->bytes > 0 && spread(f, &p->segments, b->address, (uint64_t)b->bytes, 1))
		tare_blocks_add(&p->blocks,
				&(struct tare_live_block){ .address = b->address,
							   .bytes = b->bytes,
							   .born_ns = b->born_ns,
							   .process = b->process,
							   .site = b->site,
							   .tid = b->tid,
							   .flags = b->flags },
				d->mark_nr);
}

/* The segment of a block may be among calls that are not settled: it waits for them. */
void tare_fold_tensor(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
	const struct tare_rec_tensor *r = e->rec.tensor;
	struct tare_process_fold *p = tare_fold_process(f, e->process);
	struct tare_block b = { .address = r->block,
				.bytes = r->bytes,
				.t = e->at_ns,
				.born_ns = tare_fold_is_folded(e) ? -1 : e->at_ns,
				.process = e->process->index,
				.tid = r->tid,
				.flags = r->flags };

	if (b.bytes > (int64_t)1 << 44)
		return; /* damage */
	if (b.bytes > 0)
		b.site = tare_fold_origin(f, p, e).site;
	d->blocks = tare_array_reserve(d->blocks, &d->block_cap, d->block_nr + 1, sizeof(*d->blocks));
	d->blocks[d->block_nr++] = b;
	if (!d->cluster.count || tare_fold_is_folded(e))
		tare_fold_tensor_flush(f, d);
}

void tare_fold_tensor_flush(struct tare_fold *f, struct tare_device_fold *d)
{
	for (size_t i = 0; i < d->block_nr; i++) {
		tare_fold_advance(f, d, d->blocks[i].t);
		apply(f, d, &d->blocks[i]);
		tare_fold_plateau(f, d, d->blocks[i].t);
		tare_fold_peak_tensors(f, d, d->blocks[i].t);
	}
	d->block_nr = 0;
}

/* Memory of cuMemCreate belongs to no context. */
static bool is_of(const struct tare_fold *f, const struct tare_bucket *b, enum tare_account account)
{
	return (account == TARE_ACCOUNT_VMM) == !f->contexts[b->context].handle;
}

/* Of one process's pool at a mark: bytes in blocks, their number, and cached beside them. */
struct tare_pool_use tare_fold_tensor_use(const struct tare_fold *f, const struct tare_device_fold *d,
					  int process, enum tare_account account, uint64_t owner,
					  enum tare_mark m)
{
	struct tare_pool_use use = { 0 };

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &f->buckets[i];
		const struct tare_amount *a = tare_fold_amount(f, b, m);

		if (b->process != process || b->owner != owner || !is_of(f, b, account))
			continue;
		use.is_known |= b->account == TARE_BUCKET_TENSOR;
		if (b->account == TARE_BUCKET_TENSOR) {
			use.live += a->bytes;
			use.count += a->count;
		} else if (b->account == TARE_BUCKET_PARTLY) {
			use.partly += a->bytes;
		}
	}
	return use;
}
