/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets: how changes are booked, and how the state at a moment survives what follows it. */
#include "ledger/core/fold.h"

#include "base/array.h"
#include "base/sat.h"

#include <string.h>

/* A trial (rule "trial") has a row of its own for all of a segment, so no part of that is taken out of another row. */
static bool is_cut_into_blocks(const struct tare_fold *f, int bucket)
{
	return f->buckets[bucket].account != TARE_ACCOUNT_TRIAL && tare_fold_tensor_is_segment(f, bucket);
}

/* The first block of a process: what it has in segments is cut into blocks from now on. */
static void cut(struct tare_fold *f, struct tare_device_fold *d, int process)
{
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		struct tare_bucket *b = &f->buckets[i];

		if (b->process != process || b->is_subdivided || !is_cut_into_blocks(f, i))
			continue;
		b->is_subdivided = true;
		d->account_now[tare_now_subdivided(b)] += b->now.bytes;
	}
}

static void note_blocks(struct tare_fold *f, struct tare_device_fold *d, int bucket)
{
	struct tare_bucket *b = &f->buckets[bucket];
	struct tare_process_on_device *p;

	if (b->process < 0)
		return;
	p = tare_fold_process_on(f, b->process, d->index);
	if (b->account == TARE_BUCKET_TENSOR && !p->is_subdivided) {
		p->is_subdivided = true;
		cut(f, d, b->process);
	}
	b->is_subdivided = p->is_subdivided && is_cut_into_blocks(f, bucket);
}

static int add_bucket(struct tare_fold *f, const struct tare_bucket *proto)
{
	struct tare_device_fold *d = f->devices[proto->device];
	struct tare_bucket *b;
	int id = (int)f->bucket_nr;

	b = &TARE_APPEND(f->buckets, f->bucket_nr, f->bucket_cap);
	*b = *proto;
	f->changed = tare_array_reserve(f->changed, &f->changed_cap, f->bucket_nr, 1);
	f->changed[id] = 1;
	/* The bucket was empty at every moment so far. */
	for (int m = 0; m < TARE_MOMENT_NR; m++)
		b->moment[m] = d->moment_nr[m];
	b->next_of_device = d->buckets;
	d->buckets = id;
	note_blocks(f, d, id);
	return id;
}

void tare_buckets_all_changed(struct tare_fold *f)
{
	f->changed = tare_array_reserve(f->changed, &f->changed_cap, f->bucket_nr + 1, 1);
	memset(f->changed, 1, f->bucket_nr);
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

int tare_fold_bucket_at(struct tare_fold *f, int context, int account, uint64_t owner, uint32_t site)
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

void tare_bucket_keep_moments(struct tare_bucket *b, const struct tare_device_fold *d)
{
	for (int m = 0; m < TARE_MOMENT_NR; m++)
		if (b->moment[m] != d->moment_nr[m])
			b->kept[m] = b->now;
	memcpy(b->moment, d->moment_nr, sizeof(b->moment));
}

/* What every booking changes; returns the bucket. */
static inline __attribute__((always_inline)) struct tare_bucket *
book(struct tare_fold *f, int bucket, int64_t bytes, int64_t low, int64_t high, int64_t count, uint8_t evidence)
{
	struct tare_bucket *b = &f->buckets[bucket];
	struct tare_device_fold *d = f->devices[b->device];

	tare_bucket_keep(b, d);
	f->changed[bucket] = 1;
	b->now.bytes = tare_sat_add(b->now.bytes, bytes);
	if (b->least > b->now.bytes)
		b->least = b->now.bytes;
	b->now.low = tare_sat_add(b->now.low, low);
	b->now.high = tare_sat_add(b->now.high, high);
	b->now.count += count;
	if (b->now.evidence < evidence)
		b->now.evidence = evidence;
	if (tare_bucket_is_device(b))
		d->sum = tare_sat_add(d->sum, bytes);
	d->account_now[b->account] = tare_sat_add(d->account_now[b->account], bytes);
	if (b->is_subdivided)
		d->account_now[tare_now_subdivided(b)] += bytes;
	if (b->account == TARE_BUCKET_TENSOR || b->account == TARE_BUCKET_TRIED)
		d->live += bytes;
	return b;
}

void tare_fold_book(struct tare_fold *f, int bucket, const struct tare_amount *by)
{
	struct tare_bucket *b = book(f, bucket, by->bytes, by->low, by->high, by->count, by->evidence);

	b->now.ns = tare_sat_add(b->now.ns, by->ns);
	b->now.ever += by->ever;
	b->now.ever_bytes = tare_sat_add(b->now.ever_bytes, by->ever_bytes);
}

void tare_fold_book_counted(struct tare_fold *f, int bucket, int64_t bytes, int64_t count, enum tare_evidence how)
{
	book(f, bucket, bytes, bytes, bytes, count, (uint8_t)(1 + how));
}

void tare_fold_book_bytes(struct tare_fold *f, int bucket, int64_t bytes, enum tare_evidence how)
{
	if (bytes)
		tare_fold_book_counted(f, bucket, bytes, 0, how);
}

static bool is_sibling(const struct tare_bucket *a, const struct tare_bucket *b)
{
	return a->account == b->account && (a->owner == b->owner || a->account == TARE_ACCOUNT_CODE);
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

	if (!site)
		return 0;
	return site->python ? site->python->id : site->stack ? site->stack->id : site->pc;
}

/* Is it better to take from `x` than from `y`? Code may be unloaded by others than who loaded it. */
static bool is_better(const struct tare_fold *f, const struct tare_bucket *x, const struct tare_bucket *y,
                      uint64_t owner)
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
	TARE_APPEND(ops->items, ops->count, ops->cap) = (struct tare_op){ bucket, *by };
}

void tare_fold_op_bytes(struct tare_fold *f, int bucket, int64_t bytes, int64_t count, enum tare_evidence how)
{
	if (bytes || count)
		tare_fold_op(&f->ops, bucket,
		             &(struct tare_amount){
						 .bytes = bytes, .low = bytes, .high = bytes, .count = count, .evidence = (uint8_t)(1 + how) });
}

const struct tare_amount *tare_fold_amount(const struct tare_fold *f, const struct tare_bucket *b, enum tare_moment m)
{
	if (m == TARE_MOMENT_NOW || b->moment[m] != f->devices[b->device]->moment_nr[m])
		return &b->now;
	return &b->kept[m];
}
