/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "cluster": calls on a device that overlap, of other threads or other processes, are settled
 * together, when the last of them has ended. Calls of one thread never overlap, so in a program with
 * one thread every call is alone.
 */
#include "ledger/settle/settle.h"

#include "base/array.h"
#include "base/sat.h"

#include <stdlib.h>

/* CLUSTER_MAX: a longer chain of overlapping calls is settled in parts. */
enum { CLUSTER_MAX = 1 << 16, WAIT_MAX = 64 };

/* Calls made inside another call count as the thread's. */
static uint32_t thread_id(const struct tare_step *s)
{
	return s->tid & ~TARE_TID_INSIDE;
}

static bool is_of(const struct tare_thread_end *t, const struct tare_step *s)
{
	return t->process == s->process && t->tid == thread_id(s);
}

/*
 * An unweighed call ran on when the last reading was taken: only the next reading tells whether its
 * change was in there. Until then unweighed calls that follow wait with it.
 */
static bool waits(const struct tare_device_fold *d, const struct tare_step *s)
{
	return !(s->flags & TARE_EVENT_WEIGHED) && d->cluster.count > 1 && d->cluster.count < WAIT_MAX &&
	       d->weighed_until != INT64_MIN && d->unweighed_until > d->weighed_until;
}

static bool joins(const struct tare_device_fold *d, const struct tare_step *s)
{
	if (waits(d, s))
		return true;
	if (s->begin - s->reading_before > d->cluster_until || d->cluster.count >= CLUSTER_MAX)
		return false;
	for (size_t i = 0; i < d->thread_nr; i++) {
		const struct tare_thread_end *t = &d->threads[i];

		/* Calls of one thread are in order, unless one is inside the other. */
		if (is_of(t, s) ? s->begin < t->end : s->begin - s->reading_before <= t->until)
			return true;
	}
	return false;
}

static struct tare_thread_end *thread_of(struct tare_device_fold *d, const struct tare_step *s)
{
	for (size_t i = 0; i < d->thread_nr; i++)
		if (is_of(&d->threads[i], s))
			return &d->threads[i];
	return TARE_ADD(d->threads, d->thread_nr, d->thread_cap,
	                (struct tare_thread_end){ .process = s->process, .tid = thread_id(s), .last = SIZE_MAX });
}

/*
 * Parts two successive readings of a thread that seem to overlap, because the time that a reading took is
 * rounded up, more so for a longer one.
 */
static void part(struct tare_step *before, struct tare_step *own)
{
	int64_t at = before->weigh_end - before->end > own->begin - own->weigh_begin ? own->weigh_begin : before->weigh_end;

	if (at < before->end)
		at = before->end;
	if (at > own->begin)
		at = own->begin;
	before->weigh_end = own->weigh_begin = at;
}

void tare_fold_cluster_add(struct tare_fold *f, struct tare_device_fold *d, const struct tare_step *s)
{
	struct tare_thread_end *t;
	struct tare_step *own;
	int64_t *until;

	if ((s->flags & TARE_EVENT_WEIGHED) && !d->cluster.count)
		tare_fold_reading_check(f, d, s);
	if (d->cluster.count && !joins(d, s)) {
		if (s->flags & TARE_EVENT_WEIGHED)
			tare_fold_cluster_close_by(f, d, s->begin, s->before, tare_fold_step_source(d, s));
		else
			tare_fold_cluster_close(f, d);
	}
	if (!d->cluster.count) /* else a list that waits is of a moment behind calls that are not settled */
		tare_fold_reading_flush(f, d);
	t = thread_of(d, s);
	d->cluster.items =
		tare_array_reserve(d->cluster.items, &d->cluster.cap, d->cluster.count + 1, sizeof(*d->cluster.items));
	own = &d->cluster.items[d->cluster.count];
	*own = *s;
	own->weigh_begin = s->begin - (s->reading_before ? s->reading_before : f->weigh);
	own->weigh_end = s->end + (s->reading_after ? s->reading_after : f->weigh);
	if (t->last != SIZE_MAX && d->cluster.items[t->last].end <= s->begin) {
		/* The thread's own calls are in order, readings included. */
		struct tare_step *before = &d->cluster.items[t->last];

		if (before->weigh_end > own->weigh_begin)
			part(before, own);
	}
	if (!d->cluster.count)
		d->weighed_until = d->unweighed_until = INT64_MIN;
	until = s->flags & TARE_EVENT_WEIGHED ? &d->weighed_until : &d->unweighed_until;
	if (*until < s->end)
		*until = s->end;
	t->last = d->cluster.count++;
	if (t->until < own->weigh_end)
		t->until = own->weigh_end;
	if (t->end < s->end)
		t->end = s->end;
	if (d->cluster_until < t->until)
		d->cluster_until = t->until;
}

/*
 * Is the call a release of a primary context that does not end it? Only the last of as many releases as
 * retains does.
 */
