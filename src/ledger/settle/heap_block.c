/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "heap blocks": what programs have from malloc and its kin (tare run --host). In the books the heap of all of
 * them is a device, and what it has in use is what the blocks are: so nothing of it waits for a reading, or for calls.
 *
 * A block that was drawn stands for all that had the same chance p: for bytes / p bytes, whose variance is
 * (1 - p) / p² · bytes² (Horvitz and Thompson). Sums of these are right on average, and so are sums of variances.
 */
#include "ledger/settle/heap_live.h"
#include "ledger/settle/settle.h"

#include <math.h>

enum { SAMPLING_MAX = 30 };

/* ---- blocks ---- */

static struct tare_heap_block of_record(const struct tare_rec_heap_block *r)
{
	double bytes = (double)r->bytes, chance;
	uint8_t power = tare_heap_power(r->bytes);

	if (!r->sampling)
		return (struct tare_heap_block){ .address = r->block, .bytes = (int64_t)r->bytes, .count = 1, .power = power };
	chance = -expm1(-bytes / (double)(UINT64_C(1) << r->sampling));
	return (struct tare_heap_block){
		.address = r->block,
		.bytes = llround(bytes / chance),
		.variance = llround((1 - chance) * (bytes / chance / 1024) * (bytes / chance / 1024)),
		.count = (uint32_t)lround(1 / chance),
		.power = power,
	};
}

/* ---- in order of time ---- */

/* As of calls (ends.c): the end of a process after which others take something is not the end. */
void tare_heap_note_work(struct tare_fold *f, struct tare_device_fold *d, const struct tare_process_fold *p, int64_t t)
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

/* What the mremap of this thread took away: some of enum tare_heap_parts. */
static uint64_t parts_moved(struct tare_heap_blocks *mapped, uint32_t tid)
{
	uint64_t parts = 0;

	tare_map_remove(&mapped->moving, tid, &parts);
	return parts;
}

/* False: it is of a file. */
static bool take_mapping(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *mapped,
                         const struct tare_rec_heap_block *r, struct tare_heap_block *b)
{
	b->bytes = (int64_t)round_to_pages(r->bytes);
	b->power = tare_heap_power((uint64_t)b->bytes);
	b->is_reserved = r->source == TARE_HEAP_OF_RESERVE;
	if (r->source == TARE_HEAP_OF_MPROTECT) {
		tare_heap_mapping_change(f, d, mapped, b);
		return true;
	}
	if (r->source == TARE_HEAP_OF_MREMAP) {
		uint64_t parts = parts_moved(mapped, r->tid);

		if (!parts)
			return false;
		b->is_reserved = !(parts & TARE_HEAP_USABLE);
	}
	tare_heap_mapping_cut(f, d, mapped, b->address, (uint64_t)b->bytes);
	tare_heap_mapping_add(f, d, mapped, b);
	return true;
}

static void take_block(struct tare_fold *f, struct tare_device_fold *d, struct tare_process_on_device *own,
                       const struct tare_event *e)
{
	const struct tare_rec_heap_block *r = e->rec.heap_block;
	struct tare_process_fold *p = tare_fold_process(f, e->process);
	struct tare_origin origin = tare_fold_origin(f, p, e);
	struct tare_heap_block b = of_record(r);
	bool is_mapped = r->source != TARE_HEAP_OF_MALLOC;
	enum tare_account account = is_mapped ? TARE_ACCOUNT_MAPPED : TARE_ACCOUNT_HEAP;

	b.context = tare_fold_context(f, e->process->index, d->index, 0);
	b.bucket = tare_fold_bucket_at(f, b.context, account, origin.owner, origin.site);
	if (is_mapped) {
		if (!take_mapping(f, d, &own->mapped, r, &b))
			return;
	} else {
		tare_heap_block_put(f, d, &own->heap, &b);
		tare_heap_block_moved(f, d, &own->heap, r->tid);
	}
	tare_heap_note_work(f, d, p, e->at_ns);
	tare_parts_event(f, d, e);
	tare_fold_peak(f, d, e->at_ns);
}

static void take_freed(struct tare_fold *f, struct tare_device_fold *d, struct tare_process_on_device *own,
                       const struct tare_event *e)
{
	const struct tare_rec_heap_freed *r = e->rec.heap_freed;

	if (r->flags & TARE_HEAP_FINALIZING)
		tare_host_tear_down(f, tare_fold_process(f, e->process), e->at_ns);
	tare_heap_block_moved(f, d, &own->heap, r->tid);
	if (r->flags & TARE_HEAP_MOVING)
		tare_heap_block_move(&own->heap, r->block, r->tid);
	else if (tare_heap_block_take(f, d, &own->heap, r->block))
		tare_parts_used(f, d, e->at_ns);
}

static void take_unmapped(struct tare_fold *f, struct tare_device_fold *d, struct tare_process_on_device *own,
                          const struct tare_event *e)
{
	const struct tare_rec_heap_unmapped *r = e->rec.heap_unmapped;
	uint64_t bytes = round_to_pages(r->bytes);
	unsigned int parts;

	if (r->how == TARE_HEAP_GOES_CLOSED) {
		struct tare_heap_block closed = { .address = r->begin, .bytes = (int64_t)bytes, .is_reserved = true };

		parts = tare_heap_mapping_change(f, d, &own->mapped, &closed) ? TARE_HEAP_USABLE : 0;
	} else {
		parts = tare_heap_mapping_cut(f, d, &own->mapped, r->begin, bytes);
	}
	if (r->how == TARE_HEAP_GOES_MOVED)
		*tare_map_put(&own->mapped.moving, r->tid, NULL) = parts;
	if (parts & TARE_HEAP_USABLE)
		tare_parts_used(f, d, e->at_ns);
}

/* The kernel maps nothing else. */
static bool is_of_pages(uint64_t begin, uint64_t bytes)
{
	return begin % TARE_HEAP_PAGE == 0 && bytes && bytes <= TARE_HEAP_BYTES_MAX;
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
		return block->sampling > SAMPLING_MAX || !block->bytes || block->bytes >> block->sampling;
	return block->bytes > TARE_HEAP_BYTES_MAX;
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
