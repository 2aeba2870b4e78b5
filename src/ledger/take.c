/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two passes over the events.
 *
 * Events come in the order of their stamps, and that of most calls is their end. To see which calls
 * overlap, the fold wants them in the order in which they began. The first pass finds the calls that
 * began before something that was seen earlier ("late") and keeps only those; the second takes each
 * of them in where it belongs. In a program with one thread nothing is late.
 */
#include "ledger/run.h"

#include "base/array.h"
#include "base/comparator.h"
#include "record/bound.h"

#include <stdlib.h>
#include <string.h>

/*
 * May the call, which names no device, be of the only one there is? Host memory is pinned for some device.
 */
static bool may_be_of_only_device(const struct tare_event *e)
{
	return e->kind == TARE_KIND_EVENT && e->process->device_nr == 1 && e->process->devices[0].device &&
	       tare_classes[e->rec.event->class].sizing == TARE_SIZING_HOST;
}

static int device_of(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_process *p = e->process;

	if (e->device)
		return tare_fold_device(f, e->device)->index;
	if (may_be_of_only_device(e))
		return tare_fold_device(f, p->devices[0].device)->index;
	return -1;
}

/* Does the event say what a call did, from its begin to its end? */
static bool is_step(const struct tare_event *e)
{
	return e->kind == TARE_KIND_EVENT || e->kind == TARE_KIND_POOL;
}

/*
 * When the call of an event began, with its first reading: calls that overlap that time are settled with it.
 */
static int64_t order_of(const struct tare_event *e)
{
	return is_step(e) ? e->begin_ns - e->reading_before_ns : e->at_ns;
}

/*
 * Is the event in the state that this fold goes on from, because its call began before that moment?
 */
static bool was_taken(const struct tare_device_fold *d, const struct tare_event *e)
{
	uint32_t tid = e->kind == TARE_KIND_POOL ? e->rec.pool->tid : e->rec.event->tid;

	for (size_t i = 0; i < d->taken.count; i++) {
		const struct tare_step *s = &d->taken.items[i];

		if (s->end == e->end_ns && s->begin == e->begin_ns && s->tid == tid && s->process == e->process->index)
			return true;
	}
	return false;
}

/* Must the event be applied earlier than it comes? Both passes must answer alike. */
static bool is_late(struct tare_fold *f, const struct tare_event *e, int device)
{
	struct tare_device_fold *d;

	if (device < 0) {
		if (e->kind == TARE_KIND_END || e->kind == TARE_KIND_EXIT || e->kind == TARE_KIND_CONTROL)
			f->max_begin_all = e->at_ns > f->max_begin_all ? e->at_ns : f->max_begin_all;
		return false;
	}
	d = f->devices[device];
	if (d->taken.count && is_step(e) && was_taken(d, e))
		return true;
	if (is_step(e) && (order_of(e) < d->max_begin || order_of(e) < f->max_begin_all))
		return true;
	if (d->max_begin < order_of(e))
		d->max_begin = order_of(e);
	return false;
}

/* What was refused may be more than any device has, and must not overflow the sums. */
static uint64_t sane_size(uint64_t bytes)
{
	return bytes < TARE_MOST_BYTES ? bytes : TARE_MOST_BYTES;
}

static struct tare_step step_of_pool(struct tare_fold *f, const struct tare_event *e, int device)
{
	const struct tare_rec_pool *r = e->rec.pool;

	tare_fold_process(f, e->process);
	return (struct tare_step){
		.process = e->process->index,
		.device = device,
		.tid = r->tid,
		.effect = TARE_EFFECT_CHANGE,
		.class = TARE_CLASS_POOL_STATE,
		.begin = e->begin_ns,
		.end = e->end_ns,
		.local_growth = -1,
		.handle = r->handle,
		.asked = sane_size(r->used),
		.granted = sane_size(r->reserved),
		.before = TARE_NOT_KNOWN,
		.after = TARE_NOT_KNOWN,
		.limit = r->number,
	};
}

