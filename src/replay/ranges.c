/* SPDX-License-Identifier: Apache-2.0 */
/* Segments in the order of addresses, and the reservations that expandable ones lie in. */
#include "replay/trace.h"

#include "base/array.h"
#include "base/comparator.h"

#include <stdlib.h>

/* The first that ends behind an address. */
static size_t lower(const struct tare_trace_ranges *r, uint64_t address)
{
	size_t from = 0, count = r->count;

	while (count) {
		size_t half = count / 2;
		const struct tare_trace_segment *at = &r->items[from + half];
		bool is_before = at->address + at->size <= address;

		from = is_before ? from + half + 1 : from;
		count = is_before ? count - half - 1 : half;
	}
	return from;
}

struct tare_trace_segment *tare_ranges_find(const struct tare_trace_ranges *r, uint64_t address)
{
	size_t at = lower(r, address);

	return at < r->count && r->items[at].address <= address ? &r->items[at] : NULL;
}

static void insert(struct tare_trace_ranges *r, size_t at, const struct tare_trace_segment *segment)
{
	r->items = tare_array_reserve(r->items, &r->cap, r->count + 1, sizeof(*r->items));
	memmove(&r->items[at + 1], &r->items[at], (r->count - at) * sizeof(*r->items));
	r->items[at] = *segment;
	r->count++;
}

void tare_ranges_add(struct tare_trace_ranges *r, const struct tare_trace_segment *segment)
{
	insert(r, lower(r, segment->address), segment);
}

static bool is_one(const struct tare_trace_segment *a, const struct tare_trace_segment *b)
{
	return a->is_expandable && b->is_expandable && a->pool == b->pool && a->address + a->size == b->address;
}

void tare_ranges_join(struct tare_trace_ranges *r, uint64_t address)
{
	struct tare_trace_segment *at = tare_ranges_find(r, address);
	size_t i = at ? (size_t)(at - r->items) : r->count;

	for (int side = 0; side<2; side++, i -= i> 0)
		if (i + 1 < r->count && is_one(&r->items[i], &r->items[i + 1])) {
			r->items[i].size += r->items[i + 1].size;
			memmove(&r->items[i + 1], &r->items[i + 2], (--r->count - i - 1) * sizeof(*r->items));
		}
}

bool tare_ranges_cut(struct tare_trace_ranges *r, uint64_t address, uint64_t size, struct tare_trace_segment *out)
{
	struct tare_trace_segment *at = tare_ranges_find(r, address), was, rest;
	size_t i;

	if (!at || at->address + at->size < address + size)
		return false;
	was = rest = *at;
	if (out)
		*out = was;
	i = (size_t)(at - r->items);
	memmove(at, at + 1, (--r->count - i) * sizeof(*at));
	if (was.address < address) {
		rest.size = address - was.address;
		insert(r, i++, &rest);
	}
	if (was.address + was.size > address + size) {
		rest.address = address + size;
		rest.size = was.address + was.size - rest.address;
		insert(r, i, &rest);
	}
	return true;
}

/* Reservations lie at least as far apart as a small card is large; holes within one are smaller. */
#define HOLE_MAX (4ull << 30)

TARE_COMPARATOR(by_address, struct tare_trace_segment, TARE_RISING(address))

static bool is_same(const struct tare_trace_segment *a, const struct tare_trace_segment *b)
{
	if (a->stream != b->stream)
		return false;
	return a->is_guess || b->is_guess || (a->pool == b->pool && a->is_small == b->is_small);
}

/* What an event maps or unmaps. Its pool and its kind are known only where the file says so. */
static struct tare_trace_segment range_of(const struct tare_trace *t, const struct tare_trace_device *d, size_t event)
{
	const struct tare_trace_event *e = &d->events[event];

	return (struct tare_trace_segment){
		.address = tare_trace_address(t, e),
		.size = tare_trace_size(e),
		.stream = t->streams[tare_trace_stream(e)],
		.pool = t->has_events_of_pools ? tare_trace_pool(d, event) : 0,
		.is_small = tare_trace_size(e) % TARE_ALLOC_LARGE_SEGMENT != 0,
		.is_expandable = true,
		.is_guess = true,
	};
}

/* All ranges that were mapped at some time. */
static void gather(const struct tare_trace *t, const struct tare_trace_device *d, struct tare_trace_ranges *all)
{
	for (size_t i = 0; i < d->count; i++) {
		enum tare_trace_kind kind = tare_trace_kind(&d->events[i]);

		if (kind != TARE_TRACE_MAP && kind != TARE_TRACE_UNMAP)
			continue;
		TARE_APPEND(all->items, all->count, all->cap) = range_of(t, d, i);
	}
	for (size_t i = 0; i < d->segment_count; i++) {
		if (!d->segments[i].is_expandable)
			continue;
		TARE_APPEND(all->items, all->count, all->cap) = d->segments[i];
	}
}

void tare_trace_find_reservations(struct tare_trace *t, struct tare_trace_device *d)
{
	struct tare_trace_ranges all = { 0 };

	gather(t, d, &all);
	TARE_SORT(all.items, all.count, by_address);
	for (size_t i = 0; i < all.count; i++) {
		const struct tare_trace_segment *range = &all.items[i];
		struct tare_trace_segment *last = d->reservation_count ? &d->reservations[d->reservation_count - 1] : NULL;
		uint64_t end = range->address + range->size;

		if (last && is_same(last, range) && range->address <= last->address + last->size + HOLE_MAX) {
			if (end > last->address + last->size)
				last->size = end - last->address;
			if (last->is_guess && !range->is_guess) {
				last->pool = range->pool;
				last->is_small = range->is_small;
				last->is_guess = false;
			}
			continue;
		}
		TARE_APPEND(d->reservations, d->reservation_count, d->reservation_cap) = *range;
	}
	free(all.items);
}

struct tare_trace_segment *tare_trace_reservation(const struct tare_trace_device *d, uint64_t address)
{
	struct tare_trace_ranges r = { d->reservations, d->reservation_count, 0 };

	return tare_ranges_find(&r, address);
}
