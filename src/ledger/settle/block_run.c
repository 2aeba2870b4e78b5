/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many blocks of one process on one device, between which nothing else comes: what is the same for all of them is found out once, and
 * the memory that each needs is fetched while those before it are applied.
 */
#include "ledger/settle/settle.h"

#include "record/bound.h"

enum { AHEAD = 32 }; /* whose memory is fetched at once */

struct at_work {
	struct tare_fold *f;
	struct tare_device_fold *d;
	struct tare_process_fold *p;
	struct tare_process_on_device *on_device;
	const struct tare_process *process;
	const struct tare_block_run *run;
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

/* `rec` has what the ith block is but for its time, its address and its bytes. */
static inline uint32_t site_of(const struct at_work *w, const struct tare_rec_tensor *rec, size_t i)
{
	const struct tare_site_memo *memo = &w->p->site_memo[rec->python % TARE_SITE_MEMO];
	struct tare_event e;

	if (rec->python && memo->python == rec->python && memo->site)
		return memo->site;
	if (!rec->python && !rec->stack && !(rec->flags & TARE_TENSOR_BACKWARD))
		return 0;
	w->run->refer(w->run, i, &e);
	return tare_tensor_site(w->f, w->p, &e);
}

static inline void hand_out(struct at_work *w, size_t i, int segment)
{
	const struct tare_tensor_columns *c = &w->run->columns;
	const struct tare_rec_tensor *rec = &c->others[c->which[i]];
	int64_t t = w->run->times[i];
	struct tare_fold *f = w->f;
	struct tare_device_fold *d = w->d;
	const struct tare_block b = { .address = c->addresses[i],
		                          .bytes = c->bytes[i],
		                          .t = t,
		                          .born_ns = t,
		                          .process = w->process->index,
		                          .tid = rec->tid,
		                          .flags = rec->flags,
		                          .module = tare_modules_of_block(&w->p->modules, rec),
		                          .site = site_of(w, rec, i),
		                          .on = tare_fold_stream_of(w->p, d, rec) };
	struct tare_block_change change;

	if (tare_tensor_hand_out(&f->parts->tensors, f, d, w->on_device, &b, segment, &change))
		tare_parts_block(f, &change);
	if (d->live <= w->calm_live)
		return;
	tare_fold_plateau(f, d, t);
	tare_fold_peak_tensors(f, d, t);
	w->calm_live = tare_fold_calm_live(d);
}

static inline void apply(struct at_work *w, size_t i, int segment)
{
	const struct tare_tensor_columns *c = &w->run->columns;
	const struct tare_rec_tensor *rec = &c->others[c->which[i]];
	int64_t bytes = c->bytes[i], t = w->run->times[i];
	struct tare_fold *f = w->f;
	struct tare_device_fold *d = w->d;

	if (bytes > TARE_MOST_BYTES)
		return; /* damage */
	advance_past(w, t);
	if (rec->flags & TARE_TENSOR_FINALIZING && !d->has_moment[TARE_MOMENT_END])
		tare_fold_set_moment(f, d, TARE_MOMENT_END, t);
	if (bytes > 0)
		hand_out(w, i, segment);
	else
		tare_tensor_take_back(&f->parts->tensors, f, d, w->on_device, c->addresses[i], segment,
		                      (struct tare_taking){ rec->tid, rec->flags });
	tare_parts_check(f);
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
	struct at_work w = { .f = f,
		                 .d = d,
		                 .p = tare_fold_process(f, process),
		                 .on_device = tare_fold_process_on(f, process->index, d->index),
		                 .process = process,
		                 .run = run };
	int segments[AHEAD];

	tare_fold_tensor_flush(f, d);
	look_ahead(&w, run->times[0]);
	for (size_t begin = 0, end; begin < run->n; begin = end) {
		end = run->n - begin < AHEAD ? run->n : begin + AHEAD;
		fetch(w.on_device, run->columns.addresses + begin, run->columns.bytes + begin, end - begin, segments);
		for (size_t i = begin; i < end; i++)
			apply(&w, i, segments[i - begin]);
	}
}