static uint64_t owner_of(struct tare_fold *f, const struct tare_event *e, uint64_t owner)
{
	const struct tare_rec_event *r = e->rec.event;

	if (r->effect != TARE_EFFECT_NEW || r->class == TARE_CLASS_GRAPH)
		return 0;
	if (r->class == TARE_CLASS_POOL_STATE)
		return tare_fold_pool_owner(f, owner, r->limit);
	if (e->name && (r->class == TARE_CLASS_DEVICE || r->class == TARE_CLASS_VMM))
		return tare_fold_owner_part(f, owner, e->name);
	return owner;
}

static struct tare_step step_of(struct tare_fold *f, const struct tare_event *e, int device)
{
	const struct tare_rec_event *r = e->rec.event;
	struct tare_process_fold *p = tare_fold_process(f, e->process);
	struct tare_origin origin;

	if (e->kind == TARE_KIND_POOL)
		return step_of_pool(f, e, device);
	origin = tare_fold_origin(f, p, e);
	return (struct tare_step){
		.process = e->process->index,
		.device = device,
		.tid = r->tid,
		.effect = r->effect,
		.class = r->class,
		.flags = r->flags,
		.owner = owner_of(f, e, origin.owner),
		.site = r->effect == TARE_EFFECT_DEL ? 0 : origin.site, /* what goes is booked at the site it came from */
		.call_site = origin.site,
		.begin = e->begin_ns,
		.end = e->end_ns,
		.reading_before = e->reading_before_ns,
		.reading_after = e->reading_after_ns,
		.local_growth = -1,
		.context = r->context,
		.handle = r->handle,
		.parent = r->parent,
		.asked = sane_size(r->asked),
		.granted = sane_size(r->granted),
		.before = r->before,
		.after = r->after,
		.peers_before = r->peers_before,
		.peers_after = r->peers_after,
		.local = sane_size(r->local),
		.limit = r->limit,
		.name = e->name,
	};
}

static bool is_reading(const struct tare_event *e)
{
	switch (e->kind) {
	case TARE_KIND_EVENT:
		return e->rec.event->flags & TARE_EVENT_WEIGHED;
	case TARE_KIND_DEVICE:
		return e->rec.device->used != TARE_NOT_KNOWN;
	case TARE_KIND_READING:
		return e->rec.reading->used != TARE_NOT_KNOWN;
	default:
		return false;
	}
}

/* Notes from when to when the recording has something to show. */
static void prepass_time(struct tare_fold *f, const struct tare_event *e, int device)
{
	bool is_any = (e->kind == TARE_KIND_EVENT && device >= 0) || e->kind == TARE_KIND_TENSOR ||
	              e->kind == TARE_KIND_HEAP_BLOCK || e->kind == TARE_KIND_PHASE;

	if (f->seen_ns < e->end_ns)
		f->seen_ns = e->end_ns;
	if (is_any && f->first_ns > e->begin_ns)
		f->first_ns = e->begin_ns;
}

/* ---- the first pass ---- */

static void prepass_other(struct tare_fold *f, const struct tare_event *e)
{
	int device = device_of(f, e);
	struct tare_steps *late;

	prepass_time(f, e, device);
	if (e->process)
		tare_fold_process(f, e->process);
	if (e->about)
		tare_fold_process(f, e->about);
	if (device >= 0 && is_reading(e))
		f->devices[device]->will_be_measured = true;
	tare_fold_elastic_prepass(f, e);
	tare_losses_prepass(&f->parts->losses, f, e);
	if (!is_late(f, e, device) || was_taken(f->devices[device], e))
		return;
	late = &f->devices[device]->late;
	TARE_APPEND(late->items, late->count, late->cap) = step_of(f, e, device);
}

