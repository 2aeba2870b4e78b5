/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The known part of a step: what it does to the live set, and the changes of buckets that follow
 * from that alone. It leaves them in f->ops; the caller books them when it has placed them in time.
 */
#include "ledger/settle/settle.h"

/* Is memory of the account a context's? Else it is the device's or the process's. */
static bool has_context(enum tare_account account)
{
	return account != TARE_ACCOUNT_DRIVER && account != TARE_ACCOUNT_VMM;
}

static void find_bucket(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	enum tare_account account = tare_classes[s->class].account;
	enum tare_account elastic = tare_fold_elastic_account(f, s);

	a->context = tare_fold_context(f, s->process, s->device, has_context(account) ? s->context : 0);
	account = elastic ? elastic : account;
	/*
	 * What importing costs is one row without an owner; the other rows of that account are of processes.
	 */
	a->bucket = tare_fold_bucket_at(f, a->context, account, account == TARE_ACCOUNT_IPC ? 0 : s->owner, s->site);
}

/* Rule "granularity": pages held less what was asked for. */
static void op_paged(struct tare_fold *f, const struct tare_object_live *o, int64_t pages, int sign)
{
	int64_t granted = sign * (int64_t)o->granted;
	int rest = tare_fold_bucket(f, o->context, TARE_ACCOUNT_GRANULARITY, 0);

	tare_fold_op_bytes(f, o->bucket, granted, sign, TARE_EVIDENCE_EXACT);
	tare_fold_op_bytes(f, rest, pages - granted, 0, TARE_EVIDENCE_INFERRED);
}

/*
 * Are objects of the class counted? The end of a function is never recorded, as it goes with its module: their
 * number would only grow.
 */
static bool is_counted(enum tare_class class)
{
	return class != TARE_CLASS_FUNCTION;
}

static bool is_known(enum tare_sizing sizing)
{
	return sizing == TARE_SIZING_PAGES || sizing == TARE_SIZING_EXACT;
}

static void op_object(struct tare_fold *f, const struct tare_object_live *o, int64_t pages, int sign)
{
	int host = o->class == TARE_CLASS_REGISTERED ? TARE_BUCKET_REGISTERED : TARE_BUCKET_PINNED;

	if (o->bucket < 0)
		return;
	if (tare_classes[o->class].sizing == TARE_SIZING_PAGES)
		op_paged(f, o, pages, sign);
	else if (tare_classes[o->class].sizing == TARE_SIZING_EXACT)
		tare_fold_op_bytes(f, o->bucket, sign * (int64_t)o->granted, sign, TARE_EVIDENCE_EXACT);
	else
		tare_fold_op(&f->ops, o->bucket, &(struct tare_amount){ .count = sign });
	if (tare_classes[o->class].sizing == TARE_SIZING_HOST) {
		struct tare_amount by = tare_pinned_amount(o, sign);

		tare_fold_op(&f->ops, tare_fold_bucket_at(f, o->context, host, 0, f->buckets[o->bucket].site), &by);
	}
}

/* The row of the graph that the object is an executable graph of, or was allocated for. */
static int graph_of(const struct tare_step *s, const struct tare_applied *a)
{
	if (s->class == TARE_CLASS_GRAPH)
		return a->graph;
	if (tare_classes[s->class].sizing != TARE_SIZING_PAGES)
		return -1;
	return a->capture;
}

static void add_object(struct tare_fold *f, const struct tare_step *s, const struct tare_applied *a)
{
	struct tare_object_live o = { .handle = s->handle,
		                          .asked = s->asked,
		                          .granted = s->granted ? s->granted : s->asked,
		                          .process = s->process,
		                          .device = s->device,
		                          .context = a->context,
		                          .bucket = a->bucket,
		                          .graph = graph_of(s, a),
		                          .class = s->class };
	int old = tare_fold_object_find(f, s->process, s->class, s->handle);
	int64_t pages = 0;

	if (o.class == TARE_CLASS_HOST && tare_pinned_is_rounded(f, s->owner))
		o.asked = 0; /* a look through the program's objects may tell */
	if (old >= 0) {
		/* The driver gave the same handle again: its end was not seen. */
		struct tare_object_live before = f->objects[old];

		f->missed_frees += tare_classes[s->class].sizing == TARE_SIZING_PAGES;
		op_object(f, &before, tare_fold_object_remove(f, old), -1);
	}
	tare_fold_object_add(f, &o);
	if (tare_classes[o.class].sizing == TARE_SIZING_PAGES)
		tare_fold_share_given(f, s);
	if (tare_classes[o.class].sizing == TARE_SIZING_PAGES && o.device >= 0)
		pages = tare_fold_pages_add(f, tare_fold_process_on(f, o.process, o.device), o.handle, o.granted);
	op_object(f, &o, pages, 1);
	tare_graphs_made(&f->parts->graphs, &o);
}

/* The bytes of a device that the ops of this step sum to so far. */
static int64_t known_bytes(const struct tare_fold *f)
{
	int64_t sum = 0;

	for (size_t i = 0; i < f->ops.count; i++)
		if (tare_bucket_is_device(&f->buckets[f->ops.items[i].bucket]))
			sum += f->ops.items[i].by.bytes;
	return sum;
}

