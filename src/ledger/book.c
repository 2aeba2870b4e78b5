/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets: how changes are booked, and how the state at a mark survives what follows it. */
#include "ledger/fold.h"

#include "base/array.h"
#include "base/sat.h"

#include <string.h>

/* The first block of a process: what it has in segments is cut into blocks from now on. */
static void cut(struct tare_fold *f, struct tare_device_fold *d, int process)
{
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		struct tare_bucket *b = &f->buckets[i];

		if (b->process != process || b->is_cut || !tare_fold_tensor_is_segment(f, i))
			continue;
		b->is_cut = true;
		d->account_now[tare_now_cut(b)] += b->now.bytes;
	}
}

static void see_blocks(struct tare_fold *f, struct tare_device_fold *d, int bucket)
{
	struct tare_bucket *b = &f->buckets[bucket];
	struct tare_place *p;

	if (b->process < 0)
		return;
	p = tare_fold_place(f, b->process, d->index);
	if (b->account == TARE_BUCKET_TENSOR && !p->is_cut) {
		p->is_cut = true;
		cut(f, d, b->process);
	}
	b->is_cut = p->is_cut && tare_fold_tensor_is_segment(f, bucket);
}

static int add_bucket(struct tare_fold *f, const struct tare_bucket *proto)
{
	struct tare_device_fold *d = f->devices[proto->device];
	struct tare_bucket *b;
	int id = (int)f->bucket_nr;

	f->buckets = tare_array_reserve(f->buckets, &f->bucket_cap, f->bucket_nr + 1,
					sizeof(*f->buckets));
	b = &f->buckets[f->bucket_nr++];
	*b = *proto;
	/* It was empty at every mark so far. */
	for (int m = 0; m < TARE_MARK_NR; m++)
		b->mark[m] = d->mark_nr[m];
	b->next_of_device = d->buckets;
	d->buckets = id;
	see_blocks(f, d, id);
	return id;
}

struct tare_device_fold *tare_fold_device(struct tare_fold *f, const struct tare_device *device)
{
	struct tare_device_fold *d;
	int i = device->index;

	if (i >= f->device_nr) {
		f->devices = tare_xrealloc(f->devices, (size_t)i + 1, sizeof(*f->devices));
		while (f->device_nr <= i)
			f->devices[f->device_nr++] = NULL;
	}
	if (f->devices[i])
		return f->devices[i];
	d = f->devices[i] = tare_xcalloc(1, sizeof(*d));
	d->device = device;
	d->index = i;
	d->buckets = -1;
	d->max_begin = d->worked_ns = INT64_MIN;
	d->end_next = f->end_nr;
	d->before = tare_fold_bucket_of_device(f, i, TARE_ACCOUNT_OTHER, 0);
	d->paused = -1;
	d->is_pause_open = f->is_paused;
	return d;
}

int tare_fold_bucket_of_device(struct tare_fold *f, int device, int account, uint64_t owner)
{
	return add_bucket(f, &(struct tare_bucket){ .device = device,
						    .process = -1,
						    .context = -1,
						    .account = account,
						    .owner = owner,
						    .next_of_context = -1 });
}

int tare_fold_bucket_at(struct tare_fold *f, int context, int account, uint64_t owner,
			uint32_t site)
{
	struct tare_context *c = &f->contexts[context];
	bool is_part = tare_account_has_owner(account) || (site && account != TARE_ACCOUNT_CONTEXT);
	uint64_t *part = NULL;
	int id = c->bucket_of[account];

	if (is_part) {
		uint64_t who = tare_account_has_owner(account) ? owner : 0;
		uint64_t key = (who * TARE_BUCKET_NR + (uint64_t)account) << 32 | site;
		bool is_new;

		part = tare_map_put(&c->parts, key, &is_new);
		id = is_new ? -1 : (int)*part;
	}
	if (id >= 0)
		return id;
	id = add_bucket(f, &(struct tare_bucket){ .device = c->device,
						  .process = c->process,
						  .context = context,
						  .account = account,
						  .owner = owner,
						  .site = site,
						  .next_of_context = c->buckets });
	c->buckets = id;
	if (part)
		*part = (uint64_t)id;
	else
		c->bucket_of[account] = id;
	return id;
}