static void find_late(struct tare_fold *f)
{
	struct tare_event e;

	if (f->source->outline)
		f->source->outline(f->source->arg);
	while (f->source->next(f->source->arg, &e)) {
		tare_fold_part_readings(f, &e);
		if (!tare_fold_prepass_block(f, &e))
			prepass_other(f, &e);
	}
	f->source->rewind(f->source->arg);
	tare_fold_elastic_decide(f);
}

TARE_COMPARATOR(by_begin, struct tare_step, TARE_RISING_BY(it->begin - it->reading_before) TARE_RISING(end))

static void take_step(struct tare_fold *f, struct tare_step *s)
{
	struct tare_applied a;

	if (s->device < 0 && s->effect == TARE_EFFECT_DEL) {
		int found = tare_fold_object_find(f, s->process, s->class, s->handle);

		if (found >= 0)
			s->device = f->objects[found].device;
	}
	if (!(s->flags & TARE_EVENT_FAILED) && (s->device >= 0 || s->class == TARE_CLASS_DRIVER))
		f->opened_gpu = true;
	if ((s->flags & TARE_EVENT_UNWEIGHED) && s->device >= 0 &&
	    (tare_classes[s->class].sizing == TARE_SIZING_WEIGHED || tare_classes[s->class].sizing == TARE_SIZING_HOST))
		f->unweighed++;
	if (s->device < 0)
		tare_fold_apply(f, s, &a);
	else
		tare_fold_cluster_add(f, f->devices[s->device], s);
}

static void take_late(struct tare_fold *f, struct tare_device_fold *d, int64_t until)
{
	while (d->late_next < d->late.count) {
		struct tare_step *s = &d->late.items[d->late_next];

		if (s->begin - s->reading_before > until)
			return;
		d->late_next++;
		take_step(f, s);
	}
}

static int source_of(const struct tare_device *device)
{
	if (!(device->flags & TARE_DEVICE_NVML))
		return TARE_SOURCE_CUDA;
	return device->flags & TARE_DEVICE_V1 ? TARE_SOURCE_NVML1 : TARE_SOURCE_NVML2;
}

static void take_all_late(struct tare_fold *f, int64_t t)
{
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			take_late(f, f->devices[i], t);
}

static void end_process(struct tare_fold *f, const struct tare_process *p, int64_t t)
{
	if (!p || p->role != TARE_ROLE_PROGRAM)
		return;
	tare_fold_process(f, p);
	take_all_late(f, t);
	tare_fold_process_end(f, p->index, t);
	tare_phases_end(&f->parts->phases, f, p->index, t);
	tare_parts_phases(f);
}

/* Whoever asks for it looks at the books when the calls before the event, and its own, are settled. */
static void look_later(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
	struct tare_asked look = tare_parts_ask(f, d, e);

	if (look.what)
		tare_fold_wait(f, d,
		               &(struct tare_block){ .t = is_step(e) ? e->end_ns : e->at_ns,
		                                     .look = (int)look.what,
		                                     .looker = (int)look.looker });
}

static void take_on_device(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
	struct tare_step s;

	take_late(f, d, is_step(e) ? order_of(e) : e->at_ns);
	switch (e->kind) {
	case TARE_KIND_EVENT:
	case TARE_KIND_POOL:
		s = step_of(f, e, d->index);
		tare_phases_step(&f->parts->phases, &s);
		take_step(f, &s);
		return;
	case TARE_KIND_DEVICE:
		/* A DEVICE record of a program: when exactly its reading was taken is not known. */
		if (!d->is_measured || source_of(d->device) < d->primary)
			tare_fold_reading(f, d, e->at_ns, e->at_ns, e->rec.device->used, source_of(d->device), TARE_NOT_KNOWN);
		return;
	case TARE_KIND_READING:
		tare_fold_reading(f, d, e->begin_ns, e->at_ns, e->rec.reading->used, (int)e->rec.reading->source,
		                  e->rec.reading->peers);
		return;
	case TARE_KIND_PEER:
		tare_other_process_take(f, d, e);
		return;
	case TARE_KIND_TENSOR:
		tare_fold_tensor(f, d, e);
		return;
	case TARE_KIND_HEAP_BLOCK:
	case TARE_KIND_HEAP_FREED:
	case TARE_KIND_HEAP_UNMAPPED:
		tare_fold_heap(f, d, e);
		return;
	default:
		tare_parts_event(f, d, e);
		return;
	}
}

