/* SPDX-License-Identifier: Apache-2.0 */
/* What a file does not say, and how a replay that differs from the file finds it out. */
#include "replay/check_run.h"

#include <stdlib.h>

struct free_place {
	uint64_t address, begin, size; /* of what is looked for, and of the free block around it */
	uint32_t segment;              /* in which the address lies */
	bool is_there;
};

static void find_place(void *arg, const struct tare_alloc_place *place)
{
	struct free_place *want = arg;

	if (place->address > want->address || place->address + place->size <= want->address)
		return;
	want->segment = place->segment;
	if (place->state != TARE_ALLOC_FREE)
		return;
	want->is_there = true;
	want->begin = place->address;
	want->size = place->size;
}

static struct free_place free_place_at(const struct tare_check_run *r, uint64_t address)
{
	struct free_place place = { .address = address };

	tare_alloc_layout(r->a, find_place, &place);
	return place;
}

/* How many bytes are free right behind a block: in its segment, for another may begin there. */
static uint64_t free_behind(const struct tare_check_run *r, uint64_t address, uint64_t size)
{
	struct free_place own = free_place_at(r, address), rest = free_place_at(r, address + size);

	return rest.is_there && rest.begin == address + size && rest.segment == own.segment ? rest.size : 0;
}

/* A block that was there at the start and still is, whose size was a guess, and which ends at an address. */
static struct tare_trace_start *guess_before(const struct tare_check_run *r, uint64_t address)
{
	for (size_t i = 0; i < r->d->start_count; i++) {
		struct tare_trace_start *s = &r->d->starts[i];

		if (s->is_guess && s->address + s->size == address && r->slots[r->d->malloc_count + i])
			return s;
	}
	return NULL;
}

/* The next address up to 1 MiB behind `begin` that the file gives while a block is still there; 0: none. */
static uint64_t next_address_behind(const struct tare_check_run *r, uint64_t begin,
                                    const struct tare_trace_start *before)
{
	uint32_t slot = (uint32_t)(r->d->malloc_count + (size_t)(before - r->d->starts));

	for (size_t i = r->event + 1; i < r->d->count; i++) {
		const struct tare_trace_event *e = &r->d->events[i];
		uint64_t address = tare_trace_address(r->t, e);

		if (tare_trace_kind(e) == TARE_TRACE_MALLOC && address > begin && address - begin <= TARE_ALLOC_SMALL_MAX)
			return address;
		if (tare_trace_kind(e) <= TARE_TRACE_COMPLETED && tare_trace_kind(e) != TARE_TRACE_MALLOC &&
		    tare_trace_slot(e) == slot)
			return 0;
	}
	return 0;
}

/*
 * The first address that differs may tell the size of a block that was there at the start, and was freed since: such a
 * size was a guess. A block may be up to 1 MiB larger than its request, where the rest was too small to be split off. Either
 * the file's address lies inside of what is free here: then the block before it reaches up to there. Or what was taken
 * here was too small in truth: then the block before that is larger by at least as much as was left.
 */
static void find_short_start(struct tare_check_run *r, uint32_t block, uint64_t theirs)
{
	uint64_t ours = tare_alloc_address(r->a, block), size = tare_alloc_size(r->a, block), left;
	struct free_place place = free_place_at(r, theirs);
	uint64_t asked = tare_trace_size(&r->d->events[r->event]);

	if (theirs > ours && theirs - ours <= TARE_ALLOC_SMALL_MAX) {
		place = (struct free_place){ .is_there = true, .begin = ours };
	}
	if (place.is_there && place.begin < theirs && theirs - place.begin <= TARE_ALLOC_SMALL_MAX) {
		r->short_start = guess_before(r, place.begin);
		r->short_by = theirs - place.begin;
		return;
	}
	r->short_start = guess_before(r, ours);
	if (!r->short_start)
		return;
	theirs = next_address_behind(r, ours, r->short_start);
	left = size + free_behind(r, ours, size) - tare_alloc_round(&r->ask->settings, &r->ask->rules, asked);
	r->short_by = theirs ? theirs - ours : left + TARE_ALLOC_MIN_BLOCK;
	if (r->short_by > TARE_ALLOC_SMALL_MAX)
		r->short_start = NULL;
}

