/* SPDX-License-Identifier: Apache-2.0 */
/* What of processes that have ended leaves the books, and when. */
#include "ledger/settle/settle.h"

#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>

/* All that one of its contexts has goes from the books. */
static void empty_context(struct tare_fold *f, int context)
{
	for (int i = f->contexts[context].buckets; i >= 0; i = f->buckets[i].next_of_context) {
		const struct tare_amount *now = &f->buckets[i].now;
		struct tare_amount by = {
			.bytes = -now->bytes, .low = -now->low, .high = -now->high, .count = -now->count, .ns = -now->ns
		};

		tare_fold_book(f, i, &by);
	}
}

/* By the lists of its contexts: where thousands of processes end, the buckets of a device are those of all of them. */
void tare_fold_remove_process(struct tare_fold *f, struct tare_device_fold *d, int process)
{
	tare_fold_process_on(f, process, d->index)->is_removed = true;
	tare_cards_left(&f->parts->cards, f, d, process);
	tare_tensors_leave(&f->parts->tensors, f, d, process, -1);
	for (size_t i = 0; i < f->context_nr; i++) {
		struct tare_context *c = &f->contexts[i];

		if (c->process != process || c->device != d->index)
			continue;
		while (c->objects >= 0)
			tare_fold_object_remove(f, c->objects);
		c->is_live = false;
	}
	for (size_t i = 0; i < f->context_nr; i++)
		if (f->contexts[i].process == process && f->contexts[i].device == d->index)
			empty_context(f, (int)i);
}

/* ---- which of them a fall is of ---- */

/* A process that has ended and is still in the books of a device. */
struct leaver {
	int process;
	int64_t end_ns, bytes, driver; /* driver: what of `bytes` starting the driver took */
	bool is_chosen;
};

struct leavers {
	struct leaver *items;
	int count;
};

/* By size, the largest first; of the same size, the one that ended first. */
TARE_COMPARATOR(by_size, struct leaver,
                TARE_FALLING(bytes) TARE_FALLING(driver) TARE_RISING(end_ns) TARE_RISING(process))

static struct leavers find_leavers(const struct tare_fold *f, const struct tare_device_fold *d, int64_t t)
{
	struct leavers l = { tare_xcalloc((size_t)f->process_nr + 1, sizeof(*l.items)), 0 };

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &f->buckets[i];

		if (b->process < 0 || !tare_bucket_is_device(b))
			continue;
		l.items[b->process].bytes += b->now.bytes;
		if (b->account == TARE_ACCOUNT_DRIVER)
			l.items[b->process].driver += b->now.bytes;
	}
	for (int i = 0; i < f->process_nr; i++) {
		struct leaver own = l.items[i];

		if (own.bytes <= 0 || !tare_fold_is_over(f->processes[i], t))
			continue;
		own.process = i;
		own.end_ns = f->processes[i]->is_ending ? f->processes[i]->end_ns : f->processes[i]->process->last_ns;
		l.items[l.count++] = own;
	}
	TARE_SORT(l.items, l.count, by_size);
	return l;
}

/*
 * Is `left` what a process leaves behind? What starting the driver took stays as long as any process uses the
 * driver; on some drivers (is_part) a part of that.
 */
static bool fits(int64_t left, int64_t driver, bool is_part)
{
	if (llabs(left) <= TARE_COUNTER_STEP || llabs(left + driver) <= TARE_COUNTER_STEP)
		return true;
	return is_part && left < 0 && left > -driver;
}

enum { TRIES_MAX = 100000 };

/* A search for ended processes that have `left` together, from the one at `first` on. */
struct search {
	struct leavers *l;
	bool is_part;
	int tries;
};

static int same_from(const struct leavers *l, int first)
{
	int next = first + 1;

	while (next < l->count && l->items[next].bytes == l->items[first].bytes &&
	       l->items[next].driver == l->items[first].driver)
		next++;
	return next - first;
}

static bool add_up(struct search *s, int first, int64_t left, int64_t driver, int64_t rest)
{
	const struct leaver *own = &s->l->items[first];
	int same;

	if (fits(left, driver, s->is_part))
		return true;
	if (first == s->l->count || left > rest + TARE_COUNTER_STEP || ++s->tries > TRIES_MAX)
		return false;
	same = same_from(s->l, first);
	for (int count = same; count >= 0; count--) {
		int64_t bytes = count * own->bytes, of_driver = driver + count * own->driver;

		if (left - bytes < -of_driver - TARE_COUNTER_STEP ||
		    !add_up(s, first + same, left - bytes, of_driver, rest - same * own->bytes))
			continue;
		for (int i = 0; i < count; i++)
			s->l->items[first + i].is_chosen = true;
		return true;
	}
	return false;
}

