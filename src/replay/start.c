/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was there before the first event of a trace: its segments follow from those at the end, by taking every event back;
 * its blocks are those that are freed, or there at the end, and were never allocated in between.
 */
#include "replay/trace.h"

#include "base/array.h"
#include "base/comparator.h"

#include <stdlib.h>

/* From the end to the begin. Where an event contradicts the end, events are missing. */
static void take_back(struct tare_trace *t, struct tare_trace_device *d, struct tare_trace_ranges *r)
{
	for (size_t i = d->count; i--;) {
		const struct tare_trace_event *e = &d->events[i];
		enum tare_trace_kind kind = tare_trace_kind(e);
		struct tare_trace_segment segment = {
			.address = tare_trace_address(t, e),
			.size = tare_trace_size(e),
			.stream = t->streams[tare_trace_stream(e)],
			.serial = -1,
			.is_guess = true,
			.is_small = tare_trace_size(e) == TARE_ALLOC_SMALL_SEGMENT,
			.pool = tare_trace_pool(d, i),
		};
		const struct tare_trace_segment *reservation;

		switch (kind) {
		case TARE_TRACE_SEGMENT_ALLOC:
		case TARE_TRACE_MAP:
			if (!tare_ranges_cut(r, segment.address, segment.size, &segment))
				d->contradictions++;
			else
				tare_trace_set_pool(d, i, segment.pool);
			break;
		case TARE_TRACE_UNMAP:
			reservation = tare_trace_reservation(d, segment.address);
			if (!reservation)
				break;
			segment.is_expandable = true;
			segment.is_small = reservation->is_small;
			segment.pool = reservation->pool;
			tare_trace_set_pool(d, i, segment.pool);
			/* fall through */
		case TARE_TRACE_SEGMENT_FREE:
			if (tare_ranges_find(r, segment.address))
				d->contradictions++;
			else
				tare_ranges_add(r, &segment);
			tare_ranges_join(r, segment.address);
			break;
		default:
			break;
		}
	}
}

static uint32_t add_start(struct tare_trace_device *d, const struct tare_trace_start *start)
{
	TARE_APPEND(d->starts, d->start_count, d->start_cap) = *start;
	return (uint32_t)(d->malloc_count + d->start_count - 1);
}

/* The slot of a block that was there before; TARE_TRACE_NO_SLOT: no segment was there for it. */
static uint32_t start_of(struct tare_trace_device *d, struct tare_trace_start start)
{
	struct tare_trace_ranges r = { d->start_segments, d->start_segment_count, 0 };
	const struct tare_trace_segment *segment = tare_ranges_find(&r, start.address);

	if (!segment || (start.size && start.address + start.size > segment->address + segment->size)) {
		d->contradictions++;
		return TARE_TRACE_NO_SLOT;
	}
	start.segment = (uint32_t)(segment - d->start_segments);
	return add_start(d, &start);
}

/* In `live`: slot + 1 of the block at an address; 0: there was one. */
static uint32_t slot_of_free(struct tare_trace_device *d, struct tare_map *live, uint64_t address, uint64_t size,
                             enum tare_trace_kind kind)
{
	bool is_new;
	uint64_t *at = tare_map_put(live, address, &is_new);
	uint32_t slot;

	if (is_new) {
		slot = start_of(d, (struct tare_trace_start){ .address = address,
		                                              .asked = size,
		                                              .is_guess = true,
		                                              .is_pending = kind == TARE_TRACE_COMPLETED });
	} else if (!*at) {
		d->contradictions++;
		slot = TARE_TRACE_NO_SLOT;
	} else {
		slot = (uint32_t)*at - 1;
	}
	if (kind == TARE_TRACE_REQUESTED)
		*at = slot == TARE_TRACE_NO_SLOT ? 0 : (uint64_t)slot + 1;
	else
		*at = 0;
	return slot;
}

/* Slots of frees. A completed free without a request is a free. */
static void link_frees(struct tare_trace *t, struct tare_trace_device *d, struct tare_map *live)
{
	TARE_FREED_BY(tare_map_free) struct tare_map requested = { 0 };
	uint32_t mallocs = 0;

	for (size_t i = 0; i < d->count; i++) {
		struct tare_trace_event *e = &d->events[i];
		enum tare_trace_kind kind = tare_trace_kind(e);
		uint64_t address = tare_trace_address(t, e), *at;
		uint32_t slot;
		bool is_new;

		if (kind == TARE_TRACE_MALLOC) {
			at = tare_map_put(live, address, &is_new);
			d->contradictions += *at != 0;
			*at = (uint64_t)mallocs++ + 1;
			continue;
		}
		if (kind > TARE_TRACE_COMPLETED)
			continue;
		if (kind == TARE_TRACE_REQUESTED && !t->has_completed)
			kind = TARE_TRACE_FREE;
		if (kind == TARE_TRACE_COMPLETED && tare_map_get(live, address) && *tare_map_get(live, address) &&
		    !tare_map_get(&requested, address))
			kind = TARE_TRACE_FREE;
		slot = slot_of_free(d, live, address, tare_trace_size(e), kind);
		if (kind == TARE_TRACE_REQUESTED)
			tare_map_put(&requested, address, NULL);
		else if (kind == TARE_TRACE_COMPLETED)
			tare_map_remove(&requested, address, NULL);
		tare_trace_set_kind(e, kind);
		e->what = slot;
	}
}

