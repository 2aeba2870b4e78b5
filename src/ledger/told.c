/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that were there at an instant (marks.def) inside a span that was folded: a checkpoint tells how many bytes of them each
 * rule of category.def held for, as far as that was known then. They count until that instant is another one.
 */
#include "ledger/fold.h"

#include "base/array.h"
#include "ledger/checkpoint_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- in ---- */

static int rule_named(const char *name)
{
	for (int i = 0; name && i < TARE_RULE_NR; i++)
		if (!strcmp(tare_rules[i].name, name))
			return i;
	return -1;
}

static bool *validity(const struct tare_fold *f, int device, enum tare_mark m)
{
	return device < 0 ? (bool *)&f->host.is_told[m] : &f->devices[device]->is_told[m];
}

void tare_fold_told(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_block_sum *r = e->rec.block_sum;
	const struct tare_process *process = e->about ? e->about : e->process;
	int device = e->device ? e->device->index : -1, rule = rule_named(e->api);

	if (!tare_fold_is_folded(e) || rule < 0 || r->mark >= TARE_MARK_NR)
		return; /* of a newer version, or damage */
	tare_fold_process(f, process);
	f->told = tare_array_reserve(f->told, &f->told_cap, f->told_nr + 1, sizeof(*f->told));
	f->told[f->told_nr++] =
		(struct tare_told){ .process = process->index,
				    .device = device,
				    .mark = (enum tare_mark)r->mark,
				    .rule = (enum tare_rule)rule,
				    .owner = e->name ? tare_fold_owner_named(f, e->name) : 0,
				    .is_vmm = r->is_vmm,
				    .bytes = r->bytes,
				    .count = r->count };
	*validity(f, device, (enum tare_mark)r->mark) = true;
	if (f->told_ns < e->process->fold_ns)
		f->told_ns = e->process->fold_ns;
}

/* ---- what there is ---- */

const struct tare_told *tare_fold_told_next(const struct tare_fold *f, int device, enum tare_mark m,
					    size_t *at)
{
	if (m == TARE_MARK_NOW || !*validity(f, device, m))
		return NULL;
	while (*at < f->told_nr) {
		const struct tare_told *told = &f->told[(*at)++];

		if (told->device == device && told->mark == m)
			return told;
	}
	return NULL;
}

/* ---- out ---- */

struct sums {
	struct tare_told *items;
	size_t count, cap;
};

static void add(struct sums *s, const struct tare_told *by)
{
	for (size_t i = s->count; i-- > 0;) {
		struct tare_told *to = &s->items[i];

		if (to->process != by->process || to->rule != by->rule || to->owner != by->owner ||
		    to->is_vmm != by->is_vmm)
			continue;
		to->bytes += by->bytes;
		to->count += by->count;
		return;
	}
	s->items = tare_array_reserve(s->items, &s->cap, s->count + 1, sizeof(*s->items));
	s->items[s->count++] = *by;
}

/* A block of a trial is of no pool: its bytes are in another row. */
static struct tare_told of_block(const struct tare_fold *f, const struct tare_live_block *b,
				 const struct tare_work *w)
{
	const struct tare_bucket *at = b->bucket < 0 ? NULL : &f->buckets[b->bucket];

	return (struct tare_told){ .process = b->process,
				   .rule = tare_fold_rule_of(f, b, w),
				   .owner = at ? at->owner : 0,
				   .is_vmm = at && !f->contexts[at->context].handle,
				   .bytes = at ? b->booked : b->bytes,
				   .count = 1 };
}

static void tell(struct checkpoint *c, struct sums *s, const struct tare_device *device,
		 enum tare_mark m)
{
	struct tare_fold *f = c->f;
	const struct tare_told *told;

	for (size_t at = 0; (told = tare_fold_told_next(f, device ? device->index : -1, m, &at));)
		add(s, told);
	for (size_t i = 0; i < s->count; i++) {
		const struct tare_told *from = &s->items[i];
		const struct tare_process *process = f->processes[from->process]->process;
		struct tare_rec_block_sum *r =
			&tare_checkpoint_add(c, TARE_KIND_BLOCK_SUM, process, device, c->cut)
				 ->block_sum;

		tare_checkpoint_last(c)->about = process;
		tare_checkpoint_last(c)->api = tare_rules[from->rule].name;
		tare_checkpoint_last(c)->name = from->owner ? f->owners[from->owner - 1] : NULL;
		r->pid = process->pid;
		r->generation = process->generation;
		r->device = device ? (int16_t)device->index : -1;
		r->mark = (uint8_t)m;
		r->is_vmm = from->is_vmm;
		r->bytes = from->bytes;
		r->count = from->count;
	}
	free(s->items);
}

static void tell_device(struct checkpoint *c, const struct tare_device_fold *d, enum tare_mark m)
{
	struct tare_block_list list;
	struct sums s = { 0 };

	tare_fold_blocks_at(c->f, d, m, &list);
	for (size_t i = 0; i < list.count; i++) {
		const struct tare_process_fold *p = c->f->processes[list.items[i]->process];
		struct tare_told one =
			of_block(c->f, list.items[i], &p->places[d->index]->blocks.work);

		add(&s, &one);
	}
	free(list.items);
	tell(c, &s, d->device, m);
}

/* What is mapped is no part of what is told apart. */
static void tell_host(struct checkpoint *c, enum tare_mark m)
{
	struct sums s = { 0 };

	for (int i = 0; i < c->f->process_nr; i++) {
		struct tare_block_list list;

		if (!c->f->processes[i])
			continue;
		tare_fold_host_blocks_at(c->f, i, m, &list);
		for (size_t k = 0; k < list.count; k++) {
			struct tare_told one = of_block(c->f, list.items[k],
							&c->f->processes[i]->host_blocks.work);

			if (!(list.items[k]->flags & TARE_TENSOR_MAPPED))
				add(&s, &one);
		}
		free(list.items);
	}
	tell(c, &s, NULL, m);
}

/* At an end that is where the cut is, the live blocks tell themselves. */
static bool is_before_cut(const struct checkpoint *c, enum tare_mark m, int64_t t)
{
	return m != TARE_MARK_END || t < c->cut;
}

void tare_checkpoint_blocks(struct checkpoint *c)
{
	const struct tare_fold *f = c->f;

	for (int i = 0; i < TARE_MARK_NR; i++) {
		enum tare_mark m = (enum tare_mark)i;

		for (int k = 0; k < f->device_nr; k++)
			if (f->devices[k] && f->devices[k]->is_marked[m] &&
			    is_before_cut(c, m, f->devices[k]->mark_ns[m]))
				tell_device(c, f->devices[k], m);
		if (is_before_cut(c, m, f->host.mark_ns[m]))
			tell_host(c, m);
	}
}
