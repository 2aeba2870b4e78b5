/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of the blocks of a moment, where the fold that shows the moment ends soon behind it. The later fold (tare_fold.later) has
 * those that live long. The others have an end in this one, and their category follows from that and from what the
 * later fold knows of their thread and their line.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"

static bool has_place(const struct tare_fold *f, int process, int device)
{
	const struct tare_process_fold *p = process < f->process_nr ? f->processes[process] : NULL;

	return p && (device < 0 || (device < p->on_device_nr && p->on_device[device]));
}

static struct tare_live_block *find_later(const struct tare_fold *later, const struct tare_watched *w)
{
	const struct tare_live_block *then = &w->known.block;
	const struct tare_process_fold *p;
	struct tare_live_block *b;

	if (!has_place(later, then->process, w->device))
		return NULL;
	p = later->processes[then->process];
	b = tare_blocks_find(w->device < 0 ? &p->host_blocks : &p->on_device[w->device]->blocks, then->address);
	return b && b->serial == then->serial ? b : NULL;
}

void tare_tensors_await(struct tare_tensors_part *tensors, struct tare_fold *f)
{
	struct tare_watches *w = &tensors->watched;

	for (size_t i = 0; i < w->count; i++) {
		uint64_t serial = w->items[i].known.block.serial;
		struct tare_live_block *b;

		if (tare_map_get(&w->gone_at, serial))
			continue;
		b = find_later(f->later, &w->items[i]);
		if (b)
			b->marks |= TARE_BLOCK_WATCHED;
		else
			tare_map_put(&w->open, serial, NULL);
	}
}

bool tare_tensors_later(const struct tare_tensors_part *tensors, const struct tare_fold *f,
                        const struct tare_watched *w, struct tare_known_block *out)
{
	const struct tare_watches *later = &tensors->later->watched;
	const uint64_t *gone = tare_map_get(&later->gone_at, w->known.block.serial);
	const struct tare_live_block *b = gone ? NULL : find_later(f->later, w);

	if (gone)
		*out = later->gone[*gone - 1];
	else if (b)
		*out = tare_known(tare_tensors_work(f->later, b->process, w->device), b);
	return gone || b;
}

static bool is_same_site(const struct tare_site *a, const struct tare_site *b)
{
	return a->process == b->process && a->python == b->python && a->stack == b->stack &&
	       a->is_backward == b->is_backward;
}

/* The number that the later fold gave a line; 0: it knows none such. Mostly it is the same. */
static uint32_t site_later(const struct tare_fold *f, uint32_t site)
{
	const struct tare_fold *later = f->later;

	if (site < later->site_nr && is_same_site(&f->sites[site], &later->sites[site]))
		return site;
	for (uint32_t i = 1; i < later->site_nr; i++)
		if (is_same_site(&f->sites[site], &later->sites[i]))
			return i;
	return 0;
}

enum tare_rule tare_tensors_rule_later(const struct tare_fold *f, const struct tare_known_block *b, int device)
{
	int process = b->block.process;
	const struct tare_work *own = tare_tensors_work(f, process, device);
	const struct tare_work *work =
		has_place(f->later, process, device) ? tare_tensors_work(f->later, process, device) : own;
	const uint64_t *place = tare_map_get(&work->of_tid, own->workers[b->facts.worker - 1].tid);
	struct tare_known_block as_later = *b;

	if (!place || work == own)
		return tare_fold_rule_of(f, b, own);
	as_later.facts.worker = (uint32_t)*place + 1;
	as_later.block.site = b->block.site ? site_later(f, b->block.site) : 0;
	return tare_fold_rule_of(f->later, &as_later, work);
}

/* ---- beside each state: blocks that the state before had, and that went since ---- */

void tare_ended_begin(struct tare_tensors_part *tensors, uint64_t serial)
{
	tensors->ended.known = serial;
}

void tare_ended_note(struct tare_ended_blocks *ended, const struct tare_work *w, const struct tare_live_block *b)
{
	if (b->serial > ended->known)
		return;
	TARE_APPEND(ended->items, ended->count, ended->cap) = tare_known(w, b);
}