/* What is in use at the end must be what the events leave, and what was there before. */
static void link_end(struct tare_trace_device *d, struct tare_map *live)
{
	const struct tare_map_slot *slot;
	size_t left = 0;

	for (size_t at = 0; (slot = tare_map_next(live, &at));)
		left += slot->value != 0;
	for (size_t i = 0; i < d->block_count; i++) {
		const struct tare_snapshot_block *b = &d->blocks[i];
		bool is_new;
		uint64_t *at;

		if (b->state == TARE_SNAPSHOT_INACTIVE)
			continue;
		at = tare_map_put(live, b->address, &is_new);
		if (is_new)
			start_of(d, (struct tare_trace_start){ .address = b->address,
			                                       .size = b->size,
			                                       .asked = b->asked,
			                                       .stack = b->stack,
			                                       .is_pending = b->state == TARE_SNAPSHOT_PENDING });
		else if (*at)
			left--;
		else
			d->contradictions++;
	}
	d->contradictions += left;
}

/* The pool of each request: that of the segment in which its block lies. */
static void find_pools(struct tare_trace *t, struct tare_trace_device *d)
{
	struct tare_trace_ranges r = { 0 };

	for (size_t i = 0; i < d->start_segment_count; i++)
		tare_ranges_add(&r, &d->start_segments[i]);
	for (size_t i = 0; i < d->count; i++) {
		const struct tare_trace_event *e = &d->events[i];
		const struct tare_trace_segment *in;
		struct tare_trace_segment segment = { .address = tare_trace_address(t, e), .pool = tare_trace_pool(d, i) };

		switch (tare_trace_kind(e)) {
		case TARE_TRACE_SEGMENT_ALLOC:
		case TARE_TRACE_MAP:
			segment.size = tare_trace_size(e);
			segment.is_expandable = tare_trace_kind(e) == TARE_TRACE_MAP;
			if (!tare_ranges_find(&r, segment.address))
				tare_ranges_add(&r, &segment);
			tare_ranges_join(&r, segment.address);
			break;
		case TARE_TRACE_SEGMENT_FREE:
		case TARE_TRACE_UNMAP:
			if (tare_ranges_cut(&r, segment.address, tare_trace_size(e), &segment))
				tare_trace_set_pool(d, i, segment.pool);
			break;
		case TARE_TRACE_MALLOC:
			in = tare_ranges_find(&r, segment.address);
			if (in && !t->has_events_of_pools)
				tare_trace_set_pool(d, i, in->pool);
			break;
		default:
			break;
		}
	}
	free(r.items);
}

void tare_trace_find_start(struct tare_trace *t, struct tare_trace_device *d)
{
	struct tare_trace_ranges r = { 0 };
	struct tare_map live = { 0 };

	tare_trace_find_reservations(t, d);
	for (size_t i = 0; i < d->segment_count; i++)
		if (d->segments[i].size)
			tare_ranges_add(&r, &d->segments[i]);
	take_back(t, d, &r);
	d->start_segments = r.items;
	d->start_segment_count = r.count;
	d->start_segment_cap = r.cap;
	link_frees(t, d, &live);
	link_end(d, &live);
	tare_map_free(&live);
	if (t->pool_count > 1)
		find_pools(t, d);
}

TARE_COMPARATOR_OF_POINTERS(by_address, struct tare_trace_start, TARE_RISING(address))

struct tare_trace_start **tare_trace_sorted_starts(const struct tare_trace_device *d)
{
	struct tare_trace_start **sorted = tare_xcalloc(d->start_count + 1, sizeof(struct tare_trace_start *));

	for (size_t i = 0; i < d->start_count; i++)
		sorted[i] = &d->starts[i];
	TARE_SORT(sorted, d->start_count, by_address);
	return sorted;
}

/*
 * A block takes what its request takes, and the rest of a hole that was too small to be split off. Where that cannot be
 * seen, because more free bytes follow, the replay finds out (replay.c).
 */
void tare_trace_guess_sizes(struct tare_trace_device *d, const struct tare_alloc_settings *settings,
                            const struct tare_alloc_rules *rules)
{
	struct tare_trace_start **sorted = tare_trace_sorted_starts(d);

	for (size_t i = 0; i < d->start_count; i++) {
		struct tare_trace_start *start = sorted[i];
		const struct tare_trace_segment *in = &d->start_segments[start->segment];
		uint64_t end = in->address + in->size, rest;
		bool is_fine = in->is_small || settings->is_expandable || in->is_expandable;

		if (!start->is_guess)
			continue;
		if (i + 1 < d->start_count && sorted[i + 1]->segment == start->segment)
			end = sorted[i + 1]->address;
		start->size = tare_alloc_round(settings, rules, start->asked);
		/* What is so large is never a part of a segment. */
		if (start->size >= settings->max_split && in->address == start->address)
			start->size = in->size;
		rest = start->address + start->size < end ? end - start->address - start->size : 0;
		if (start->address + start->size > end)
			start->size = end - start->address;
		else if (rest < TARE_ALLOC_MIN_BLOCK || (!is_fine && rest <= TARE_ALLOC_SMALL_MAX))
			start->size += rest;
	}
	free(sorted);
}
