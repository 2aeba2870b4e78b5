/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps how much the recorded processes needed of a device over time, without what PyTorch's allocator could give
 * back, in stretches that are joined as they grow in number.
 */
#include "ledger/needs/needs.h"

#include "base/array.h"

#include <string.h>

enum {
	KEPT = 1024,       /* stretches; when there are so many, of … */
	KEPT_ALWAYS = 512, /* … those behind the first two are put together */
	SHARE = 256,       /* of the device: so much more at once begins a stretch … */
	LESS = 4,          /* … and so many times that less, as where a cache goes */
};
#define SHARE_NOT_KNOWN (64 * TARE_MIB)

/* ---- what is needed ---- */

static int64_t need_of(const struct tare_device_fold *d)
{
	const int64_t *now = d->account_now;
	int64_t cached = now[TARE_NOW_SUBDIVIDED] + now[TARE_NOW_SUBDIVIDED_VMM] - now[TARE_BUCKET_TENSOR] -
	                 now[TARE_BUCKET_PARTLY] - now[TARE_BUCKET_HELD];

	return d->sum - now[TARE_ACCOUNT_OTHER] - now[TARE_ACCOUNT_POOL_IDLE] - now[TARE_ACCOUNT_TRIAL] - cached;
}

static int64_t share_of(const struct tare_device_fold *d)
{
	uint64_t total = d->device->total;

	return total && total != TARE_NOT_KNOWN ? (int64_t)(total / SHARE) : SHARE_NOT_KNOWN;
}

static struct tare_needs_device *device_of(struct tare_needs_part *p, int device)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->devices[i].device == device)
			return &p->devices[i];
	p->devices = tare_array_reserve(p->devices, &p->cap, p->count + 1, sizeof(*p->devices));
	p->devices[p->count] = (struct tare_needs_device){ .device = device };
	for (int i = 0; i < TARE_COMING_NR; i++)
		p->devices[p->count].first_ns[i] = -1;
	return &p->devices[p->count++];
}

/* Two stretches as one. */
static void put_together(struct tare_needs_device *n)
{
	size_t to = KEPT_ALWAYS;

	for (size_t from = KEPT_ALWAYS; from < n->count; from += 2) {
		struct tare_need pair = n->items[from];

		if (from + 1 < n->count)
			tare_need_join(&pair, &n->items[from + 1]);
		n->items[to++] = pair;
	}
	if (n->until_end > KEPT_ALWAYS)
		n->until_end = KEPT_ALWAYS + (n->until_end - KEPT_ALWAYS + 1) / 2;
	n->count = to;
}

static void begin_stretch(struct tare_needs_device *n, int64_t need, int64_t t)
{
	if (n->count >= KEPT)
		put_together(n);
	TARE_APPEND(n->items, n->count, n->cap) =
		(struct tare_need){ .from_ns = t, .most = need, .most_ns = t, .least = need, .last = need, .fall_ns = t };
	n->least = need;
}

void tare_needs_note(struct tare_needs_part *p, const struct tare_device_fold *d, int64_t t)
{
	struct tare_needs_device *n = device_of(p, d->index);
	int64_t need = need_of(d);
	struct tare_need *now;

	if (!n->count || need - n->least >= share_of(d) || n->items[n->count - 1].last - need >= LESS * share_of(d) ||
	    n->is_apart || n->end_nr != d->moment_nr[TARE_MOMENT_END]) {
		if (n->end_nr != d->moment_nr[TARE_MOMENT_END])
			n->until_end = n->count;
		n->is_apart = false;
		begin_stretch(n, need, t);
		n->end_nr = d->moment_nr[TARE_MOMENT_END];
		return;
	}
	now = &n->items[n->count - 1];
	now->last = need;
	if (need > now->most) {
		now->most = need;
		now->most_ns = t;
	} else if (now->most - need > now->fall) {
		now->fall = now->most - need;
		now->fall_ns = now->most_ns;
	}
	if (need < now->least)
		now->least = need;
	if (need < n->least)
		n->least = need;
}