static bool choose_exact(struct leavers *l, int64_t fall)
{
	int64_t all = 0;

	for (int i = 0; i < l->count; i++)
		all += l->items[i].bytes;
	for (int is_part = 0; is_part <= 1 && fall > TARE_COUNTER_STEP; is_part++) {
		struct search s = { l, is_part, 0 };

		if (add_up(&s, 0, fall, 0, all))
			return true;
	}
	return false;
}

/* Chooses the process that is nearest to the fall in size, or all if their sum is nearer. */
static bool choose_nearest(struct leavers *l, int64_t fall, bool is_sure)
{
	struct leaver *best = NULL;
	int64_t all = 0;

	for (int i = 0; i < l->count; i++) {
		all += l->items[i].bytes;
		if (l->items[i].bytes == l->items[i].driver)
			continue; /* stays until the last process has gone */
		if (!best || llabs(l->items[i].bytes - fall) < llabs(best->bytes - fall))
			best = &l->items[i];
	}
	if (!best || (!is_sure && fall < best->bytes / 2))
		return false;
	best->is_chosen = true;
	for (int i = 0; i < l->count && llabs(all - fall) <= llabs(best->bytes - fall); i++)
		l->items[i].is_chosen = true;
	return true;
}

/*
 * Rule "driver start": most of what starting the driver takes is taken for the first process, and stays until
 * the last one is gone. When the first one goes, the memory is booked for another process that is still there:
 * a live one, if there is any.
 */
static int heir(struct tare_fold *f, const struct tare_device_fold *d, int64_t t)
{
	int last = -1;

	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process_fold *p = f->processes[i];
		const struct tare_process_on_device *place = p && d->index < p->on_device_nr ? p->on_device[d->index] : NULL;

		if (!place || place->is_removed)
			continue;
		if (!tare_fold_is_over(p, t))
			return i;
		if (tare_fold_process_bytes(f, d, i) > 0)
			last = i;
	}
	return last;
}

static void leave_driver(struct tare_fold *f, struct tare_device_fold *d, int to, int64_t bytes)
{
	int context = tare_fold_context(f, to, d->index, 0);

	tare_fold_book_bytes(f, tare_fold_bucket(f, context, TARE_ACCOUNT_DRIVER, 0), bytes, TARE_EVIDENCE_INFERRED);
}

/*
 * Books what starting the driver took for another process. Pre: the calls in which others started the driver
 * are settled.
 */
void tare_fold_driver_inherit(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	int to = d->driver_left ? heir(f, d, t) : -1;

	if (to < 0)
		return;
	leave_driver(f, d, d->driver_of, -d->driver_left);
	leave_driver(f, d, to, d->driver_left);
	d->driver_left = 0;
}

/* What becomes of processes that had more, or less, than the device fell by. */
struct rest {
	int64_t stays; /* of what starting the driver took */
	int64_t off;   /* what their rows were too large by, and those that they shared with too small */
};

/*
 * `off`: by how much less the device fell than the chosen processes have in the books; `least`: what the smallest of them
 * has. One that is off by half of that and more is not: another process came or went meanwhile.
 */
static struct rest rest_of(const struct tare_fold *f, const struct tare_device_fold *d, const bool *is_leaving,
                           int64_t off, int64_t driver, int64_t least)
{
	struct rest r = { .stays = llabs(off - driver) < llabs(off) ? driver : 0 };

	r.off = off - r.stays;
	if (llabs(r.off) < least / 2 && llabs(r.off) <= tare_fold_doubt_room(f, d, is_leaving, r.off < 0))
		return r;
	r.off = 0;
	if (off > 0 && off < driver)
		r.stays = off;
	return r;
}

/*
 * Removes the chosen processes from the books; the device fell by `fall`, if not by more for other reasons. Returns by how much
 * the books fell.
 */
