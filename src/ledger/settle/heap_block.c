/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "heap blocks": what programs have from malloc and its kin (tare run --host). In the books the heap of all of
 * them is a device, and what it has in use is what the blocks are: so nothing of it waits for a reading, or for calls.
 *
 * A block that was drawn stands for all that had the same chance p: for bytes / p bytes, whose variance is
 * (1 - p) / p² · bytes² (Horvitz and Thompson). Sums of these are right on average, and so are sums of variances.
 */
#include "ledger/settle/settle.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>

#define BYTES_MAX (UINT64_C(1) << 46) /* of one block; more is damage */
enum { SAMPLING_MAX = 30 };

/* ---- blocks ---- */

static struct tare_heap_block of_record(const struct tare_rec_heap_block *r)
{
	double bytes = (double)r->bytes, chance;

	if (!r->sampling)
		return (struct tare_heap_block){ .address = r->block,
						 .bytes = (int64_t)r->bytes,
						 .count = 1 };
	chance = -expm1(-bytes / (double)(UINT64_C(1) << r->sampling));
	return (struct tare_heap_block){
		.address = r->block,
		.bytes = llround(bytes / chance),
		.variance =
			llround((1 - chance) * (bytes / chance / 1024) * (bytes / chance / 1024)),
		.count = (uint32_t)lround(1 / chance),
	};
}

static size_t take_place(struct tare_heap_blocks *h)
{
	size_t i = h->free;

	if (i) {
		h->free = (size_t)h->items[i - 1].bytes;
		return i - 1;
	}
	h->items = tare_array_reserve(h->items, &h->cap, h->count + 1, sizeof(*h->items));
	return h->count++;
}

static void book(struct tare_fold *f, struct tare_device_fold *d, const struct tare_heap_block *b,
		 int sign)
{
	enum tare_evidence how = b->variance ? TARE_EVIDENCE_INFERRED : TARE_EVIDENCE_EXACT;
	int64_t bytes = sign * b->bytes;

	tare_fold_book(f, b->bucket,
		       &(struct tare_amount){ .bytes = bytes,
					      .low = bytes,
					      .high = bytes,
					      .count = sign * (int64_t)b->count,
					      .evidence = (uint8_t)(1 + how) });
	if (b->variance)
		tare_fold_book_bytes(f, tare_fold_bucket(f, b->context, TARE_BUCKET_VARIANCE, 0),
				     sign * b->variance, TARE_EVIDENCE_INFERRED);
	d->used += bytes;
}

static void add(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
		const struct tare_heap_block *b)
{
	size_t place = take_place(h);

	h->items[place] = *b;
	*tare_map_put(&h->place_of, b->address, NULL) = place + 1;
	book(f, d, b, 1);
}

/* What is there at an address goes. False: nothing is. */
static bool take_away(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
		      uint64_t address)
{
	struct tare_heap_block *b;
	uint64_t place;

	if (!tare_map_remove(&h->place_of, address, &place))
		return false;
	b = &h->items[place - 1];
	book(f, d, b, -1);
	*b = (struct tare_heap_block){ .bytes = (int64_t)h->free, .bucket = -1 };
	h->free = place;
	return true;
}

/* ---- mappings, which can go in pieces ---- */

static void add_mapping(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
			const struct tare_heap_block *b)
{
	add(f, d, h, b);
	tare_sorted_add(&h->first_pages, b->address / TARE_HEAP_PAGE);
}

static bool take_mapping_away(struct tare_fold *f, struct tare_device_fold *d,
			      struct tare_heap_blocks *h, uint64_t address)
{
	tare_sorted_remove(&h->first_pages, address / TARE_HEAP_PAGE);
	return take_away(f, d, h, address);
}

/* The last mapping that begins before `end`, if some of it is behind `begin`: mappings do not overlap. */
static bool last_between(const struct tare_heap_blocks *h, uint64_t begin, uint64_t end,
			 struct tare_heap_block *found)
{
	const uint64_t *place;
	uint64_t page;

