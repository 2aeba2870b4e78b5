/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replay of what happened. The driver is the file: it refuses where the file goes on with a release, and gives the
 * addresses that it gave then. Whatever the allocator does otherwise than the file says is a mismatch.
 */
#include "base/progress.h"
#include "base/xalloc.h"
#include "replay/check_run.h"

#include <stdlib.h>
#include <string.h>

/* The next thing that the driver did; blocks that were completed in between are completed by the allocator itself. */
static const struct tare_trace_event *next(struct tare_check_run *r)
{
	while (r->at < r->end && tare_trace_kind(&r->d->events[r->at]) == TARE_TRACE_COMPLETED)
		r->at++;
	return r->at < r->end ? &r->d->events[r->at] : NULL;
}

/* An address where the file has nothing. */
static uint64_t invent(struct tare_check_run *r, uint64_t size)
{
	uint64_t address = r->invented;

	r->invented += (size + TARE_ALLOC_LARGE_ROUND - 1) / TARE_ALLOC_LARGE_ROUND * TARE_ALLOC_LARGE_ROUND;
	return address;
}

static bool is_given(struct tare_check_run *r, uint64_t size)
{
	uint64_t reserved = tare_alloc_stats(r->a)->reserved;
	const struct tare_trace_event *e = next(r);
	bool is_refused =
		e ? tare_trace_is_release(tare_trace_kind(e)) : tare_trace_kind(&r->d->events[r->event]) == TARE_TRACE_OOM;

	if (is_refused && reserved + size < r->out->refused_from)
		r->out->refused_from = reserved + size;
	if (!is_refused && reserved + size > r->out->given)
		r->out->given = reserved + size;
	return !is_refused;
}

static bool driver_alloc(void *arg, uint64_t size, uint64_t *address)
{
	struct tare_check_run *r = arg;
	const struct tare_trace_event *e;

	if (!is_given(r, size))
		return false;
	e = next(r);
	if (e && tare_trace_kind(e) == TARE_TRACE_SEGMENT_ALLOC) {
		r->at++;
		if (tare_trace_size(e) != size)
			r->out->segments++;
		*address = tare_trace_address(r->t, e);
		return true;
	}
	r->out->segments++;
	*address = invent(r, size);
	return true;
}

static bool driver_map(void *arg, uint64_t address, uint64_t size)
{
	struct tare_check_run *r = arg;
	const struct tare_trace_event *e;

	if (!is_given(r, size))
		return false;
	e = next(r);
	if (!e || tare_trace_kind(e) != TARE_TRACE_MAP || tare_trace_address(r->t, e) != address ||
	    tare_trace_size(e) != size)
		r->out->segments++;
	r->at += e && tare_trace_kind(e) == TARE_TRACE_MAP;
	return true;
}

static uint64_t driver_reserve(void *arg, uint64_t *size)
{
	struct tare_check_run *r = arg;
	const struct tare_trace_event *e = next(r);
	const struct tare_trace_segment *reservation;

	*size = 1ull << 40;
	/* A retry begins with releases: what is mapped after them says where. */
	for (size_t i = r->at; i < r->end; i++)
		if (tare_trace_kind(&r->d->events[i]) == TARE_TRACE_MAP) {
			e = &r->d->events[i];
			break;
		}
	if (!e || tare_trace_kind(e) != TARE_TRACE_MAP)
		return invent(r, *size);
	reservation = tare_trace_reservation(r->d, tare_trace_address(r->t, e));
	return reservation ? reservation->address : invent(r, *size);
}

static void differs(struct tare_check_run *r, uint64_t address)
{
	r->out->releases++;
	tare_mend_look_at_release(r, address);
}

static void released(struct tare_check_run *r, enum tare_trace_kind kind, uint64_t address, uint64_t size)
{
	const struct tare_trace_event *e = next(r);

	if (!e || tare_trace_kind(e) != kind || tare_trace_address(r->t, e) != address || tare_trace_size(e) != size)
		differs(r, address);
	r->at += e && tare_trace_is_release(tare_trace_kind(e));
}

static void driver_free(void *arg, uint64_t address, uint64_t size)
{
	released(arg, TARE_TRACE_SEGMENT_FREE, address, size);
}

static void driver_unmap(void *arg, uint64_t address, uint64_t size)
{
	released(arg, TARE_TRACE_UNMAP, address, size);
}