static struct tare_life *life_at(const struct tare_check_run *r, uint64_t address)
{
	for (size_t i = 0; i < r->life_count; i++) {
		struct tare_life *life = &r->lives[i];

		if (address >= life->address && address - life->address < life->size &&
		    (life->from == SIZE_MAX || life->from <= r->event) && life->to >= r->event)
			return life;
	}
	return NULL;
}

/*
 * Where the recording gave an address inside of what is free here, the block that ends there was still in use. Else what
 * was taken here, with the rest that was split off, was not all free; or what was taken there was smaller, and so fitted
 * better: behind it a block was still in use. What was freed last is likeliest to be.
 */
static size_t late_free(const struct tare_check_run *r, uint64_t ours, uint64_t size, uint64_t theirs)
{
	struct free_place there = free_place_at(r, theirs);
	uint64_t asked = tare_trace_size(&r->d->events[r->event]);
	uint64_t end = ours + size + free_behind(r, ours, size);
	size_t found, behind;

	if (there.is_there && there.begin == ours + size)
		there.begin = ours;
	found = there.is_there && there.begin < theirs ? tare_wait_find(r, there.begin, theirs, true) : 0;
	if (found)
		return found;
	found = tare_wait_find(r, ours, end, false);
	behind = there.is_there && there.begin == theirs && there.size > asked
	             ? tare_wait_find(r, theirs + asked, theirs + there.size, false)
	             : 0;
	return found > behind ? found : behind;
}

/* Whether it may be wrong whose releases these are. */
static bool look_at_guess(struct tare_check_run *r)
{
	if (r->release && !(tare_trace_flags(r->release) & TARE_TRACE_TRIED))
		r->wrong_release = r->release;
	return r->wrong_release != NULL;
}

void tare_mend_look_at_address(struct tare_check_run *r, uint32_t block, uint64_t theirs)
{
	if (r->is_looked_at)
		return;
	r->is_looked_at = true;
	if (look_at_guess(r))
		return;
	if (block)
		find_short_start(r, block, theirs);
	if (r->short_start)
		return;
	r->late_at = r->event;
	if (block && r->malloc_events)
		r->late_free = late_free(r, tare_alloc_address(r->a, block), tare_alloc_size(r->a, block), theirs);
	if (r->late_free)
		return;
	/* The file's segment may be of a pool that had nothing else, or ours of one that this request may not use. */
	r->wrong_life = life_at(r, theirs);
	if (block && (!r->wrong_life || r->wrong_life->tried == 2))
		r->wrong_life = life_at(r, tare_alloc_address(r->a, block));
}

void tare_mend_look_at_release(struct tare_check_run *r, uint64_t address)
{
	if (r->is_looked_at)
		return;
	r->is_looked_at = true;
	if (look_at_guess(r))
		return;
	/* Private pools come last: what the file releases later than expected may be of one. */
	r->wrong_life = life_at(r, address);
}

bool tare_mend(struct tare_check_run *r)
{
	struct tare_life *life = r->wrong_life;
	unsigned pool;

	if (r->wrong_release) {
		bool is_flipped = tare_trace_flags(r->wrong_release) & TARE_TRACE_FLIPPED;

		if (is_flipped)
			tare_trace_set_flags(r->wrong_release, TARE_TRACE_TRIED, TARE_TRACE_FLIPPED);
		else
			tare_trace_set_flags(r->wrong_release, TARE_TRACE_FLIPPED, 0);
		return true;
	}
	if (r->short_start) {
		r->short_start->size += r->short_by;
		return true;
	}
	if (r->late_free)
		return tare_wait_until(r->d, r->late_free - 1, r->late_at);
	if (!life || life->tried == 2 || r->t->pool_count > 1000)
		return false;
	pool = life->tried ? 0 : life->next_pool ? life->next_pool : tare_mend_last_pool(r->t);
	if (pool == life->pool)
		pool = 0;
	life->tried = pool ? 1 : 2;
	tare_mend_set_pool(r, life, pool ? pool : tare_mend_new_pool(r->t));
	return true;
}

void tare_mend_undo(struct tare_check_run *r)
{
	for (size_t i = 0; i < r->d->count; i++)
		tare_trace_set_flags(&r->d->events[i], 0, TARE_TRACE_FLIPPED | TARE_TRACE_TRIED);
	tare_wait_forget(r->d);
	for (size_t i = 0; i < r->life_count; i++)
		if (r->lives[i].pool)
			tare_mend_set_pool(r, &r->lives[i], 0);
}