static int64_t remove_chosen(struct tare_fold *f, struct tare_device_fold *d, const struct leavers *l, int64_t t,
                             int64_t fall)
{
	TARE_FREED_HERE bool *is_leaving = tare_xcalloc((size_t)f->process_nr + 1, sizeof(*is_leaving));
	int64_t bytes = 0, driver = 0, least = INT64_MAX, off;
	struct rest rest;
	int last = -1, to;

	for (int i = 0; i < l->count; i++) {
		if (!l->items[i].is_chosen)
			continue;
		last = l->items[i].process;
		bytes += l->items[i].bytes;
		driver += l->items[i].driver;
		least = l->items[i].bytes < least ? l->items[i].bytes : least;
		is_leaving[last] = true;
	}
	rest = rest_of(f, d, is_leaving, bytes - fall, driver, least);
	for (int i = 0; i < f->process_nr; i++) {
		if (!is_leaving[i])
			continue;
		if (d->driver_left && d->driver_of == i)
			d->driver_left = 0;
		tare_fold_remove_process(f, d, i);
	}
	off = tare_fold_doubt_settle(f, d, is_leaving, rest.off);
	/* What no row is off by: a leaver's driver start was too large, and another of their rows too small. */
	if (rest.off < off)
		rest.stays = rest.stays > off - rest.off ? rest.stays - (off - rest.off) : 0;
	to = rest.stays ? heir(f, d, t) : -1;
	if (rest.stays)
		leave_driver(f, d, to < 0 ? last : to, rest.stays);
	if (rest.stays && to < 0) { /* a process of which nothing is in the books yet */
		d->driver_of = last;
		d->driver_left = rest.stays;
	}
	return bytes - rest.stays - off;
}

/*
 * Notes the end of a killed process, which has no END record, when its memory goes, also if `tare` tells of the end
 * later. Rule "end": only if no recorded process works after it.
 */
static void set_end(struct tare_fold *f, struct tare_device_fold *d, const struct leavers *l, int64_t t)
{
	for (int i = 0; i < l->count && t >= d->worked_ns && !d->has_moment[TARE_MOMENT_END]; i++) {
		const struct tare_process_fold *p = f->processes[l->items[i].process];

		if (l->items[i].is_chosen && !(p->is_ending && p->end_ns <= t))
			tare_fold_set_moment(f, d, TARE_MOMENT_END, t);
	}
}

/*
 * Rule "process end": the driver frees what an ended process had, some time after its last record. A fall of
 * what is booked for one process, or for a few together, shows that they have gone; else a fall of at least
 * half of what is booked for the process nearest in size. Inside calls that make something any fall shows an
 * end (is_sure): such a call gives nothing back. d->used must be as before the fall: that may be the moment
 * `end`.
 */
void tare_fold_take_ended(struct tare_fold *f, struct tare_device_fold *d, int64_t t, bool is_sure, int64_t *change)
{
	bool is_chosen = true;

	for (int i = 0; *change < 0 && i < f->process_nr; i++)
		if (tare_fold_is_over(f->processes[i], t))
			tare_fold_share_end(f, i);
	while (*change < 0 && is_chosen) {
		struct leavers l = find_leavers(f, d, t);

		is_chosen = choose_exact(&l, -*change) || choose_nearest(&l, -*change, is_sure);
		if (is_chosen) {
			set_end(f, d, &l, t);
			*change += remove_chosen(f, d, &l, t, -*change);
		}
		free(l.items);
	}
}

/*
 * Removes processes that have gone at once. `beyond`: by how much more the device fell than by what they had but for the
 * start of the driver. Returns by how much the books fell. d->used is as for tare_fold_take_ended().
 */
int64_t tare_fold_end_of(struct tare_fold *f, struct tare_device_fold *d, int64_t t, const bool *is_leaving,
                         int64_t beyond)
{
	int64_t fall = beyond;
	bool is_any = false;
	struct leavers l;

	for (int i = 0; i < f->process_nr; i++)
		if (is_leaving[i])
			tare_fold_share_end(f, i);
	l = find_leavers(f, d, t);
	for (int i = 0; i < l.count; i++) {
		struct leaver *own = &l.items[i];

		if (!is_leaving[own->process])
			continue;
		is_any = own->is_chosen = true;
		fall += own->bytes - own->driver;
	}
	set_end(f, d, &l, t);
	fall = is_any ? remove_chosen(f, d, &l, t, fall) : 0;
	free(l.items);
	return fall;
}

/*
 * When the process ended, if it is still in the books of the device; INT64_MAX: it is not, or has not ended.
 */
int64_t tare_fold_leaves_at(const struct tare_fold *f, const struct tare_device_fold *d, int process)
{
	const struct tare_process_fold *p = f->processes[process];

	if (!tare_fold_is_over(p, INT64_MAX) || d->index >= p->on_device_nr || !p->on_device[d->index] ||
	    p->on_device[d->index]->is_removed)
		return INT64_MAX;
	return p->is_ending ? p->end_ns : p->process->last_ns;
}

/* Is there an ended process whose memory the device could lose at that time? */
bool tare_fold_is_any_leaving(const struct tare_fold *f, const struct tare_device_fold *d, int64_t t)
{
	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process_fold *p = f->processes[i];

		if (tare_fold_is_over(p, t) && d->index < p->on_device_nr && p->on_device[d->index] &&
		    !p->on_device[d->index]->is_removed)
			return true;
	}
	return false;
}