/* Garbage is collected where the file releases just that next. */
static bool driver_collects(void *arg, const uint64_t *addresses, size_t count)
{
	struct tare_check_run *r = arg;
	size_t at;

	next(r);
	at = r->at;
	if (r->end - at < count)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct tare_trace_event *e = &r->d->events[at + i];

		if (tare_trace_kind(e) != TARE_TRACE_SEGMENT_FREE || tare_trace_address(r->t, e) != addresses[i])
			return false;
	}
	return true;
}

/* Of a trace that begins in the middle of a run, what the file releases next. */
static bool driver_goes(void *arg, uint64_t address)
{
	struct tare_check_run *r = arg;
	const struct tare_trace_event *e = next(r);

	return e && tare_trace_kind(e) == TARE_TRACE_SEGMENT_FREE && tare_trace_address(r->t, e) == address;
}

/* The file's own words for it: the stack of a release that has empty_cache() in it. */
static bool is_called(const struct tare_check_run *r, const struct tare_trace_event *e)
{
	struct tare_snapshot_frame frame;

	for (size_t at = 0; tare_snapshot_frame(r->t->snapshot, tare_trace_stack(e), at, &frame); at++) {
		const char *name = tare_snapshot_text(r->t->snapshot, frame.name);

		if (!strcmp(name, "empty_cache") || strstr(name, "emptyCache"))
			return true;
	}
	return false;
}

static void complete(struct tare_check_run *r, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct tare_trace_event *e = &r->d->events[i];
		uint32_t slot = tare_trace_slot(e);

		if (tare_trace_kind(e) != TARE_TRACE_COMPLETED || slot == TARE_TRACE_NO_SLOT)
			continue;
		if (r->slots[slot])
			tare_alloc_complete(r->a, r->slots[slot]);
		r->slots[slot] = 0;
	}
}

static void empty_cache(struct tare_check_run *r, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (tare_trace_is_release(tare_trace_kind(&r->d->events[i]))) {
			r->d->events[i].where |= (uint64_t)TARE_TRACE_EXPLICIT << 60;
			break;
		}
	complete(r, from, to);
	tare_alloc_empty_cache(r->a);
}

/* What is left of a request's driver calls was not done by the allocator. */
static void check_taken(struct tare_check_run *r)
{
	for (const struct tare_trace_event *e; (e = next(r)); r->at++)
		if (tare_trace_is_release(tare_trace_kind(e)))
			r->out->releases++;
		else
			r->out->segments++;
}

static void check_address(struct tare_check_run *r, const struct tare_trace_event *e, uint32_t block)
{
	uint64_t ours = tare_alloc_address(r->a, block), theirs = tare_trace_address(r->t, e);

	if (ours == theirs)
		return;
	r->out->addresses++;
	tare_mend_look_at_address(r, block, theirs);
}

static void note_oom(struct tare_check_run *r, const struct tare_trace_event *e, uint32_t block)
{
	struct tare_replay_oom *oom = &r->out->oom;

	if (block) {
		r->out->addresses++;
		tare_alloc_free(r->a, block);
	}
	if (oom->is_there)
		return;
	*oom = (struct tare_replay_oom){
		true, false, r->d->device, tare_trace_stack(e), r->event, tare_trace_size(e), tare_alloc_stats(r->a)->reserved
	};
}

/*
 * Whether the program called empty_cache() before a request, or the request itself released the cache. Without a stack
 * it is seen only where the two differ: the request would have been served, or would have released another block first.
 */
static bool is_empty_cache(struct tare_check_run *r, const struct tare_trace_event *e, struct tare_trace_event *first,
                           unsigned pool)
{
	bool is_flipped = tare_trace_flags(first) & TARE_TRACE_FLIPPED, is_own;
	uint64_t would;

	tare_trace_set_flags(first, 0, TARE_TRACE_EXPLICIT);
	if (is_called(r, first))
		return true;
	r->release = first;
	would = tare_alloc_first_release(r->a, tare_trace_size(e), tare_trace_stream(e), pool);
	is_own = tare_alloc_has(r->a, tare_trace_size(e), tare_trace_stream(e), pool) ||
	         (would && would != tare_trace_address(r->t, first) && r->ask->settings.gc_threshold <= 0);
	return is_own != is_flipped;
}

