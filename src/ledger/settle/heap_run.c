/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "heap blocks", of many blocks of one process between which nothing else comes: what is the same for all of them is found out once,
 * the place of each in the map is fetched some records before, and where a block is booked is known from the last one of its stacks.
 */
#include "ledger/settle/heap_live.h"
#include "ledger/settle/settle.h"

#include "base/xalloc.h"

enum { AHEAD = 12 }; /* records: of some hundred ns each, so what is fetched for one is there when it is taken */

struct at_work {
	struct tare_fold *f;
	struct tare_device_fold *d;
	struct tare_process_on_device *own;
	struct tare_process_fold *p;
	const struct tare_heap_run *run;
	int64_t calm_until; /* up to then nothing waits for the device to advance */
	bool is_watched;    /* parts want to know of each change */
};

static const struct tare_rec_heap_block *block_at(const struct at_work *w, size_t i)
{
	return (const struct tare_rec_heap_block *)(const void *)w->run->records[i];
}

static const struct tare_rec_heap_freed *freed_at(const struct at_work *w, size_t i)
{
	return (const struct tare_rec_heap_freed *)(const void *)w->run->records[i];
}

static void look_ahead(struct at_work *w, int64_t t)
{
	w->calm_until = tare_fold_calm_until(w->f, w->d, t);
	w->is_watched = w->f->keeps_history || tare_training_is_of(&w->f->parts->training, w->d->index);
}

static inline void advance_past(struct at_work *w, int64_t t)
{
	if (tare_fold_is_calm(w->d, w->calm_until, t))
		return;
	tare_fold_advance_past(w->f, w->d, t);
	look_ahead(w, t);
}

/* tare_parts_used(), where anybody has something to do. */
static inline void tell_used(struct at_work *w, int64_t t)
{
	struct tare_device_fold *d = w->d;

	if (w->is_watched)
		tare_parts_used(w->f, d, t);
	else if (!tare_fold_is_calm(d, w->calm_until, t))
		tare_history_used(&w->f->parts->history, w->f, d, t);
}

/* As every other event of the heap. */
static void take_alone(struct at_work *w, size_t i)
{
	struct tare_event e;

	w->run->refer(w->run, i, &e);
	tare_fold_heap(w->f, w->d, &e);
	look_ahead(w, e.at_ns);
}

static struct tare_heap_booked find_booked(struct at_work *w, size_t i)
{
	struct tare_origin origin;
	struct tare_event e;
	int context;

	w->run->refer(w->run, i, &e);
	origin = tare_fold_origin(w->f, w->p, &e);
	context = tare_fold_context(w->f, e.process->index, w->d->index, 0);
	return (struct tare_heap_booked){
		.context = context,
		.bucket = tare_fold_bucket_at(w->f, context, TARE_ACCOUNT_HEAP, origin.owner, origin.site),
	};
}

/* Where a block of these stacks is booked. */
static inline const struct tare_heap_booked *booked_of(struct at_work *w, size_t i)
{
	const struct tare_rec_heap_block *r = block_at(w, i);
	uint64_t stacks = (uint64_t)r->python << 32 | r->stack;
	struct tare_heap_booked *at;

	if (!w->own->heap.booked)
		w->own->heap.booked = tare_xcalloc(TARE_HEAP_BOOKED, sizeof(*at));
	at = &w->own->heap.booked[(stacks * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TARE_HEAP_BOOKED_BITS)];
	if (at->stacks != stacks || !at->is_known) {
		*at = find_booked(w, i);
		at->stacks = stacks;
		at->is_known = true;
	}
	return at;
}

static inline void hand_out(struct at_work *w, size_t i, int64_t t)
{
	const struct tare_rec_heap_block *r = block_at(w, i);
	const struct tare_heap_booked *at = booked_of(w, i);
	const struct tare_heap_block b = {
		.address = r->block,
		.bytes = (int64_t)r->bytes,
		.count = 1,
		.context = at->context,
		.bucket = at->bucket,
		.power = tare_heap_power(r->bytes),
	};

	tare_heap_block_put(w->f, w->d, &w->own->heap, &b);
	if (w->own->heap.moving.count)
		tare_heap_block_moved(w->f, w->d, &w->own->heap, r->tid);
	tare_heap_note_work(w->f, w->d, w->p, t);
	tare_growth_made(&w->f->parts->growth.processes[w->p->process->index], t);
	if (tare_device_peak(w->d, t))
		tare_fold_set_moment(w->f, w->d, TARE_MOMENT_PEAK, t);
	tell_used(w, t);
}

static inline void take_back(struct at_work *w, const struct tare_rec_heap_freed *r, int64_t t)
{
	struct tare_heap_blocks *h = &w->own->heap;

	if (h->moving.count)
		tare_heap_block_moved(w->f, w->d, h, r->tid);
	if (r->flags & TARE_HEAP_MOVING)
		tare_heap_block_move(h, r->block, r->tid);
	else if (tare_heap_block_take(w->f, w->d, h, r->block))
		tell_used(w, t);
}

static inline void apply(struct at_work *w, size_t i)
{
	const struct tare_record *head = w->run->records[i];
	bool is_block = head->kind == TARE_KIND_HEAP_BLOCK;
	int64_t t = w->run->times[i];

	if (is_block ? !tare_heap_is_plain(block_at(w, i)) : freed_at(w, i)->flags & ~(unsigned int)TARE_HEAP_MOVING) {
		take_alone(w, i);
		return;
	}
	advance_past(w, t);
	w->d->last_ns = t;
	if (is_block)
		hand_out(w, i, t);
	else
		take_back(w, freed_at(w, i), t);
	tare_parts_check(w->f);
}

static inline void fetch(const struct at_work *w, size_t i)
{
	if (i >= w->run->n)
		return;
	tare_map_prefetch(&w->own->heap.place_of,
	                  w->run->records[i]->kind == TARE_KIND_HEAP_BLOCK ? block_at(w, i)->block : freed_at(w, i)->block);
}

void tare_fold_heap_run(struct tare_fold *f, struct tare_device_fold *d, const struct tare_process *process,
                        const struct tare_heap_run *run)
{
	struct at_work w = { .f = f,
		                 .d = d,
		                 .own = tare_fold_process_on(f, process->index, d->index),
		                 .p = tare_fold_process(f, process),
		                 .run = run };

	look_ahead(&w, run->times[0]);
	for (size_t i = 0; i < run->n && !w.p->is_ending; i++) {
		fetch(&w, i + AHEAD);
		apply(&w, i);
	}
}