int tare_fold_bucket(struct tare_fold *f, int context, int account, uint64_t owner)
{
	return tare_fold_bucket_at(f, context, account, owner, 0);
}

void tare_fold_book(struct tare_fold *f, int bucket, const struct tare_amount *by)
{
	struct tare_bucket *b = &f->buckets[bucket];
	struct tare_device_fold *d = f->devices[b->device];

	tare_bucket_keep(b, d);
	b->now.bytes = tare_sat_add(b->now.bytes, by->bytes);
	b->now.low = tare_sat_add(b->now.low, by->low);
	b->now.high = tare_sat_add(b->now.high, by->high);
	b->now.count += by->count;
	b->now.ns += by->ns;
	if (b->now.evidence < by->evidence)
		b->now.evidence = by->evidence;
	if (tare_bucket_is_device(b))
		d->sum = tare_sat_add(d->sum, by->bytes);
	d->account_now[b->account] = tare_sat_add(d->account_now[b->account], by->bytes);
	if (b->is_cut)
		d->account_now[tare_now_cut(b)] += by->bytes;
	if (b->account == TARE_BUCKET_TENSOR || b->account == TARE_BUCKET_TRIED)
		d->live += by->bytes;
}

void tare_fold_book_bytes(struct tare_fold *f, int bucket, int64_t bytes, enum tare_evidence how)
{
	if (bytes)
		tare_fold_book(f, bucket,
			       &(struct tare_amount){ .bytes = bytes,
						      .low = bytes,
						      .high = bytes,
						      .evidence = (uint8_t)(1 + how) });
}

static bool is_sibling(const struct tare_bucket *a, const struct tare_bucket *b)
{
	return a->account == b->account &&
	       (a->owner == b->owner || a->account == TARE_ACCOUNT_CODE);
}

int64_t tare_fold_held(const struct tare_fold *f, int bucket)
{
	const struct tare_bucket *b = &f->buckets[bucket];
	int64_t held = 0;

	for (int i = f->contexts[b->context].buckets; i >= 0; i = f->buckets[i].next_of_context)
		if (is_sibling(&f->buckets[i], b))
			held += f->buckets[i].now.bytes;
	return held;
}

/* By something that is the same in every fold of a recording. */
static uint64_t rank_of(const struct tare_fold *f, const struct tare_bucket *b)
{
	const struct tare_site *site = b->site ? &f->sites[b->site] : NULL;

	return !site ? 0 : site->python ? site->python->id : site->pc;
}

/* Is it better to take from `x` than from `y`? Code may be unloaded by others than who loaded it. */
static bool is_better(const struct tare_fold *f, const struct tare_bucket *x,
		      const struct tare_bucket *y, uint64_t owner)
{
	if ((x->owner == owner) != (y->owner == owner))
		return x->owner == owner;
	if (x->now.bytes != y->now.bytes)
		return x->now.bytes > y->now.bytes;
	return rank_of(f, x) < rank_of(f, y);
}

/* The sibling that holds most, and more than nothing; -1: none does. */
static int largest_sibling(const struct tare_fold *f, int bucket)
{
	const struct tare_bucket *b = &f->buckets[bucket];
	int best = -1;

	for (int i = f->contexts[b->context].buckets; i >= 0; i = f->buckets[i].next_of_context) {
		const struct tare_bucket *x = &f->buckets[i];

		if (!is_sibling(x, b) || x->now.bytes <= 0)
			continue;
		if (best < 0 || is_better(f, x, &f->buckets[best], b->owner))
			best = i;
	}
	return best;
}

void tare_fold_book_fall(struct tare_fold *f, int bucket, int64_t bytes, enum tare_evidence how)
{
	int from = bucket;

	while (bytes < 0 && from >= 0) {
		int64_t held = f->buckets[from].now.bytes, part = bytes < -held ? -held : bytes;

		if (part < 0) {
			tare_fold_book_bytes(f, from, part, how);
			bytes -= part;
		}
		from = bytes < 0 ? largest_sibling(f, bucket) : -1;
	}
	tare_fold_book_bytes(f, bucket, bytes, how);
}

