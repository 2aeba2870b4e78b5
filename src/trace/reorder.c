/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the records of a lane into the order of their stamps: holds each record back until no earlier one can follow. */
#include "trace/reorder.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum {
	SMALL_BYTES = 64,    /* most are that short: the less memory they go through, the faster */
	USUAL_BYTES = 512,   /* longer records get memory of their own */
	HELD_MAX = 64 << 20, /* bytes held back; beyond, order is given up before memory */
	OUTLIER_RUN_MAX = 3,
	QUEUE_FIRST = 256, /* a power of two */
	AHEAD = 8,
	CACHE_LINE = 64,
};

struct held {
	uint64_t stamp, number; /* number: in the order of the log */
	struct tare_log_record rec;
	struct held *next; /* of those that are free */
	size_t size;
	uint8_t bytes[] __attribute__((aligned(16)));
};

struct tare_reorder {
	struct tare_log *log;
	const struct tare_range *ranges;
	size_t range_nr, range; /* how many there are, which is read */
	size_t first_range;     /* those before are left out */
	uint64_t max_lag;
	struct tare_lag now;
	uint64_t number;
	struct held **queue; /* a ring of those that came in their order, as almost all do */
	size_t queue_at, queue_nr, queue_cap;
	struct held **heap; /* those that came late, smallest stamp first */
	size_t heap_nr, heap_cap, held_bytes;
	struct held *free_small, *free_usual, *given; /* given: by the last call */
	bool is_drained;                              /* the log has no more */
};

void tare_lag_add(struct tare_lag *lag, uint64_t stamp)
{
	if (stamp >= lag->high) {
		lag->high = stamp;
		lag->outlier_run = 0;
	} else if (lag->high - stamp <= TARE_REORDER_LAG_MAX) {
		if (lag->high - stamp > lag->lag)
			lag->lag = lag->high - stamp;
		lag->outlier_run = 0;
	} else if (++lag->outlier_run == OUTLIER_RUN_MAX) {
		/* One damaged stamp from the far future, not all of these from the past. */
		lag->high = stamp;
		lag->outlier_run = 0;
	}
}

/* The list of free ones of that size; NULL: there is none. */
static struct held **free_list(struct tare_reorder *r, size_t size)
{
	if (size > USUAL_BYTES)
		return NULL;
	return size > SMALL_BYTES ? &r->free_usual : &r->free_small;
}

static void drop(struct tare_reorder *r, struct held *held)
{
	struct held **list;

	if (!held)
		return;
	r->held_bytes -= sizeof(*held) + held->size;
	list = free_list(r, held->size);
	if (!list) {
		free(held);
		return;
	}
	held->next = *list;
	*list = held;
}

static struct held **queued(const struct tare_reorder *r, size_t i)
{
	return &r->queue[(r->queue_at + i) & (r->queue_cap - 1)];
}

static void drop_all(struct tare_reorder *r)
{
	drop(r, r->given);
	r->given = NULL;
	while (r->heap_nr > 0)
		drop(r, r->heap[--r->heap_nr]);
	for (; r->queue_nr > 0; r->queue_nr--)
		drop(r, *queued(r, r->queue_nr - 1));
}

static void free_all(struct held *list)
{
	while (list) {
		struct held *next = list->next;

		free(list);
		list = next;
	}
}

void tare_reorder_free(struct tare_reorder *r)
{
	if (!r)
		return;
	drop_all(r);
	free_all(r->free_small);
	free_all(r->free_usual);
	free(r->heap);
	free(r->queue);
	free(r);
}

void tare_reorder_rewind(struct tare_reorder *r)
{
	drop_all(r);
	r->range = r->first_range;
	if (r->range_nr > 0)
		tare_log_set_range(r->log, r->ranges[r->range].begin, r->ranges[r->range].end);
	r->now = (struct tare_lag){ 0 };
	r->number = 0;
	r->is_drained = false;
}

/* A record is at most max_lag behind one before it: where one is that old, none before it is later than `stamp`. */
void tare_reorder_pass_over(struct tare_reorder *r, uint64_t stamp)
{
	r->first_range = 0;
	for (size_t i = r->range_nr; i-- > 0 && stamp > r->max_lag;) {
		uint64_t first = r->ranges[i].first;

		if (first && first <= stamp - r->max_lag) {
			r->first_range = i;
			return;
		}
	}
}

struct tare_reorder *tare_reorder_new(struct tare_log *log, const struct tare_range *ranges, size_t range_nr,
                                      uint64_t lag)
{
	struct tare_reorder *r = tare_xcalloc(1, sizeof(*r));

	r->log = log;
	r->ranges = ranges;
	r->range_nr = range_nr;
	r->max_lag = lag;
	tare_reorder_rewind(r);
	return r;
}

/*
 * A copy with pointers into itself: the log's memory is good for one step only. Behind the record as it lies in the log
 * stands the one that this version makes of it, where that is another.
 */
static struct held *copy(struct tare_reorder *r, const struct tare_log_record *rec)
{
	const uint8_t *head = (const uint8_t *)rec->rec.head;
	size_t made = head != rec->raw || rec->bytes < rec->info->fixed ? rec->info->fixed : 0;
	size_t at = (rec->bytes + TARE_CELL - 1) / TARE_CELL * TARE_CELL, size = at + made;
	struct held **list, *held;