static bool is_mere_release(struct tare_fold *f, const struct tare_step *s, int64_t change)
{
	int64_t booked = 0;
	int context;

	if (s->class != TARE_CLASS_CONTEXT || s->effect != TARE_EFFECT_DEL || !(s->flags & TARE_EVENT_PRIMARY))
		return false;
	context = tare_fold_context(f, s->process, s->device, s->handle ? s->handle : s->context);
	for (int i = f->contexts[context].buckets; i >= 0; i = f->buckets[i].next_of_context)
		if (tare_bucket_is_device(&f->buckets[i]))
			booked += f->buckets[i].now.bytes;
	return booked > 0 && -change < booked / 2;
}

/* Settles a call without readings: the device changed by what is known of the call. */
static void settle_unweighed(struct tare_fold *f, struct tare_device_fold *d, struct tare_step *s)
{
	struct tare_applied a;

	tare_fold_advance(f, d, s->end);
	tare_fold_apply(f, s, &a);
	tare_fold_book_ops(f, f->ops.items, f->ops.count);
	d->used += a.known;
	if (d->is_measured)
		tare_graphs_measured(&f->parts->graphs, &a, d->used);
}

/*
 * The part of `rest` that is the unexplained memory of a context, which went when the context ended.
 */
static int64_t back_with_context(const struct tare_applied *a, int64_t rest)
{
	if (rest >= 0 || a->ended_unexplained <= 0)
		return 0;
	return -rest < a->ended_unexplained ? -rest : a->ended_unexplained;
}

static void settle_weighed(struct tare_fold *f, struct tare_device_fold *d, struct tare_step *s)
{
	int source = tare_fold_step_source(d, s);
	int64_t before = tare_fold_normal(f, d, s->before, source, d->used), after, rest;
	bool reads_others = tare_step_reads_others(f, d, s);
	struct tare_applied a;

	tare_fold_advance(f, d, s->begin);
	tare_fold_between_calls(f, d, s->begin, before - d->used,
	                        reads_others ? tare_fold_peer_level_between(f, d, s->peers_before, before - d->used) : 0);
	tare_fold_peak(f, d, s->begin);

	after = tare_fold_normal(f, d, s->after, source, before);
	if (is_mere_release(f, s, after - before))
		s->effect = TARE_EFFECT_CHANGE;
	tare_fold_advance(f, d, s->end);
	tare_fold_apply(f, s, &a);
	tare_fold_book_ops(f, f->ops.items, f->ops.count);
	rest = after - before - a.known;
	if (reads_others)
		rest -= tare_other_processes_take_level(f, d, s->peers_after);
	if (rest < 0) {
		d->used = after - rest;
		tare_fold_take_ended(f, d, s->weigh_end, s->effect == TARE_EFFECT_NEW, &rest);
	}
	rest += back_with_context(&a, rest);
	if (a.takes_rest && !(rest < 0 && tare_step_only_takes(s))) {
		tare_fold_weigh(f, s, &a, rest, rest, rest);
	} else if (a.takes_rest) {
		d->unexplained_open += rest; /* a list of processes may explain it */
		d->unexplained_between = tare_sat_add(d->unexplained_between, tare_sat_abs(rest));
	} else {
		tare_fold_unexplained(f, d, s, a.context, rest);
	}
	d->used = after;
	tare_graphs_measured(&f->parts->graphs, &a, after);
}

bool tare_fold_cluster_is_complete(const struct tare_device_fold *d, int64_t t)
{
	return d->cluster.count && t > d->cluster_until && (d->cluster.count == 1 || d->unweighed_until == INT64_MIN);
}

void tare_fold_cluster_close(struct tare_fold *f, struct tare_device_fold *d)
{
	struct tare_step *s = d->cluster.items;

	if (!d->cluster.count)
		return;
	tare_fold_ends_lift(f, d);
	if (d->cluster.count > 1) {
		tare_fold_overlap(f, d);
	} else {
		tare_fold_ends_pass(f, d, s->end);
		if (s->flags & TARE_EVENT_WEIGHED)
			settle_weighed(f, d, s);
		else
			settle_unweighed(f, d, s);
		d->last_ns = s->end;
		tare_fold_peak(f, d, s->end);
	}
	tare_fold_driver_inherit(f, d, d->cluster_until);
	tare_fold_ends_pass(f, d, d->cluster_until);
	d->cluster.count = d->thread_nr = 0;
	d->cluster_until = INT64_MIN;
	tare_fold_tensor_until(f, d, INT64_MAX);
	tare_fold_ends_finish(f);
	tare_fold_host_settle(f);
}

/*
 * Settles the cluster with the first reading behind it, which tells what calls without readings changed.
 */
void tare_fold_cluster_close_by(struct tare_fold *f, struct tare_device_fold *d, int64_t t, uint64_t used, int source)
{
	d->has_closing = true;
	d->closing_ns = t;
	d->closing_used = (int64_t)used;
	d->closing_source = source;
	tare_fold_cluster_close(f, d);
	d->has_closing = false;
}