/* What a block takes in the file: where the replay has another, at least what was asked for. */
static uint64_t size_of(const struct tare_check_run *r, const struct tare_trace_event *e, uint32_t block)
{
	return block && tare_alloc_address(r->a, block) == tare_trace_address(r->t, e)
	           ? tare_alloc_size(r->a, block)
	           : tare_alloc_round(&r->ask->settings, &r->ask->rules, tare_trace_size(e));
}

/* Events from…to are what the driver did for the request at `to`, if it is one. */
static void request(struct tare_check_run *r, size_t from, size_t to)
{
	const struct tare_trace_event *e = &r->d->events[to];
	struct tare_trace_event *first_release = NULL;
	bool is_oom = tare_trace_kind(e) == TARE_TRACE_OOM;
	unsigned pool = tare_trace_pool(r->d, to);
	uint32_t block;

	r->release = NULL;
	r->event = to;
	r->at = from;
	r->end = to;
	for (size_t i = from; i < to && !first_release; i++)
		if (tare_trace_is_release(tare_trace_kind(&r->d->events[i])))
			first_release = &r->d->events[i];
	if (!first_release)
		complete(r, from, to);
	else if (is_empty_cache(r, e, first_release, pool))
		empty_cache(r, from, to);
	block = tare_alloc_malloc(r->a, tare_trace_size(e), tare_trace_stream(e), pool);
	complete(r, from, to);
	check_taken(r);
	if (is_oom) {
		note_oom(r, e, block);
		return;
	}
	if (r->d->sizes)
		r->d->sizes[r->mallocs] = size_of(r, e, block);
	r->slots[r->mallocs++] = block;
	check_address(r, e, block);
}

static void release_only(struct tare_check_run *r, size_t from, size_t to)
{
	bool any = false;

	r->release = NULL;
	r->event = from;
	r->at = from;
	r->end = to;
	for (size_t i = from; i < to; i++)
		any |= tare_trace_is_release(tare_trace_kind(&r->d->events[i]));
	if (any)
		empty_cache(r, from, to);
	complete(r, from, to);
	check_taken(r);
}

/* The event behind the driver's calls from `from` on: what they were for. */
static size_t behind_driver(const struct tare_check_run *r, size_t from)
{
	size_t to = from;

	while (to < r->d->count) {
		enum tare_trace_kind kind = tare_trace_kind(&r->d->events[to]);

		if (!tare_trace_is_driver(kind) && kind != TARE_TRACE_COMPLETED)
			break;
		to++;
	}
	return to;
}

static bool is_request(const struct tare_check_run *r, size_t at)
{
	enum tare_trace_kind kind = at < r->d->count ? tare_trace_kind(&r->d->events[at]) : TARE_TRACE_FREE;

	return kind == TARE_TRACE_MALLOC || kind == TARE_TRACE_OOM;
}

static void free_block(struct tare_check_run *r, const struct tare_trace_event *e)
{
	bool is_requested = tare_trace_kind(e) == TARE_TRACE_REQUESTED;
	uint32_t slot = tare_trace_slot(e), block = slot == TARE_TRACE_NO_SLOT ? 0 : r->slots[slot];

	if (!block)
		return;
	if (is_requested)
		tare_alloc_record_stream(r->a, block, TARE_ALLOC_ANY_STREAM);
	tare_alloc_free(r->a, block);
	if (!is_requested)
		r->slots[slot] = 0;
}

/* Whether what the driver did for a request begins here: it may wait for other streams before it releases anything. */
static bool begins_driver(struct tare_check_run *r, size_t at)
{
	if (at < r->seen)
		return false;
	while (at < r->d->count && tare_trace_kind(&r->d->events[at]) == TARE_TRACE_COMPLETED)
		at++;
	r->seen = at;
	return at < r->d->count && tare_trace_is_release(tare_trace_kind(&r->d->events[at]));
}

static void end_waits(struct tare_check_run *r, size_t event)
{
	tare_replay_end_waits(r->d, r->a, r->slots, &r->next_wait, event);
}