void tare_fold_book_ops(struct tare_fold *f, const struct tare_op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tare_fold_book(f, ops[i].bucket, &ops[i].by);
}

void tare_fold_op(struct tare_ops *ops, int bucket, const struct tare_amount *by)
{
	ops->items = tare_array_reserve(ops->items, &ops->cap, ops->count + 1, sizeof(*ops->items));
	ops->items[ops->count++] = (struct tare_op){ bucket, *by };
}

void tare_fold_op_bytes(struct tare_fold *f, int bucket, int64_t bytes, int64_t count,
			enum tare_evidence how)
{
	if (bytes || count)
		tare_fold_op(&f->ops, bucket,
			     &(struct tare_amount){ .bytes = bytes,
						    .low = bytes,
						    .high = bytes,
						    .count = count,
						    .evidence = (uint8_t)(1 + how) });
}

/* From here on every bucket of the device keeps what it is now, the moment it changes. */
void tare_fold_mark(struct tare_fold *f, struct tare_device_fold *d, enum tare_mark m, int64_t t)
{
	if (m != TARE_MARK_HOST)
		tare_fold_host_until(f, t);
	d->mark_nr[m]++;
	if (m != TARE_MARK_HOST && (m != TARE_MARK_END || !f->host.is_marked[m]))
		f->host_mark_nr[m]++;
	if (t > f->told_ns)
		d->is_told[m] = f->host.is_told[m] = false;
	d->mark_used[m] = d->used;
	d->mark_live[m] = d->live;
	d->mark_ns[m] = t;
	d->is_marked[m] = true;
	if (d->card)
		d->card->mark_aside[m] = d->card->aside;
}

/*
 * Rule "peak": the counter wavers by 64 KiB that are nobody's. A moment that is higher by no more is not
 * taken for one at which more was in blocks, but the other way round.
 */
static bool is_fuller(const struct tare_most *now, const struct tare_most *most)
{
	if (now->live > most->live)
		return now->used + TARE_COUNTER_STEP >= most->used;
	return now->used > most->used + (now->live < most->live ? TARE_COUNTER_STEP : 0);
}

bool tare_most_take(struct tare_most *most, const struct tare_most *now)
{
	if (!is_fuller(now, most))
		return false;
	*most = *now;
	return true;
}

/* The same for phases, and for what the recorded processes have. */
static void take_most(struct tare_device_fold *d, int64_t t)
{
	const struct tare_most now = { d->used - d->used_start, d->live, t };
	const struct tare_most own = { tare_sat_sub(d->sum, d->account_now[TARE_ACCOUNT_OTHER]),
				       d->live, t };

	if (tare_most_take(&d->phase_peak, &now))
		d->phase_has_peak = true;
	tare_most_take(&d->own_peak, &own);
}

static void look_for_peak(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	const struct tare_most now = { d->used, d->live, t };
	const struct tare_most marked = { d->mark_used[TARE_MARK_PEAK],
					  d->mark_live[TARE_MARK_PEAK], 0 };

	take_most(d, t);
	if (!d->is_marked[TARE_MARK_PEAK] || is_fuller(&now, &marked))
		tare_fold_mark(f, d, TARE_MARK_PEAK, t);
}

void tare_fold_peak(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	look_for_peak(f, d, t);
	tare_fold_training_used(f, d);
	tare_fold_course_advance(f, d, t);
}

/* The device is at its maximum still, or again, and more of it is in use. */
void tare_fold_plateau(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	if (d->is_marked[TARE_MARK_PEAK])
		look_for_peak(f, d, t);
}

/* Rule "peak:tensors" */
void tare_fold_peak_tensors(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	if (d->live > d->mark_live[TARE_MARK_TENSORS])
		tare_fold_mark(f, d, TARE_MARK_TENSORS, t);
}

const struct tare_amount *tare_fold_amount(const struct tare_fold *f, const struct tare_bucket *b,
					   enum tare_mark m)
{
	if (m == TARE_MARK_NOW || b->mark[m] != f->devices[b->device]->mark_nr[m])
		return &b->now;
	return &b->kept[m];
}