static void remove_object(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	int found = tare_fold_object_find(f, s->process, s->class, s->handle);
	struct tare_undo *g = tare_fold_undo(f, s, true);
	struct tare_object_live o;

	if (found < 0) {
		if (s->handle)
			f->unknown_frees += tare_classes[s->class].sizing == TARE_SIZING_PAGES;
		a->takes_rest = true;
		if (s->device >= 0 && tare_fold_paused_bytes(f, f->devices[s->device]) > 0)
			a->bucket = tare_fold_paused_bucket(f, f->devices[s->device]);
		return;
	}
	o = f->objects[found];
	tare_fold_undo_add(g, &o);
	op_object(f, &o, tare_fold_object_remove(f, found), -1);
	if (tare_classes[o.class].sizing == TARE_SIZING_PAGES)
		tare_fold_share_freed(f, s, o.handle, -known_bytes(f));
	tare_parts_gone(f, &o);
	if (o.bucket >= 0 && o.device == s->device)
		a->bucket = o.bucket;
	a->takes_rest = !is_known(tare_classes[o.class].sizing);
}

/* Rule "undo": the driver refused the call, so what its DEL took away comes back. */
static void undo(struct tare_fold *f, const struct tare_step *s)
{
	struct tare_undo *g = tare_fold_undo(f, s, false);

	if (!g || g->handle != s->handle)
		return;
	if (g->context >= 0) {
		struct tare_context *c = &f->contexts[g->context];
		struct tare_process_on_device *p = tare_fold_process_on(f, c->process, c->device);

		*tare_map_put(&p->contexts, c->handle, NULL) = (uint64_t)g->context + 1;
		c->is_live = true;
	}
	for (size_t i = 0; i < g->object_nr; i++) {
		struct tare_object_live *o = &g->objects[i];

		tare_fold_object_add(f, o);
		if (tare_classes[o->class].sizing == TARE_SIZING_PAGES && o->device >= 0)
			tare_fold_pages_add(f, tare_fold_process_on(f, o->process, o->device), o->handle, o->granted);
	}
	for (size_t i = 0; i < g->ops.count; i++) {
		struct tare_amount by = g->ops.items[i].by;

		by.bytes = -by.bytes;
		by.low = -by.low;
		by.high = -by.high;
		by.count = -by.count;
		tare_fold_op(&f->ops, g->ops.items[i].bucket, &by);
	}
	tare_fold_undo_clear(g);
}

/* Keeps the ops of a DEL, for an UNDO to reverse. */
static void remember_ops(struct tare_fold *f, const struct tare_step *s)
{
	struct tare_undo *g = tare_fold_undo(f, s, false);

	if (!g)
		return;
	for (size_t i = 0; i < f->ops.count; i++)
		tare_fold_op(&g->ops, f->ops.items[i].bucket, &f->ops.items[i].by);
}

/* Classes with rules of their own. */
static void (*const apply_own[TARE_CLASS_NR])(struct tare_fold *f, const struct tare_step *s,
                                              struct tare_applied *a) = {
	[TARE_CLASS_IPC] = tare_fold_ipc,
	[TARE_CLASS_POOL_STATE] = tare_fold_pool,
	[TARE_CLASS_VMM] = tare_fold_vmm,
	[TARE_CLASS_VMM_MAP] = tare_fold_vmm_map,
	[TARE_CLASS_VMM_IMPORT] = tare_fold_vmm_import,
};

static void apply_effect(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	enum tare_sizing sizing = tare_classes[s->class].sizing;
	bool is_failed = s->flags & TARE_EVENT_FAILED;

	if (s->class == TARE_CLASS_CONTEXT && s->device < 0)
		return;
	if (apply_own[s->class]) {
		apply_own[s->class](f, s, a);
		return;
	}
	a->takes_rest = sizing != TARE_SIZING_NONE;
	switch ((enum tare_effect)s->effect) {
	case TARE_EFFECT_NEW:
		if (is_failed)
			return;
		if (s->class == TARE_CLASS_CONTEXT) {
			tare_fold_context_begin(f, s, a);
		} else if (is_counted(s->class) && sizing != TARE_SIZING_NONE) {
			add_object(f, s, a);
			a->takes_rest = !is_known(sizing);
		}
		return;
	case TARE_EFFECT_DEL:
		if (is_failed) {
			tare_fold_undo(f, s, true);
			return;
		}
		if (s->class == TARE_CLASS_CONTEXT)
			tare_fold_context_end(f, s, a);
		else
			remove_object(f, s, a);
		remember_ops(f, s);
		return;
	case TARE_EFFECT_UNDO:
		undo(f, s);
		a->takes_rest = false;
		return;
	case TARE_EFFECT_CHANGE:
		if (s->class == TARE_CLASS_LAUNCH && !(s->flags & TARE_EVENT_WEIGHED))
			tare_fold_launch_unweighed(f, s, a);
		if (s->class == TARE_CLASS_LIMIT && !is_failed)
			tare_fold_limit(f, s, a);
		if (s->class == TARE_CLASS_HEAP)
			tare_fold_heap_move(f, s, a);
		return;
	}
	a->takes_rest = false; /* the call has no effect: what changed inside it is unexplained */
}

void tare_fold_apply(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	*a = (struct tare_applied){ .bucket = -1, .context = -1, .graph = -1, .capture = -1 };
	f->ops.count = 0;
	if (s->device >= 0)
		find_bucket(f, s, a);
	tare_graphs_apply(&f->parts->graphs, f, s, a);
	if (a->changes_graphs)
		tare_fold_segment_hold(f, s->process);
	apply_effect(f, s, a);
	tare_facts_note_call(f, s, a->context);
	tare_graphs_applied(&f->parts->graphs, f, s, a);
	if (a->bucket >= 0 && s->effect != TARE_EFFECT_UNDO && !tare_step_is_sync(s))
		tare_fold_op(&f->ops, a->bucket, &(struct tare_amount){ .ns = s->end - s->begin });
	tare_parts_call(f, s);
	a->known = known_bytes(f);
	if (!(s->flags & TARE_EVENT_WEIGHED) || s->device < 0)
		a->takes_rest = false;
}
