/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live tensors over time by category. What a block is for is known when it is gone, so this is a second
 * pass: the moments that the first one kept are given, and each block is added to those that it was there at.
 */
#include "ledger/tensors/tensors.h"

#include "base/xalloc.h"

#include <stdlib.h>

/* The first point that is not before t. */
static size_t point_at(const struct tare_memory_history_panel *p, int64_t t)
{
	size_t low = 0, high = p->point_nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->points[mid].t_ns < t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static enum tare_category category_of(const struct tare_fold *f, const struct tare_live_block *b,
				      int device)
{
	const struct tare_work *work = tare_tensors_work(f, b->process, device);
	struct tare_known_block known = tare_known(work, b);

	return tare_rules[tare_fold_rule_of(f, &known, work)].category;
}

static void add(const struct tare_fold *f, struct tare_kinds *k, const struct tare_live_block *b,
		int device, size_t until)
{
	size_t from = point_at(k->panel, b->born_ns), stride = k->panel->point_nr + 1;
	int64_t *change = k->change + (size_t)category_of(f, b, device) * stride;

	if (from >= until)
		return;
	change[from] += b->bytes;
	change[until] -= b->bytes;
}

static struct tare_kinds *kinds_of(struct tare_fold *f, int device)
{
	return device < 0 ? &f->host.kinds : &f->devices[device]->kinds;
}

void tare_tensor_kind_gone(struct tare_fold *f, const struct tare_live_block *b, int device)
{
	struct tare_kinds *k = kinds_of(f, device);
	const struct tare_samples *s = device < 0 ? &f->host.samples : &f->devices[device]->samples;

	if (k->panel && !(b->flags & TARE_TENSOR_MAPPED))
		add(f, k, b, device, point_at(k->panel, s->until));
}

static void begin(struct tare_kinds *k, const struct tare_memory_history *c, int device)
{
	for (int i = 0; i < c->panel_nr; i++)
		if (c->panels[i].device == device)
			k->panel = &c->panels[i];
	if (k->panel)
		k->change = tare_xcalloc((k->panel->point_nr + 1) * TARE_CATEGORY_NR,
					 sizeof(*k->change));
}

void tare_tensor_kinds_begin(struct tare_fold *f)
{
	const struct tare_memory_history *first = f->history_by_category;

	if (!first)
		return;
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			begin(&f->devices[i]->kinds, first,
			      tare_fold_device_place(f, f->devices[i]));
	begin(&f->host.kinds, first, -1);
}

static void add_live(struct tare_fold *f, struct tare_kinds *k, const struct tare_blocks *blocks,
		     int device)
{
	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->items[i].process >= 0 && !(blocks->items[i].flags & TARE_TENSOR_MAPPED))
			add(f, k, &blocks->items[i], device, k->panel->point_nr);
}

static void add_peak(struct tare_fold *f, struct tare_kinds *k, int device, int process,
		     enum tare_moment m)
{
	struct tare_block_walk walk = tare_block_walk_of(f, device, process, m);
	const struct tare_live_block *b;

	while ((b = tare_block_walk_next(&walk)))
		if (!(b->flags & TARE_TENSOR_MAPPED))
			k->peak[category_of(f, b, device)] += b->bytes;
}

static void finish(struct tare_fold *f, int device)
{
	struct tare_kinds *k = kinds_of(f, device);
	size_t stride = k->panel ? k->panel->point_nr + 1 : 0;

	if (!k->panel)
		return;
	for (int i = 0; i < f->process_nr; i++) {
		struct tare_process_fold *p = f->processes[i];

		if (p && device < 0) {
			add_live(f, k, &p->host_blocks, device);
			add_peak(f, k, device, i, TARE_MOMENT_HOST);
		} else if (p && device < p->on_device_nr && p->on_device[device]) {
			add_live(f, k, &p->on_device[device]->blocks, device);
		}
	}
	if (device >= 0)
		add_peak(f, k, device, -1, TARE_MOMENT_PEAK);
	for (size_t c = 0; c < TARE_CATEGORY_NR; c++)
		for (size_t i = 1; i < stride; i++)
			k->change[c * stride + i] += k->change[c * stride + i - 1];
}

void tare_tensor_kinds_finish(struct tare_fold *f)
{
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			finish(f, i);
	finish(f, -1);
}
