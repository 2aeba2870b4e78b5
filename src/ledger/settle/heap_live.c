/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "heap blocks": the blocks and mappings that are there. Mappings can go in pieces, and some are addresses only: what
 * was mapped so that nobody may touch it counts once mprotect makes it usable, and not any more when that takes it back.
 */
#include "ledger/settle/heap_live.h"

#include "base/array.h"

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

/* Where all that is so large is booked. */
static int sized(struct tare_fold *f, struct tare_heap_blocks *h, const struct tare_heap_block *b)
{
	int *bucket = &h->sized[b->power];

	if (!*bucket)
		*bucket = 1 + tare_fold_bucket(f, b->context, TARE_BUCKET_HEAP_SIZED, b->power);
	return *bucket - 1;
}

/* What happens to the books: CALL a call hands it out, PIECE it is what is left of a mapping, GOES it is there no more. */
enum change { CALL, PIECE, GOES };

static void book(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
                 const struct tare_heap_block *b, enum change change)
{
	enum tare_evidence how = b->variance ? TARE_EVIDENCE_INFERRED : TARE_EVIDENCE_EXACT;
	int sign = change == GOES ? -1 : 1;
	int64_t bytes = sign * b->bytes;
	struct tare_amount by = {
		.bytes = bytes, .low = bytes, .high = bytes, .count = sign * (int64_t)b->count, .evidence = (uint8_t)(1 + how)
	};

	if (b->is_reserved)
		return;
	tare_fold_book_counted(f, sized(f, h, b), bytes, by.count, how);
	by.ever = change == CALL ? b->count : 0;
	by.ever_bytes = change == CALL ? b->bytes : 0;
	tare_fold_book(f, b->bucket, &by);
	if (b->variance)
		tare_fold_book_bytes(f, tare_fold_bucket(f, b->context, TARE_BUCKET_VARIANCE, 0), sign * b->variance,
		                     TARE_EVIDENCE_INFERRED);
	d->used += bytes;
}

bool tare_heap_block_take(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h, uint64_t address)
{
	struct tare_heap_block *b;
	uint64_t place;

	if (!tare_map_remove(&h->place_of, address, &place))
		return false;
	b = &h->items[place - 1];
	book(f, d, h, b, GOES);
	*b = (struct tare_heap_block){ .bytes = (int64_t)h->free, .bucket = -1 };
	h->free = place;
	return true;
}

void tare_heap_block_move(struct tare_heap_blocks *h, uint64_t address, uint32_t tid)
{
	const uint64_t *place = tare_map_get(&h->place_of, address);

	if (!place)
		return;
	h->items[*place - 1].is_moving = true;
	*tare_map_put(&h->moving, tid, NULL) = address;
}

void tare_heap_block_moved(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h, uint32_t tid)
{
	const uint64_t *place;
	uint64_t address;

	if (!tare_map_remove(&h->moving, tid, &address))
		return;
	place = tare_map_get(&h->place_of, address);
	if (place && h->items[*place - 1].is_moving) /* else what it became is there, or a block of another thread */
		tare_heap_block_take(f, d, h, address);
}

void tare_heap_block_put(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
                         const struct tare_heap_block *b)
{
	bool is_new;
	uint64_t *place = tare_map_put(&h->place_of, b->address, &is_new);
	struct tare_heap_block before;

	if (is_new)
		*place = take_place(h) + 1;
	before = h->items[*place - 1];
	h->items[*place - 1] = *b;
	book(f, d, h, b, CALL); /* first, so that what becomes larger never falls */
	if (!is_new)
		book(f, d, h, &before, GOES);
}

/* ---- mappings ---- */

static void add_mapping(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
                        const struct tare_heap_block *b, enum change change)
{
	size_t place = take_place(h);

	h->items[place] = *b;
	*tare_map_put(&h->place_of, b->address, NULL) = place + 1;
	tare_sorted_add(&h->first_pages, b->address / TARE_HEAP_PAGE);
	book(f, d, h, b, change);
}

void tare_heap_mapping_add(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
                           const struct tare_heap_block *b)
{
	add_mapping(f, d, h, b, CALL);
}

static bool take(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h, uint64_t address)
{
	tare_sorted_remove(&h->first_pages, address / TARE_HEAP_PAGE);
	return tare_heap_block_take(f, d, h, address);
}

/* The last mapping that begins before `end`, if some of it is behind `begin`: mappings do not overlap. */
static bool last_between(const struct tare_heap_blocks *h, uint64_t begin, uint64_t end, struct tare_heap_block *found)
{
	const uint64_t *place;
	uint64_t page;

	if (!tare_sorted_last_up_to(&h->first_pages, (end - 1) / TARE_HEAP_PAGE, &page))
		return false;
	place = tare_map_get(&h->place_of, page * TARE_HEAP_PAGE);
	if (!place)
		return false;
	*found = h->items[*place - 1];
	return found->address == page * TARE_HEAP_PAGE && found->address + (uint64_t)found->bytes > begin;
}

static void add_piece(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
                      const struct tare_heap_block *of, uint64_t begin, uint64_t end, enum change change)
{
	struct tare_heap_block piece = *of;

	if (begin >= end)
		return;
	piece.address = begin;
	piece.bytes = (int64_t)(end - begin);
	piece.power = tare_heap_power(end - begin);
	add_mapping(f, d, h, &piece, change);
}

static unsigned int part_of(const struct tare_heap_block *b)
{
	return b->is_reserved ? TARE_HEAP_RESERVED : TARE_HEAP_USABLE;
}

/* Mostly one mapping goes as a whole. */
unsigned int tare_heap_mapping_cut(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
                                   uint64_t begin, uint64_t bytes)
{
	const uint64_t *whole = tare_map_get(&h->place_of, begin);
	uint64_t end = begin + bytes;
	struct tare_heap_block b;
	unsigned int parts = 0;

	if (whole && (uint64_t)h->items[*whole - 1].bytes == bytes) {
		parts = part_of(&h->items[*whole - 1]);
		take(f, d, h, begin);
		return parts;
	}
	while (last_between(h, begin, end, &b)) {
		take(f, d, h, b.address);
		parts |= part_of(&b);
		add_piece(f, d, h, &b, b.address, begin, PIECE);
		add_piece(f, d, h, &b, end, b.address + (uint64_t)b.bytes, PIECE);
	}
	return parts;
}

bool tare_heap_mapping_change(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
                              const struct tare_heap_block *as)
{
	uint64_t begin = as->address, end = begin + (uint64_t)as->bytes, before = end;
	struct tare_heap_block b;
	bool is_any = false;

	for (; before > begin && last_between(h, begin, before, &b); before = b.address) {
		uint64_t b_end = b.address + (uint64_t)b.bytes;

		if (b.is_reserved == as->is_reserved)
			continue;
		is_any = true;
		take(f, d, h, b.address);
		add_piece(f, d, h, &b, b.address, begin, PIECE);
		add_piece(f, d, h, as, b.address > begin ? b.address : begin, b_end < end ? b_end : end, CALL);
		add_piece(f, d, h, &b, end, b_end, PIECE);
	}
	return is_any;
}

void tare_heap_blocks_restore(struct tare_heap_blocks *mapped)
{
	for (size_t i = 0; i < mapped->count; i++)
		if (mapped->items[i].bucket >= 0)
			tare_sorted_add(&mapped->first_pages, mapped->items[i].address / TARE_HEAP_PAGE);
}
