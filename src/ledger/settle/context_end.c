/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts come and go, and what belongs to one goes with it. */
#include "ledger/settle/settle.h"

static uint64_t handle_of(const struct tare_step *s)
{
	return s->handle ? s->handle : s->context;
}

void tare_fold_context_begin(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	struct tare_context *c;

	a->context = tare_fold_context(f, s->process, s->device, handle_of(s));
	a->bucket = tare_fold_bucket_at(f, a->context, TARE_ACCOUNT_CONTEXT, 0, s->site);
	c = &f->contexts[a->context];
	f->processes[s->process]->has_context = true;
	if (c->is_live) /* the context is a primary one that was retained again */
		return;
	c->is_live = true;
	c->is_primary = s->flags & TARE_EVENT_PRIMARY;
	if (!c->is_primary)
		c->number = ++tare_fold_process_on(f, s->process, s->device)->created;
	tare_fold_op(&f->ops, a->bucket, &(struct tare_amount){ .count = 1 });
}

/*
 * Rule "context end": everything that was booked in the context leaves the books with it. What was
 * measured beyond that stays with the context.
 */
void tare_fold_context_end(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	struct tare_process_on_device *p = tare_fold_process_on(f, s->process, s->device);
	struct tare_undo *g = tare_fold_undo(f, s, true);
	struct tare_context *c;

	a->context = tare_fold_context(f, s->process, s->device, handle_of(s));
	a->bucket = tare_fold_bucket_at(f, a->context, TARE_ACCOUNT_CONTEXT, 0, s->site);
	c = &f->contexts[a->context];
	if (!c->is_live && tare_fold_paused_bytes(f, f->devices[s->device]) > 0)
		a->bucket = tare_fold_paused_bucket(f, f->devices[s->device]);
	tare_tensors_leave(&f->parts->tensors, f, f->devices[s->device], s->process, a->context);
	while (c->objects >= 0) {
		tare_fold_undo_add(g, &f->objects[c->objects]);
		tare_fold_object_remove(f, c->objects);
	}
	a->ended_unexplained = tare_fold_unexplained_in(f, a->context);
	for (int i = c->buckets; i >= 0; i = f->buckets[i].next_of_context) {
		const struct tare_amount *now = &f->buckets[i].now;

		tare_fold_op(&f->ops, i,
		             &(struct tare_amount){
						 .bytes = -now->bytes, .low = -now->low, .high = -now->high, .count = -now->count });
	}
	g->context = a->context;
	c->is_live = false;
	c->local_held = -1;
	c->heap_wanted = 0;
	c->exec_nodes = c->exec_nodes_high = 0;
	tare_map_remove(&p->contexts, c->handle, NULL);
}