	if (!tare_sorted_last_up_to(&h->first_pages, (end - 1) / TARE_HEAP_PAGE, &page))
		return false;
	place = tare_map_get(&h->place_of, page * TARE_HEAP_PAGE);
	if (!place)
		return false;
	*found = h->items[*place - 1];
	return found->address == page * TARE_HEAP_PAGE &&
	       found->address + (uint64_t)found->bytes > begin;
}

static void keep_piece(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
		       const struct tare_heap_block *of, uint64_t begin, uint64_t end)
{
	struct tare_heap_block piece = *of;

	if (begin >= end)
		return;
	piece.address = begin;
	piece.bytes = (int64_t)(end - begin);
	add_mapping(f, d, h, &piece);
}

/* Mostly one mapping goes as a whole. */
static bool cut(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
		uint64_t begin, uint64_t bytes)
{
	const uint64_t *whole = tare_map_get(&h->place_of, begin);
	uint64_t end = begin + bytes;
	struct tare_heap_block b;
	bool is_any = false;

	if (whole && (uint64_t)h->items[*whole - 1].bytes == bytes)
		return take_mapping_away(f, d, h, begin);
	while (last_between(h, begin, end, &b)) {
		is_any |= take_mapping_away(f, d, h, b.address);
		keep_piece(f, d, h, &b, b.address, begin);
		keep_piece(f, d, h, &b, end, b.address + (uint64_t)b.bytes);
	}
	return is_any;
}

void tare_heap_blocks_restore(struct tare_heap_blocks *mapped)
{
	for (size_t i = 0; i < mapped->count; i++)
		if (mapped->items[i].bucket >= 0)
			tare_sorted_add(&mapped->first_pages,
					mapped->items[i].address / TARE_HEAP_PAGE);
}

void tare_heap_blocks_free(struct tare_heap_blocks *h)
{
	tare_map_free(&h->place_of);
	tare_map_free(&h->moving);
	tare_sorted_free(&h->first_pages);
	free(h->items);
}

/* ---- in order of time ---- */

/* As of calls (ends.c): the end of a process after which others take something is not the end. */
static void note_work(struct tare_fold *f, struct tare_device_fold *d,
		      const struct tare_process_fold *p, int64_t t)
{
	if (p->is_torn_down)
		return;
	d->worked_ns = t;
	if (f->worked_ns < t)
		f->worked_ns = t;
	d->has_moment[TARE_MOMENT_END] = false;
	f->host.has_moment[TARE_MOMENT_END] = false;
}

static uint64_t round_to_pages(uint64_t bytes)
{
	return (bytes + TARE_HEAP_PAGE - 1) & ~(uint64_t)(TARE_HEAP_PAGE - 1);
}

static bool has_moved(struct tare_heap_blocks *mapped, uint32_t tid)
{
	uint64_t is_any = 0;

	return tare_map_remove(&mapped->moving, tid, &is_any) && is_any;
}

static void take_block(struct tare_fold *f, struct tare_device_fold *d,
		       struct tare_process_on_device *own, const struct tare_event *e)
{
	const struct tare_rec_heap_block *r = e->rec.heap_block;
	struct tare_process_fold *p = tare_fold_process(f, e->process);
	struct tare_origin origin = tare_fold_origin(f, p, e);
	struct tare_heap_block b = of_record(r);
	bool is_mapped = r->source != TARE_HEAP_OF_MALLOC;
	enum tare_account account = is_mapped ? TARE_ACCOUNT_MAPPED : TARE_ACCOUNT_HEAP;

