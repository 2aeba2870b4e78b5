/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of tensors on one device, in the order of time and with nothing else between them: a run of one process, or those that waited for
 * calls to be settled. What is the same for all of them is found out once, and the memory that each needs is fetched while those before
 * it are applied.
 */
#include "ledger/settle/settle.h"

#include <string.h>

enum { AHEAD = 32 }; /* whose memory is fetched at once */

struct at_work {
	struct tare_fold *f;
	struct tare_device_fold *d;
	int64_t calm_until; /* up to then nothing waits for the device to advance … */
	int64_t calm_live;  /* … and with no more in blocks it is no peak */
};

static void look_ahead(struct at_work *w, int64_t t)
{
	w->calm_until = tare_fold_calm_until(w->f, w->d, t);
	w->calm_live = tare_fold_calm_live(w->d);
}

static inline void advance_past(struct at_work *w, int64_t t)
{
	if (tare_fold_is_calm(w->d, w->calm_until, t))
		return;
	tare_fold_advance_past(w->f, w->d, t);
	look_ahead(w, t);
}

/* The device is at that moment, and Python's first free at its teardown is the end. */
static inline void advance_to(struct at_work *w, struct tare_process_fold *p, int64_t t, uint16_t flags)
{
	advance_past(w, t);
	if (!(flags & TARE_TENSOR_FINALIZING))
		return;
	tare_process_torn_down(p, t);
	if (!w->d->has_moment[TARE_MOMENT_END])
		tare_fold_set_moment(w->f, w->d, TARE_MOMENT_END, t);
}

/* `segment`: tare_segments_place() of its address. */
static inline void hand_out(struct at_work *w, struct tare_process_on_device *p, const struct tare_block *b,
                            int segment)
{
	struct tare_fold *f = w->f;
	struct tare_device_fold *d = w->d;
	struct tare_block_change change;

	if (tare_tensor_hand_out(&f->parts->tensors, f, d, p, b, segment, &change))
		tare_parts_block(f, &change);
	if (d->live <= w->calm_live)
		return;
	tare_fold_plateau(f, d, b->t);
	tare_fold_peak_tensors(f, d, b->t);
	w->calm_live = tare_fold_calm_live(d);
}

static inline void take_back(struct at_work *w, struct tare_process_on_device *p, uint64_t address, int segment,
                             struct tare_taking by)
{
	tare_tensor_take_back(&w->f->parts->tensors, w->f, w->d, p, address, segment, by);
}

/* ---- a run ---- */

struct run {
	struct at_work work;
	struct tare_process_fold *p;
	struct tare_process_on_device *on_device;
	const struct tare_process *process;
	const struct tare_block_run *blocks;
};

/* `rec` has what the ith block is but for its time, its address and its bytes. */
static inline uint32_t site_of(const struct run *r, const struct tare_rec_tensor *rec, size_t i)
{
	const struct tare_site_memo *memo = &r->p->site_memo[rec->python % TARE_SITE_MEMO];
	struct tare_event e;

	if (rec->python && memo->python == rec->python && memo->site)
		return memo->site;
	if (!rec->python && !rec->stack && !(rec->flags & TARE_TENSOR_BACKWARD))
		return 0;
	r->blocks->refer(r->blocks, i, &e);
	return tare_tensor_site(r->work.f, r->p, &e);
}

static inline void hand_out_of_run(struct run *r, const struct tare_rec_tensor *rec, size_t i, int segment)
{
	const struct tare_tensor_columns *c = &r->blocks->columns;
	const struct tare_block b = { .address = c->addresses[i],
		                          .bytes = c->bytes[i],
		                          .t = r->blocks->times[i],
		                          .born_ns = r->blocks->times[i],
		                          .process = r->process->index,
		                          .tid = rec->tid,
		                          .flags = rec->flags,
		                          .module = tare_modules_of_block(&r->p->modules, rec),
		                          .site = site_of(r, rec, i),
		                          .on = tare_fold_stream_of(r->p, r->work.d, rec) };

	hand_out(&r->work, r->on_device, &b, segment);
}

static inline void apply(struct run *r, size_t i, int segment)
{
	const struct tare_tensor_columns *c = &r->blocks->columns;
	const struct tare_rec_tensor *rec = &c->others[c->which[i]];

	advance_to(&r->work, r->p, r->blocks->times[i], rec->flags);
	if (c->bytes[i] > 0)
		hand_out_of_run(r, rec, i, segment);
	else
		take_back(&r->work, r->on_device, c->addresses[i], segment, (struct tare_taking){ rec->tid, rec->flags });
	tare_parts_check(r->work.f);
}

/*
 * Has fetched what the records need, and finds their segments. These steps do not wait for each other, as they would between those that
 * apply the blocks.
 */
static void fetch(const struct tare_process_on_device *p, const uint64_t *addresses, const int64_t *bytes, size_t n,
                  int *segments)
{
	for (size_t i = 0; i < n; i++)
		tare_blocks_prefetch(&p->blocks, addresses[i]);
	for (size_t i = 0; i < n; i++)
		segments[i] = tare_segments_place(&p->segments, addresses[i]);
	for (size_t i = 0; i < n; i++)
		if (bytes[i] <= 0)
			tare_blocks_prefetch_block(&p->blocks, addresses[i]);
}

void tare_fold_tensors(struct tare_fold *f, struct tare_device_fold *d, const struct tare_process *process,
                       const struct tare_block_run *run)
{
	struct run r = { .work = { .f = f, .d = d },
		             .p = tare_fold_process(f, process),
		             .on_device = tare_fold_process_on(f, process->index, d->index),
		             .process = process,
		             .blocks = run };
	int segments[AHEAD];

	look_ahead(&r.work, run->times[0]);
	for (size_t begin = 0, end; begin < run->n; begin = end) {
		end = run->n - begin < AHEAD ? run->n : begin + AHEAD;
		fetch(r.on_device, run->columns.addresses + begin, run->columns.bytes + begin, end - begin, segments);
		for (size_t i = begin; i < end; i++)
			apply(&r, i, segments[i - begin]);
	}
}

/* ---- what waited ---- */

static void look(struct at_work *w, const struct tare_block *b)
{
	tare_fold_advance_past(w->f, w->d, b->t);
	tare_fold_look(w->f, w->d, b);
	look_ahead(w, b->t);
}

static void apply_waiting(struct at_work *w, const struct tare_block *b)
{
	struct tare_process_on_device *p = tare_fold_process_on(w->f, b->process, w->d->index);
	int segment = tare_segments_place(&p->segments, b->address);

	advance_to(w, w->f->processes[b->process], b->t, b->flags);
	if (b->bytes > 0)
		hand_out(w, p, b, segment);
	else
		take_back(w, p, b->address, segment, (struct tare_taking){ b->tid, b->flags });
}

void tare_fold_tensor_until(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	struct at_work w = { .f = f, .d = d };
	size_t nr = 0;

	if (!d->block_nr || d->blocks[0].t > t)
		return;
	look_ahead(&w, d->blocks[0].t);
	for (; nr < d->block_nr && d->blocks[nr].t <= t; nr++) {
		if (d->blocks[nr].look)
			look(&w, &d->blocks[nr]);
		else
			apply_waiting(&w, &d->blocks[nr]);
	}
	d->block_nr -= nr;
	if (d->block_nr)
		memmove(d->blocks, d->blocks + nr, d->block_nr * sizeof(*d->blocks));
}
