/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "pools": an asynchronous pool says itself what it has reserved of the device and how much of
 * that is in use. Its two rows are what it said last.
 */
#include "ledger/settle/settle.h"

#include "base/str.h"

#include <stdlib.h>

static uint64_t owner_of(struct tare_fold *f, const char *who, uint64_t number)
{
	TARE_FREED_BY(tare_str_free) struct tare_str label = { 0 };

	if (number)
		tare_str_addf(&label, "%s:%llu", who, (unsigned long long)number);
	else
		tare_str_add(&label, "default");
	return tare_fold_owner_named(f, tare_str_text(&label));
}

/*
 * The name of a pool: the device's own is `default`, others have the name of the library that made them, and a
 * number.
 */
uint64_t tare_fold_pool_owner(struct tare_fold *f, uint64_t maker, uint64_t number)
{
	return owner_of(f, maker ? f->owners[maker - 1] : "pool", number);
}

static int idle_bucket(struct tare_fold *f, const struct tare_object_live *o)
{
	return tare_fold_bucket(f, o->context, TARE_ACCOUNT_POOL_IDLE, f->buckets[o->bucket].owner);
}

static void op_change(struct tare_fold *f, const struct tare_object_live *o, int64_t reserved, int64_t used,
                      int64_t count)
{
	tare_fold_op_bytes(f, o->bucket, used, count, TARE_EVIDENCE_EXACT);
	tare_fold_op_bytes(f, idle_bucket(f, o), reserved - used, 0, TARE_EVIDENCE_EXACT);
}

/* Pools are a device's, and end with its primary context. */
static int context_of(struct tare_fold *f, const struct tare_step *s)
{
	const struct tare_process_on_device *p = tare_fold_process_on(f, s->process, s->device);
	const struct tare_map_slot *slot;

	for (size_t at = 0; (slot = tare_map_next(&p->contexts, &at));)
		if (slot->value && f->contexts[slot->value - 1].is_live && f->contexts[slot->value - 1].is_primary)
			return (int)slot->value - 1;
	return tare_fold_context(f, s->process, s->device, 0);
}

static int add(struct tare_fold *f, const struct tare_step *s)
{
	int context = context_of(f, s);
	uint64_t owner = s->owner ? s->owner : tare_fold_pool_owner(f, 0, s->limit);
	struct tare_object_live o = { .handle = s->handle,
		                          .process = s->process,
		                          .device = s->device,
		                          .context = context,
		                          .class = TARE_CLASS_POOL_STATE };

	o.bucket = tare_fold_bucket(f, context, TARE_ACCOUNT_POOL, owner);
	op_change(f, &o, 0, 0, 1);
	return tare_object_add(f, &o);
}

static void say(struct tare_fold *f, int object, const struct tare_step *s)
{
	struct tare_object_live *o = &f->objects[object];
	uint64_t used = s->asked < s->granted ? s->asked : s->granted;
	int64_t reserved_before = (int64_t)o->granted, used_before = (int64_t)o->asked;

	o->granted = s->granted;
	o->asked = used;
	op_change(f, o, (int64_t)s->granted - reserved_before, (int64_t)used - used_before, 0);
}

/*
 * A pool that was destroyed while some of its memory was in use gives that back later, and cannot be asked any
 * more: from then on readings tell what came back.
 */
static void destroy(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a, int object)
{
	struct tare_object_live o = f->objects[object];
	int64_t reserved = (int64_t)o.granted;

	tare_object_remove(f, object);
	op_change(f, &o, -reserved, -(int64_t)o.asked, -1);
	a->bucket = o.bucket;
	if (!(s->flags & TARE_EVENT_WEIGHED) || (int64_t)s->before - (int64_t)s->after >= reserved)
		return;
	a->bucket = tare_fold_bucket(f, o.context, TARE_ACCOUNT_POOL, 0);
	tare_fold_op_bytes(f, a->bucket, reserved, 0, TARE_EVIDENCE_EXACT);
	a->takes_rest = true;
}

void tare_fold_pool(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	int known;

	a->takes_rest = false;
	if (s->flags & TARE_EVENT_FAILED || !s->handle || s->device < 0)
		return;
	known = tare_fold_object_find(f, s->process, TARE_CLASS_POOL_STATE, s->handle);
	if (s->effect == TARE_EFFECT_DEL) {
		if (known >= 0)
			destroy(f, s, a, known);
		return;
	}
	if (known < 0)
		known = add(f, s);
	a->bucket = f->objects[known].bucket;
	/* An allocation that made the pool grow has an event of its own, which says nothing new. */
	if (!s->parent)
		say(f, known, s);
}
