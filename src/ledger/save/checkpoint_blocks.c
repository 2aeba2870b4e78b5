/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks at the moments that a checkpoint sums up: how many bytes of them each rule of category.def held for. */
#include "ledger/save/checkpoint_private.h"

#include "base/array.h"

#include <stdlib.h>

struct sums {
	struct tare_checkpoint_sum *items;
	size_t count, cap;
};

static void add(struct sums *s, const struct tare_checkpoint_sum *by)
{
	for (size_t i = s->count; i-- > 0;) {
		struct tare_checkpoint_sum *to = &s->items[i];

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
static struct tare_checkpoint_sum
of_block(const struct tare_fold *f, const struct tare_live_block *b, const struct tare_work *w)
{
	const struct tare_bucket *at = b->bucket < 0 ? NULL : &f->buckets[b->bucket];

	return (struct tare_checkpoint_sum){ .process = b->process,
					     .rule = tare_fold_rule_of(f, b, w),
					     .owner = at ? at->owner : 0,
					     .is_vmm = at && !f->contexts[at->context].handle,
					     .bytes = at ? b->booked : b->bytes,
					     .count = 1 };
}

static void save_sums(struct checkpoint *c, struct sums *s, const struct tare_device *device,
		      enum tare_moment m)
{
	struct tare_fold *f = c->f;
	const struct tare_checkpoint_sum *sum;

	for (size_t at = 0;
	     (sum = tare_fold_checkpoint_sum_next(&f->parts->tensors, f,
						  device ? device->index : -1, m, &at));)
		add(s, sum);
	for (size_t i = 0; i < s->count; i++) {
		const struct tare_checkpoint_sum *from = &s->items[i];
		const struct tare_process *process = f->processes[from->process]->process;
		struct tare_rec_block_sum *r =
			&tare_checkpoint_add(c, TARE_KIND_BLOCK_SUM, process, device, c->point)
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

static void save_device(struct checkpoint *c, const struct tare_device_fold *d, enum tare_moment m)
{
	struct tare_block_list list;
	struct sums s = { 0 };

	tare_fold_blocks_at(c->f, d, m, &list);
	for (size_t i = 0; i < list.count; i++) {
		const struct tare_process_fold *p = c->f->processes[list.items[i]->process];
		struct tare_checkpoint_sum one =
			of_block(c->f, list.items[i], &p->on_device[d->index]->blocks.work);

		add(&s, &one);
	}
	free(list.items);
	save_sums(c, &s, d->device, m);
}

/* Saves the blocks of the CPU, without those that are mapped. */
static void save_host(struct checkpoint *c, enum tare_moment m)
{
	struct sums s = { 0 };

	for (int i = 0; i < c->f->process_nr; i++) {
		struct tare_block_list list;

		if (!c->f->processes[i])
			continue;
		tare_fold_host_blocks_at(c->f, i, m, &list);
		for (size_t k = 0; k < list.count; k++) {
			struct tare_checkpoint_sum one =
				of_block(c->f, list.items[k],
					 &c->f->processes[i]->host_blocks.work);

			if (!(list.items[k]->flags & TARE_TENSOR_MAPPED))
				add(&s, &one);
		}
		free(list.items);
	}
	save_sums(c, &s, NULL, m);
}

/* At an end that is at the point of the checkpoint, the live blocks tell themselves. */
static bool is_before_point(const struct checkpoint *c, enum tare_moment m, int64_t t)
{
	return m != TARE_MOMENT_END || t < c->point;
}

void tare_checkpoint_blocks(struct checkpoint *c)
{
	const struct tare_fold *f = c->f;

	for (int i = 0; i < TARE_MOMENT_NR; i++) {
		enum tare_moment m = (enum tare_moment)i;

		for (int k = 0; k < f->device_nr; k++)
			if (f->devices[k] && f->devices[k]->has_moment[m] &&
			    is_before_point(c, m, f->devices[k]->moment_ns[m]))
				save_device(c, f->devices[k], m);
		if (is_before_point(c, m, f->host.moment_ns[m]))
			save_host(c, m);
	}
}
