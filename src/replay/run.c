/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same requests under other settings, or with another amount of memory. The driver is a card of that size, which gives
 * addresses from above to below, as cudaMalloc mostly does. What was there at the start under the recorded settings is asked for anew under others.
 */
#include "replay/replay.h"

#include "base/progress.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* Half of the addresses that a card may give; each of a million expandable segments reserves 1 TiB. */
#define MIDDLE (1ull << 62)

struct card {
	uint64_t capacity, used;
	uint64_t low, high; /* what was given lies between them */
	uint32_t order, given;
};

static uint64_t up(uint64_t n)
{
	return (n + TARE_ALLOC_LARGE_ROUND - 1) / TARE_ALLOC_LARGE_ROUND * TARE_ALLOC_LARGE_ROUND;
}

static bool take(struct card *card, uint64_t size)
{
	if (card->used > card->capacity || up(size) > card->capacity - card->used)
		return false;
	card->used += up(size);
	return true;
}

/* Order 0: each below the one before; 1: each above; from 2 on: as chance has it, the same chance each time. */
static bool is_above(struct card *card)
{
	uint64_t n = ((uint64_t)card->order << 32 | card->given++) * 0x9e3779b97f4a7c15u;

	n ^= n >> 32;
	n *= 0xd6e8feb86659fd93u;
	return card->order == 1 || (card->order && n >> 63);
}

static bool card_alloc(void *arg, uint64_t size, uint64_t *address)
{
	struct card *card = arg;

	if (!take(card, size))
		return false;
	if (is_above(card)) {
		*address = card->high;
		card->high += up(size);
	} else {
		card->low -= up(size);
		*address = card->low;
	}
	return true;
}

static void card_free(void *arg, uint64_t address, uint64_t size)
{
	struct card *card = arg;

	(void)address;
	card->used -= up(size);
}

static uint64_t card_reserve(void *arg, uint64_t *size)
{
	struct card *card = arg;
	*size = 1ull << 40;
	card->low -= *size;
	return card->low;
}

static bool card_map(void *arg, uint64_t address, uint64_t size)
{
	(void)address;
	return take(arg, size);
}

struct run {
	const struct tare_trace *t;
	const struct tare_trace_device *d;
	struct tare_allocator *a;
	uint32_t *slots;
	uint32_t mallocs;
	struct tare_replay_oom oom;
};

/* What was there, in the order of addresses. */
static bool ask_for_start(struct run *r)
{
	struct tare_trace_start **sorted = tare_trace_sorted_starts(r->d);
	bool is_served = true;

	for (size_t i = 0; i < r->d->start_count && is_served; i++) {
		const struct tare_trace_start *s = sorted[i];
		const struct tare_trace_segment *in = &r->d->start_segments[s->segment];
		uint32_t block =
			tare_alloc_malloc(r->a, s->asked ? s->asked : s->size, tare_alloc_stream(r->a, in->stream), in->pool);

		r->slots[r->d->malloc_count + (size_t)(s - r->d->starts)] = block;
		is_served = block != 0;
		if (block && s->is_pending) {
			tare_alloc_record_stream(r->a, block, TARE_ALLOC_ANY_STREAM);
			tare_alloc_free(r->a, block);
		}
	}
	free(sorted);
	return is_served;
}

static void ran_out(struct run *r, size_t event, bool was_served)
{
	const struct tare_trace_event *e = event < r->d->count ? &r->d->events[event] : NULL;

	if (!r->oom.is_there)
		r->oom = (struct tare_replay_oom){ true,
			                               was_served,
			                               r->d->device,
			                               e ? tare_trace_stack(e) : 0,
			                               event,
			                               e ? tare_trace_size(e) : 0,
			                               tare_alloc_stats(r->a)->reserved };
}

/* False: the program would have ended here, or gone another way. */
static bool request(struct run *r, size_t at)
{
	const struct tare_trace_event *e = &r->d->events[at];
	bool was_served = tare_trace_kind(e) == TARE_TRACE_MALLOC;
	uint32_t block = tare_alloc_malloc(r->a, tare_trace_size(e), tare_trace_stream(e), tare_trace_pool(r->d, at));

	if (!block)
		ran_out(r, at, was_served);
	if (was_served)
		r->slots[r->mallocs++] = block;
	else
		tare_alloc_free(r->a, block); /* it was refused then; what the program did with it is not known */
	return block || !was_served;
}

static void release(struct run *r, size_t at)
{
	size_t end = at;

	while (end < r->d->count && (tare_trace_is_release(tare_trace_kind(&r->d->events[end])) ||
	                             tare_trace_kind(&r->d->events[end]) == TARE_TRACE_COMPLETED))
		end++;
	tare_replay_release_pools(r->t, r->d, r->a, at, end);
	if (tare_trace_flags(&r->d->events[at]) & TARE_TRACE_EXPLICIT)
		tare_alloc_empty_cache(r->a);
}

static bool step(struct run *r, size_t at)
{
	const struct tare_trace_event *e = &r->d->events[at];
	uint32_t slot = tare_trace_slot(e), block;

	switch (tare_trace_kind(e)) {
	case TARE_TRACE_MALLOC:
	case TARE_TRACE_OOM:
		return request(r, at);
	case TARE_TRACE_FREE:
	case TARE_TRACE_REQUESTED:
	case TARE_TRACE_COMPLETED:
		block = slot == TARE_TRACE_NO_SLOT ? 0 : r->slots[slot];
		if (tare_trace_kind(e) == TARE_TRACE_COMPLETED) {
			tare_alloc_complete(r->a, block);
		} else {
			if (tare_trace_kind(e) == TARE_TRACE_REQUESTED)
				tare_alloc_record_stream(r->a, block, TARE_ALLOC_ANY_STREAM);
			tare_alloc_free(r->a, block);
		}
		if (block && tare_trace_kind(e) != TARE_TRACE_REQUESTED)
			r->slots[slot] = 0;
		return true;
	case TARE_TRACE_SEGMENT_FREE:
	case TARE_TRACE_UNMAP:
		release(r, at);
		return true;
	default:
		return true;
	}
}

void tare_replay_run(const struct tare_trace *t, const struct tare_trace_device *d, const struct tare_replay_ask *ask,
                     struct tare_replay_figures *out, struct tare_replay_oom *oom)
{
	struct card card = { .capacity = ask->capacity, .low = MIDDLE, .high = MIDDLE, .order = ask->order };
	struct tare_alloc_driver driver = { .arg = &card,
		                                .alloc = card_alloc,
		                                .free = card_free,
		                                .reserve = card_reserve,
		                                .map = card_map,
		                                .unmap = card_free };
	struct run r = { .t = t, .d = d };
	size_t next_wait = 0;
	bool goes_on;

	r.slots = tare_xcalloc(d->malloc_count + d->start_count + 1, sizeof(*r.slots));
	r.a = tare_replay_allocator(t, ask, &driver);
	goes_on = ask_for_start(&r);
	if (goes_on)
		tare_alloc_count_from_here(r.a);
	else
		ran_out(&r, d->count, true);
	for (size_t i = 0; i < d->count && goes_on; i++) {
		if (tare_progress_is_due())
			tare_progress_at((int64_t)i, (int64_t)d->count);
		tare_replay_end_waits(d, r.a, r.slots, &next_wait, i);
		goes_on = step(&r, i);
	}
	tare_replay_figures_of(r.a, out);
	if (oom)
		*oom = r.oom;
	tare_alloc_delete(r.a);
	free(r.slots);
}