	if (r->source == TARE_HEAP_OF_MREMAP && !has_moved(&own->mapped, r->tid))
		return; /* of a file */
	b.context = tare_fold_context(f, e->process->index, d->index, 0);
	b.bucket = tare_fold_bucket_at(f, b.context, account, origin.owner, origin.site);
	/* What is there already has gone, and its end was not seen. */
	if (is_mapped) {
		b.bytes = (int64_t)round_to_pages(r->bytes);
		cut(f, d, &own->mapped, b.address, (uint64_t)b.bytes);
		add_mapping(f, d, &own->mapped, &b);
	} else {
		take_away(f, d, &own->heap, b.address);
		add(f, d, &own->heap, &b);
	}
	note_work(f, d, p, e->at_ns);
	tare_fold_peak(f, d, e->at_ns);
}

static void take_freed(struct tare_fold *f, struct tare_device_fold *d,
		       struct tare_process_on_device *own, const struct tare_event *e)
{
	const struct tare_rec_heap_freed *r = e->rec.heap_freed;

	if (r->flags & TARE_HEAP_FINALIZING)
		tare_host_tear_down(f, tare_fold_process(f, e->process), e->at_ns);
	if (take_away(f, d, &own->heap, r->block))
		tare_parts_used(f, d, e->at_ns);
}

static void take_unmapped(struct tare_fold *f, struct tare_device_fold *d,
			  struct tare_process_on_device *own, const struct tare_event *e)
{
	const struct tare_rec_heap_unmapped *r = e->rec.heap_unmapped;

	bool is_any = cut(f, d, &own->mapped, r->begin, round_to_pages(r->bytes));

	if (r->is_moved)
		*tare_map_put(&own->mapped.moving, r->tid, NULL) = is_any;
	if (is_any)
		tare_parts_used(f, d, e->at_ns);
}

/* The kernel maps nothing else. */
static bool is_of_pages(uint64_t begin, uint64_t bytes)
{
	return begin % TARE_HEAP_PAGE == 0 && bytes && bytes <= BYTES_MAX &&
	       begin <= UINT64_MAX - BYTES_MAX - TARE_HEAP_PAGE;
}

static bool is_damaged(const struct tare_event *e)
{
	const struct tare_rec_heap_block *block = e->rec.heap_block;
	const struct tare_rec_heap_unmapped *unmapped = e->rec.heap_unmapped;

	if (e->kind == TARE_KIND_HEAP_FREED)
		return false;
	if (e->kind == TARE_KIND_HEAP_UNMAPPED)
		return !is_of_pages(unmapped->begin, unmapped->bytes);
	if (block->source != TARE_HEAP_OF_MALLOC)
		return block->sampling || !is_of_pages(block->block, block->bytes);
	if (block->sampling)
		return block->sampling > SAMPLING_MAX || !block->bytes ||
		       block->bytes >> block->sampling;
	return block->bytes > BYTES_MAX;
}

void tare_fold_heap(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
	struct tare_process_on_device *own;

	/* What comes behind the end is the C library's, which frees what is left. */
	if (is_damaged(e) || tare_fold_process(f, e->process)->is_ending)
		return;
	own = tare_fold_process_on(f, e->process->index, d->index);
	tare_fold_advance_past(f, d, e->at_ns);
	d->last_ns = e->at_ns;
	if (e->kind == TARE_KIND_HEAP_BLOCK)
		take_block(f, d, own, e);
	else if (e->kind == TARE_KIND_HEAP_FREED)
		take_freed(f, d, own, e);
	else
		take_unmapped(f, d, own, e);
}

void tare_fold_heap_end(struct tare_fold *f, int process, int64_t t)
{
	for (int i = 0; i < f->device_nr; i++) {
		struct tare_device_fold *d = f->devices[i];
		int64_t bytes;

		if (!d || !(d->device->flags & TARE_DEVICE_HEAP))
			continue;
		bytes = tare_fold_process_bytes(f, d, process);
		if (!bytes)
			continue;
		tare_fold_advance_past(f, d, t);
		tare_fold_remove_process(f, d, process);
		d->used -= bytes;
		d->last_ns = t;
		tare_parts_used(f, d, t);
	}
}