	if (size <= USUAL_BYTES)
		size = size > SMALL_BYTES ? USUAL_BYTES : SMALL_BYTES;
	list = free_list(r, size);
	held = list ? *list : NULL;
	if (held)
		*list = held->next;
	else
		held = tare_xmalloc(sizeof(*held) + size);
	held->size = size;
	r->held_bytes += sizeof(*held) + size;
	held->rec = *rec;
	memcpy(held->bytes, rec->raw, rec->bytes);
	memcpy(held->bytes + at, head, made);
	held->rec.raw = held->bytes;
	held->rec.rec.head = (const struct tare_record *)(const void *)(held->bytes + (made ? at : 0));
	if (rec->text && rec->text_len)
		held->rec.text = (const char *)held->bytes + rec->said->fixed;
	else if (rec->pcs && rec->depth)
		held->rec.pcs = (const uint64_t *)(const void *)(held->bytes + rec->said->fixed);
	held->stamp = rec->rec.head->stamp;
	held->number = r->number++;
	return held;
}

static bool is_before(const struct held *a, const struct held *b)
{
	return a->stamp != b->stamp ? a->stamp < b->stamp : a->number < b->number;
}

static void push_late(struct tare_reorder *r, struct held *held)
{
	size_t i = r->heap_nr++;

	r->heap = tare_array_reserve(r->heap, &r->heap_cap, r->heap_nr, sizeof(struct held *));
	while (i > 0 && is_before(held, r->heap[(i - 1) / 2])) {
		r->heap[i] = r->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	r->heap[i] = held;
}

static void grow_queue(struct tare_reorder *r)
{
	size_t cap = r->queue_cap ? 2 * r->queue_cap : QUEUE_FIRST;
	struct held **queue = tare_xcalloc(cap, sizeof(struct held *));

	for (size_t i = 0; i < r->queue_nr; i++)
		queue[i] = *queued(r, i);
	free(r->queue);
	r->queue = queue;
	r->queue_cap = cap;
	r->queue_at = 0;
}

static void push(struct tare_reorder *r, struct held *held)
{
	if (r->queue_nr && is_before(held, *queued(r, r->queue_nr - 1))) {
		push_late(r, held);
		return;
	}
	if (r->queue_nr == r->queue_cap)
		grow_queue(r);
	*queued(r, r->queue_nr++) = held;
}

static struct held *pop_late(struct tare_reorder *r)
{
	struct held *first = r->heap[0], *last = r->heap[--r->heap_nr];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < r->heap_nr) {
		if (child + 1 < r->heap_nr && is_before(r->heap[child + 1], r->heap[child]))
			child++;
		if (!is_before(r->heap[child], last))
			break;
		r->heap[i] = r->heap[child];
		i = child;
	}
	if (r->heap_nr > 0)
		r->heap[i] = last;
	return first;
}

/* The one to be given next; NULL: none is held. */
static struct held *first_of(const struct tare_reorder *r)
{
	struct held *late = r->heap_nr ? r->heap[0] : NULL, *first = r->queue_nr ? *queued(r, 0) : NULL;

	return late && (!first || is_before(late, first)) ? late : first;
}

static struct held *pop(struct tare_reorder *r)
{
	struct held *first = first_of(r);

	if (!r->queue_nr || first != *queued(r, 0))
		return pop_late(r);
	/* They have been waiting for long, in memory that is far away by now. */
	if (r->queue_nr > AHEAD) {
		const char *soon = (const char *)*queued(r, AHEAD);

		/* One line more: it may begin within one. */
		for (size_t i = 0; i <= sizeof(*first) + SMALL_BYTES; i += CACHE_LINE)
			__builtin_prefetch(soon + i);
	}
	r->queue_at = (r->queue_at + 1) & (r->queue_cap - 1);
	r->queue_nr--;
	return first;
}

static bool next_in_log(struct tare_reorder *r, struct tare_log_record *rec)
{
	enum tare_log_step step;

	while (r->range < r->range_nr) {
		while ((step = tare_log_next(r->log, rec)) != TARE_LOG_END)
			if (step == TARE_LOG_RECORD && rec->info && rec->info->is_event)
				return true;
		if (++r->range < r->range_nr)
			tare_log_set_range(r->log, r->ranges[r->range].begin, r->ranges[r->range].end);
	}
	return false;
}

/* Nothing that is still to come belongs before the first one held. */
static bool is_due(const struct tare_reorder *r)
{
	const struct held *first = first_of(r);

	if (!first)
		return false;
	if (r->is_drained || r->held_bytes > HELD_MAX)
		return true;
	return first->stamp < r->now.high && r->now.high - first->stamp > r->max_lag;
}

bool tare_reorder_next(struct tare_reorder *r, struct tare_log_record *rec)
{
	if (r->max_lag == 0)
		return next_in_log(r, rec); /* in order as it is: nothing is ever held back */
	drop(r, r->given);
	r->given = NULL;
	while (!is_due(r)) {
		if (r->is_drained)
			return false;
		if (!next_in_log(r, rec)) {
			r->is_drained = true;
			continue;
		}
		tare_lag_add(&r->now, rec->rec.head->stamp);
		push(r, copy(r, rec));
	}
	r->given = pop(r);
	*rec = r->given->rec;
	return true;
}
