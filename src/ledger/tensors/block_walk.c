/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks that were live at a moment, one by one: those that still are, process by process, and those that went since. */
#include "ledger/tensors/tensors.h"

static const struct tare_kept_blocks *kept_of(const struct tare_block_walk *w)
{
	return w->device < 0 ? &w->f->host.kept : &w->f->devices[w->device]->kept_blocks;
}

static const struct tare_blocks *blocks_of(const struct tare_block_walk *w, int process)
{
	const struct tare_process_fold *p = w->f->processes[process];

	if (!p || w->device < 0)
		return p ? &p->host_blocks : NULL;
	return w->device < p->on_device_nr && p->on_device[w->device] ? &p->on_device[w->device]->blocks : NULL;
}

struct tare_block_walk tare_block_walk_of(const struct tare_fold *f, int device, int process, enum tare_moment m)
{
	return (struct tare_block_walk){
		.f = f, .device = device, .process = process, .m = m, .at_process = process < 0 ? 0 : process
	};
}

static const struct tare_live_block *next_live(struct tare_block_walk *w)
{
	int end = w->process < 0 ? w->f->process_nr : w->process + 1;
	const struct tare_kept_blocks *kept = kept_of(w);

	for (; w->at_process < end; w->at_process++, w->at = 0) {
		const struct tare_blocks *b = blocks_of(w, w->at_process);

		while (b && w->at < b->count) {
			const struct tare_live_block *block = &b->items[w->at++];

			if (block->process >= 0 && tare_block_was_live(block, kept, w->m))
				return block;
		}
	}
	return NULL;
}

static const struct tare_live_block *next_kept(struct tare_block_walk *w)
{
	const struct tare_kept_blocks *kept = kept_of(w);

	while (w->at < kept->count) {
		const struct tare_kept_block *k = &kept->items[w->at++];

		if (tare_block_is_kept(k, kept, w->m) && (w->process < 0 || k->block.process == w->process))
			return &k->block;
	}
	return NULL;
}

const struct tare_live_block *tare_block_walk_next(struct tare_block_walk *w)
{
	const struct tare_live_block *b = next_live(w);

	return b ? b : next_kept(w);
}

struct tare_known_block tare_block_walk_known(const struct tare_block_walk *w, const struct tare_live_block *b)
{
	return tare_known(&blocks_of(w, b->process)->work, b);
}
