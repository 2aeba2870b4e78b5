/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that another stream still uses when they are freed (record_stream). A recording has when they were freed, and not
 * when they could be used again. Its addresses tell: where a request takes what the recording gave to nobody then, a block there
 * was still in use. Each is taken to wait for as long as the addresses demand, and no longer.
 */
#include "replay/check_run.h"

#include "base/array.h"
#include "base/comparator.h"

#include <stdlib.h>

/* Blocks that have been in one place since: with more of them no free is looked for. */
#define TAKEN_MAX 1024

struct range {
	uint64_t begin, end;
};

struct search {
	const struct tare_check_run *r;
	struct range in;
	bool is_last; /* the block reaches up to its end */
	struct range taken[TAKEN_MAX];
	size_t taken_count;
};

static bool overlap(struct range a, struct range b)
{
	return a.begin < b.end && b.begin < a.end;
}

static struct range range_of(const struct search *s, const struct tare_trace_event *e)
{
	uint64_t address = tare_trace_address(s->r->t, e);

	return (struct range){ address, address + tare_trace_size(e) };
}

/* Of the block that an event frees. */
static struct range freed_by(const struct search *s, const struct tare_trace_event *e)
{
	return range_of(s, &s->r->d->events[s->r->malloc_events[tare_trace_slot(e)]]);
}

/* A block whose place the recording gave to another one since did not wait. */
static bool may_wait(const struct search *s, const struct tare_trace_event *e)
{
	struct range freed;

	if (tare_trace_slot(e) >= s->r->d->malloc_count)
		return false;
	freed = freed_by(s, e);
	if (freed.begin < s->in.begin || freed.end > s->in.end || (s->is_last && freed.end != s->in.end))
		return false;
	for (size_t i = 0; i < s->taken_count; i++)
		if (overlap(freed, s->taken[i]))
			return false;
	return true;
}

/* 1 + the last free before the event, of a block in the range, which may be waiting then; 0: there is none. */
static size_t last_free(struct search *s)
{
	const struct tare_check_run *r = s->r;

	s->taken[s->taken_count++] = range_of(s, &r->d->events[r->event]);
	for (size_t i = r->event; i-- > 0;) {
		const struct tare_trace_event *e = &r->d->events[i];
		enum tare_trace_kind kind = tare_trace_kind(e);

		if (kind == TARE_TRACE_FREE || kind == TARE_TRACE_REQUESTED) {
			if (may_wait(s, e))
				return i + 1;
		} else if (kind != TARE_TRACE_OOM && overlap(range_of(s, e), s->in)) {
			/* Another block, or memory that came or went. */
			if (kind == TARE_TRACE_SEGMENT_ALLOC || s->taken_count == TAKEN_MAX)
				return 0;
			s->taken[s->taken_count++] = range_of(s, e);
		}
	}
	return 0;
}

size_t tare_wait_find(const struct tare_check_run *r, uint64_t begin, uint64_t end, bool is_last)
{
	struct search *s;
	size_t found;

	s = tare_xcalloc(1, sizeof(*s));
	s->r = r;
	s->in = (struct range){ begin, end };
	s->is_last = is_last;
	found = last_free(s);
	free(s);
	return found;
}

TARE_COMPARATOR(by_until, struct tare_trace_wait, TARE_RISING(until) TARE_RISING(free))

bool tare_wait_until(struct tare_trace_device *d, size_t event, size_t until)
{
	size_t at = 0;

	while (at < d->wait_count && d->waits[at].free != event)
		at++;
	if (at == d->wait_count) {
		TARE_APPEND(d->waits, d->wait_count, d->wait_cap).free = event;
		tare_trace_set_kind(&d->events[event], TARE_TRACE_REQUESTED);
	} else if (d->waits[at].until >= until)
		return false;
	d->waits[at].until = until;
	TARE_SORT(d->waits, d->wait_count, by_until);
	return true;
}

void tare_wait_forget(struct tare_trace_device *d)
{
	for (size_t i = 0; i < d->wait_count; i++)
		tare_trace_set_kind(&d->events[d->waits[i].free], TARE_TRACE_FREE);
	d->wait_count = 0;
}

uint32_t *tare_wait_malloc_events(const struct tare_trace *t, const struct tare_trace_device *d)
{
	uint32_t *events, count = 0;

	if (!t->finds_waits || d->count > UINT32_MAX)
		return NULL;
	events = tare_xcalloc(d->malloc_count + 1, sizeof(*events));
	for (size_t i = 0; i < d->count; i++)
		if (tare_trace_kind(&d->events[i]) == TARE_TRACE_MALLOC)
			events[count++] = (uint32_t)i;
	return events;
}

void tare_replay_end_waits(const struct tare_trace_device *d, struct tare_allocator *a, uint32_t *slots, size_t *next,
                           size_t event)
{
	for (; *next < d->wait_count && d->waits[*next].until < event; (*next)++) {
		const struct tare_trace_event *e = &d->events[d->waits[*next].free];

		tare_alloc_complete(a, slots[tare_trace_slot(e)]);
		slots[tare_trace_slot(e)] = 0;
	}
}