static void replay(struct tare_check_run *r)
{
	for (size_t i = 0, to; i < r->d->count && !(r->is_search && r->late_free); i = to) {
		const struct tare_trace_event *e = &r->d->events[i];

		if (tare_progress_is_due())
			tare_progress_at((int64_t)i, (int64_t)r->d->count);
		r->event = i;
		to = i + 1;
		end_waits(r, i);
		if (tare_trace_is_driver(tare_trace_kind(e)) ||
		    (tare_trace_kind(e) == TARE_TRACE_COMPLETED && begins_driver(r, i))) {
			to = behind_driver(r, i);
			tare_replay_release_pools(r->t, r->d, r->a, i, to);
			if (is_request(r, to))
				request(r, i, to++);
			else
				release_only(r, i, to);
		} else if (is_request(r, i)) {
			request(r, i, i);
		} else if (tare_trace_kind(e) == TARE_TRACE_COMPLETED) {
			complete(r, i, i + 1);
		} else {
			free_block(r, e);
		}
	}
}

static void check_once(struct tare_check_run *r)
{
	struct tare_alloc_driver driver = { .arg = r,
		                                .alloc = driver_alloc,
		                                .free = driver_free,
		                                .reserve = driver_reserve,
		                                .map = driver_map,
		                                .unmap = driver_unmap,
		                                .collects = driver_collects,
		                                .goes = r->d->start_segment_count ? driver_goes : NULL };
	struct tare_replay_check *out = r->out;

	*out = (struct tare_replay_check){ .refused_from = UINT64_MAX };
	r->slots = tare_xcalloc(r->d->malloc_count + r->d->start_count + 1, sizeof(*r->slots));
	r->a = tare_replay_allocator(r->t, r->ask, &driver);
	r->invented = 1ull << 56;
	tare_replay_put_start(r->t, r->d, r->a, r->slots);
	replay(r);
	end_waits(r, r->d->count);
	out->blocks = tare_replay_compare_end(r->d, r->a);
	out->mismatches = out->addresses + out->segments + out->releases + out->blocks;
	tare_replay_figures_of(r->a, &out->figures);
	tare_alloc_delete(r->a);
	free(r->slots);
}

/* With the guesses as they are. */
static void check_to_end(struct tare_check_run run)
{
	check_once(&run);
}

/* Guesses are mended one after the other, each where the replay first shows that it was wrong. */
#define MEND_WORK   300000000u /* events that are replayed for it at most … */
#define WAIT_WORK   50000000u  /* … and for waits, of which there may be many */
#define REPLAY_WORK 2000u      /* a replay takes as long as so many events, however few it has */

void tare_replay_check(struct tare_trace *t, struct tare_trace_device *d, const struct tare_replay_ask *ask,
                       struct tare_replay_check *out)
{
	struct tare_check_run r = { .t = t, .d = d, .out = out, .ask = ask };
	TARE_FREED_HERE uint32_t *malloc_events = tare_wait_malloc_events(t, d);
	uint64_t unmended = UINT64_MAX, late = 0;
	bool is_part = false; /* the last replay did not come to the end */

	tare_trace_guess_sizes(d, &ask->settings, &ask->rules);
	r.lives = tare_mend_find_lives(t, d, &r.life_count);
	tare_mend_undo(&r); /* of another version */
	/* Garbage, and blocks of max_split_size_mb, are released in an order of their own. */
	if (ask->settings.gc_threshold <= 0 && ask->settings.max_split == UINT64_MAX)
		tare_mend_guess_batches(&r);
	for (uint64_t mended = 0;; mended++) {
		struct tare_check_run again = { .t = t,
			                            .d = d,
			                            .out = out,
			                            .ask = ask,
			                            .lives = r.lives,
			                            .life_count = r.life_count,
			                            .malloc_events = malloc_events,
			                            .is_search = late > 0 };

		check_once(&again);
		out->guesses_mended = mended;
		if (!again.short_start && !again.wrong_release && unmended == UINT64_MAX)
			unmended = out->mismatches;
		late += again.late_free != 0;
		is_part = again.is_search && again.late_free;
		if (!out->mismatches || mended * (d->count + REPLAY_WORK) > MEND_WORK ||
		    late * (d->count + REPLAY_WORK) > WAIT_WORK || !tare_mend(&again))
			break;
	}
	if (is_part)
		check_to_end(r);
	if (out->mismatches > unmended) {
		tare_mend_undo(&r);
		check_to_end(r);
	}
	free(r.lives);
}