/* Of accounts whose rows have no owner, and are measured rather than asked for. */
static void note_first(struct tare_needs_device *n, const struct tare_device_fold *d, int64_t t)
{
	for (int a = 1 + TARE_ACCOUNT_NONE; a < TARE_ACCOUNT_NR; a++) {
		int64_t *first = &n->first_ns[tare_coming_of((enum tare_account)a, NULL)];

		if (*first < 0 && d->account_now[a] > 0 && !tare_account_has_libraries((enum tare_account)a))
			*first = t;
	}
}

void tare_needs_used(struct tare_needs_part *p, const struct tare_fold *f, const struct tare_device_fold *d, int64_t t)
{
	(void)f;
	/* No server has a cache in the heap, and that changes more often than all else. */
	if (d->device->flags & TARE_DEVICE_HEAP || tare_device_own(d) <= 0)
		return;
	tare_needs_note(p, d, t);
	note_first(device_of(p, d->index), d, t);
}

/* Where a server ends, and its graphs go, is no moment at which it serves. */
void tare_needs_gone(struct tare_needs_part *p, const struct tare_fold *f, const struct tare_object_live *o)
{
	(void)f;
	if (o->device >= 0 && o->class == TARE_CLASS_GRAPH)
		device_of(p, o->device)->is_apart = true;
}

/* ---- what came first ---- */

static enum tare_coming coming_of(const struct tare_fold *f, const struct tare_bucket *b)
{
	const char *name;

	if (b->account >= TARE_ACCOUNT_NR)
		return TARE_COMING_NR;
	name = b->owner && tare_account_has_libraries((enum tare_account)b->account)
	           ? tare_owner_name(f->owners[b->owner - 1])
	           : NULL;
	return tare_coming_of((enum tare_account)b->account, name);
}

void tare_needs_call(struct tare_needs_part *p, const struct tare_fold *f, const struct tare_step *s)
{
	/* A graph stays: between it and the next one nothing is under way at some time. */
	if (s->device >= 0 && s->class == TARE_CLASS_GRAPH && s->effect == TARE_EFFECT_NEW)
		device_of(p, s->device)->is_apart = true;
	for (size_t i = 0; i < f->ops.count; i++) {
		const struct tare_op *op = &f->ops.items[i];
		const struct tare_bucket *b = &f->buckets[op->bucket];
		enum tare_coming what;
		int64_t *first;

		if (op->by.bytes <= 0 || b->device < 0 || b->process < 0)
			continue;
		what = coming_of(f, b);
		if (what == TARE_COMING_NR)
			continue;
		first = &device_of(p, b->device)->first_ns[what];
		if (*first < 0)
			*first = s->begin;
	}
}

/* ---- the ledger ---- */

void tare_needs_device_rows(const struct tare_needs_part *p, const struct tare_fold *f,
                            const struct tare_device_fold *d, enum tare_moment m, int64_t t, struct tare_arena *memory,
                            struct tare_device_ledger *out)
{
	size_t nr;

	(void)f;
	(void)m;
	(void)t;
	for (int i = 0; i < TARE_COMING_NR; i++)
		out->first_ns[i] = -1;
	for (size_t i = 0; i < p->count; i++) {
		const struct tare_needs_device *n = &p->devices[i];

		if (n->device != d->index)
			continue;
		memcpy(out->first_ns, n->first_ns, sizeof(n->first_ns));
		nr = d->has_moment[TARE_MOMENT_END] && n->until_end ? n->until_end : n->count;
		out->needs = tare_arena_alloc(memory, nr * sizeof(*out->needs) + 1);
		if (nr)
			memcpy(out->needs, n->items, nr * sizeof(*out->needs));
		out->need_nr = (int)nr;
	}
}

const char *tare_needs_check(const struct tare_needs_part *p, const struct tare_fold *f)
{
	(void)f;
	for (size_t i = 0; i < p->count; i++)
		for (size_t k = 0; k < p->devices[i].count; k++) {
			const struct tare_need *n = &p->devices[i].items[k];

			if (n->least > n->last || n->last > n->most || n->fall < 0)
				return "a stretch of what is needed ends outside of its bounds";
		}
	return NULL;
}