static void take_hosts(struct tare_fold *f, int64_t t)
{
	while (f->host_next < f->timed_nr && f->timed[f->host_next].t_ns < t)
		tare_fold_snapshot_hosts(f, TARE_MOMENT_NOW, f->timed[f->host_next++].out);
}

static void take(struct tare_fold *f, const struct tare_event *e)
{
	int device = device_of(f, e);
	struct tare_step s;

	if (f->last_ns < e->end_ns)
		f->last_ns = e->end_ns;
	take_hosts(f, e->at_ns);
	tare_call_times_comes(&f->parts->call_times, f, e);
	if (device >= 0 && e->kind == TARE_KIND_EVENT && e->rec.event->flags & TARE_EVENT_REFUSED)
		tare_cards_refused(&f->parts->cards, f, f->devices[device], e);
	if (is_late(f, e, device)) {
		look_later(f, f->devices[device], e);
		return;
	}
	if (e->process)
		tare_fold_process_begin(f, e->process, e->begin_ns);
	if (device >= 0) {
		take_on_device(f, f->devices[device], e);
		look_later(f, f->devices[device], e); /* after its step, so that its readings count */
		return;
	}
	switch (e->kind) {
	case TARE_KIND_EVENT:
		s = step_of(f, e, -1);
		take_step(f, &s);
		return;
	case TARE_KIND_HOST:
		tare_fold_host(f, e);
		tare_fold_one_memory_read(f, e);
		tare_parts_event(f, NULL, e);
		return;
	case TARE_KIND_TENSOR:
		tare_fold_host_tensor(f, e);
		return;
	case TARE_KIND_SCANNED:
		tare_fold_scan_entry(f, e);
		return;
	case TARE_KIND_SCAN:
		tare_fold_scan_settle(f, e);
		tare_fold_scan(f, e);
		return;
	case TARE_KIND_END:
		if (e->process->role == TARE_ROLE_PROGRAM)
			tare_fold_host_most(f, e);
		end_process(f, e->process, e->at_ns);
		return;
	case TARE_KIND_EXIT:
		end_process(f, e->about, e->at_ns);
		return;
	case TARE_KIND_CONTROL:
		take_all_late(f, e->at_ns);
		tare_fold_control(f, e);
		return;
	case TARE_KIND_DEGRADED:
		if (e->text && *e->text && !e->rec.degraded->remark)
			tare_fold_note(f, "%s", e->text);
		return;
	default:
		tare_parts_event(f, NULL, e);
		tare_parts_phases(f);
		return;
	}
}

static void forget_pass(struct tare_fold *f, int64_t max_begin_all)
{
	f->max_begin_all_seen = f->max_begin_all;
	f->max_begin_all = max_begin_all;
	tare_fold_part_swap(f);
	for (int i = 0; i < f->device_nr; i++) {
		struct tare_device_fold *d = f->devices[i];

		if (!d)
			continue;
		d->max_begin_seen = d->max_begin;
		d->max_begin = d->max_begin_then;
		TARE_SORT(d->late.items, d->late.count, by_begin);
	}
}

void tare_fold_settle_all(struct tare_fold *f)
{
	for (int i = 0; i < f->device_nr; i++) {
		struct tare_device_fold *d = f->devices[i];

		if (!d)
			continue;
		take_late(f, d, INT64_MAX);
		tare_fold_cluster_close(f, d);
		tare_fold_reading_flush(f, d);
		tare_fold_advance(f, d, INT64_MAX);
	}
	take_hosts(f, INT64_MAX);
	tare_fold_host_finish(f);
}

void tare_fold_look_ahead(struct tare_fold *f)
{
	int64_t max_begin_all = f->max_begin_all;

	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			f->devices[i]->max_begin_then = f->devices[i]->max_begin;
	tare_fold_part_keep(f);
	find_late(f);
	forget_pass(f, max_begin_all);
}

/* Where the first pass got to, instead of where the second did; and back. */
static void swap_passes(struct tare_fold *f)
{
	int64_t all = f->max_begin_all;

	f->max_begin_all = f->max_begin_all_seen;
	f->max_begin_all_seen = all;
	tare_fold_part_swap(f);
	for (int i = 0; i < f->device_nr; i++) {
		struct tare_device_fold *d = f->devices[i];
		int64_t own;

		if (!d)
			continue;
		own = d->max_begin;
		d->max_begin = d->max_begin_seen;
		d->max_begin_seen = own;
	}
}

/* Those that were taken in are not asked for again. Returns how many are left. */
static size_t forget_late(struct tare_device_fold *d)
{
	size_t left = d->late.count - d->late_next;

	if (left && d->late_next)
		memmove(d->late.items, d->late.items + d->late_next, left * sizeof(*d->late.items));
	d->late.count = left;
	d->late_next = 0;
	return left;
}

/* Calls that were found late just now, from `first` on: is one of them of a time that the second pass is behind? */
static bool is_too_late(const struct tare_fold *f, const struct tare_device_fold *d, size_t first)
{
	for (size_t i = first; i < d->late.count; i++) {
		int64_t order = d->late.items[i].begin - d->late.items[i].reading_before;

		if (order < d->max_begin || order < f->max_begin_all)
			return true;
	}
	return false;
}

bool tare_fold_look_further(struct tare_fold *f)
{
	int device_nr = f->device_nr;
	TARE_FREED_HERE size_t *known = tare_xcalloc((size_t)device_nr + 1, sizeof(*known));
	bool is_any = false;

	for (int i = 0; i < device_nr; i++)
		known[i] = f->devices[i] ? forget_late(f->devices[i]) : 0;
	swap_passes(f);
	find_late(f);
	swap_passes(f);
	for (int i = 0; i < f->device_nr; i++) {
		struct tare_device_fold *d = f->devices[i];

		if (!d || !d->late.count)
			continue;
		is_any |= is_too_late(f, d, i < device_nr ? known[i] : 0);
		TARE_SORT(d->late.items, d->late.count, by_begin);
	}
	return !is_any;
}

static void take_any(struct tare_fold *f, struct tare_event *e)
{
	tare_fold_part_readings(f, e);
	if (!tare_fold_take_block(f, e))
		take(f, e);
	tare_parts_check(f);
}

/* And what follows it up to a moment, as far as that is of its kind. */
static void take_many(struct tare_fold *f, struct tare_event *e, int64_t until)
{
	tare_fold_part_readings(f, e);
	if (tare_fold_take_block(f, e))
		tare_fold_take_run(f, e, until);
	else
		take(f, e);
	if (e->kind == TARE_KIND_PHASE)
		tare_fold_take_phases(f, e, until);
	if (e->kind == TARE_KIND_HEAP_BLOCK || e->kind == TARE_KIND_HEAP_FREED)
		tare_fold_take_heap(f, e, until);
	tare_parts_check(f);
}

bool tare_fold_take_next(struct tare_fold *f)
{
	struct tare_event e;
	bool is_any = f->source->next(f->source->arg, &e);

	if (is_any)
		take_any(f, &e);
	return is_any;
}

void tare_fold_run_until(struct tare_fold *f, int64_t until)
{
	struct tare_event e;

	while (f->source->next(f->source->arg, &e) && e.at_ns <= until)
		take_many(f, &e, until);
}

void tare_fold_run(struct tare_fold *f)
{
	struct tare_event e;

	while (f->source->next(f->source->arg, &e))
		take_many(f, &e, INT64_MAX);
	tare_fold_settle_all(f);
	tare_parts_check(f);
}
