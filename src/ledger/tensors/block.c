/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live blocks of PyTorch's allocators, and those that were live at a mark. A block that goes is kept for
 * every mark at which it was there, so no mark keeps more than was live then.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64 };

struct tare_live_block *tare_blocks_find(const struct tare_blocks *b, uint64_t address)
{
	uint64_t *known = tare_map_get(&b->places, address);

	return known ? &b->items[*known] : NULL;
}

void tare_blocks_prefetch_block(const struct tare_blocks *b, uint64_t address)
{
	const char *block = (const char *)tare_blocks_find(b, address);

	for (size_t i = 0; block && i < sizeof(struct tare_live_block); i += CACHE_LINE)
		__builtin_prefetch(block + i, 1);
}

static size_t take_slot(struct tare_blocks *b)
{
	size_t i = b->free;

	if (i) {
		b->free = (size_t)b->items[i - 1].bytes;
		return i - 1;
	}
	b->items = tare_array_reserve(b->items, &b->cap, b->count + 1, sizeof(*b->items));
	return b->count++;
}

struct tare_live_block *tare_blocks_add(struct tare_blocks *b, const struct tare_block *said,
					const uint32_t mark_nr[TARE_MARK_NR])
{
	struct tare_live_block *block;
	bool is_new;
	uint64_t *place = tare_map_put(&b->places, said->address, &is_new);

	if (!is_new)
		return NULL;
	*place = take_slot(b);
	block = &b->items[*place];
	*block = (struct tare_live_block){ .address = said->address,
					   .bytes = said->bytes,
					   .born_ns = said->born_ns,
					   .process = said->process,
					   .site = said->site,
					   .tid = said->tid,
					   .flags = said->flags,
					   .bucket = -1 };
	memcpy(block->mark, mark_nr, sizeof(block->mark));
	return block;
}

static void keep(struct tare_kept_blocks *k, uint32_t mark, const struct tare_live_block *block)
{
	if (k->mark != mark)
		k->count = 0;
	k->mark = mark;
	k->items = tare_array_reserve(k->items, &k->cap, k->count + 1, sizeof(*k->items));
	k->items[k->count++] = *block;
}

struct tare_live_block *tare_blocks_remove(struct tare_blocks *b, uint64_t address,
					   struct tare_taking by,
					   const uint32_t mark_nr[TARE_MARK_NR],
					   struct tare_kept_blocks kept[TARE_MARK_NR])
{
	struct tare_live_block *block;
	uint64_t i;

	if (!tare_map_remove(&b->places, address, &i))
		return NULL;
	block = &b->items[i];
	tare_work_end(&b->work, block, by);
	if (!memcmp(block->mark, mark_nr, sizeof(block->mark)))
		return block;
	for (int m = 0; m < TARE_MARK_NR; m++)
		if (block->mark[m] != mark_nr[m])
			keep(&kept[m], mark_nr[m], block);
	return block;
}

void tare_blocks_release(struct tare_blocks *b, struct tare_live_block *block)
{
	block->process = -1;
	block->bytes = (int64_t)b->free;
	b->free = (size_t)(block - b->items) + 1;
}

void tare_blocks_free(struct tare_blocks *b)
{
	tare_map_free(&b->places);
	tare_work_free(&b->work);
	free(b->items);
}

static void show(struct tare_block_list *list, const struct tare_live_block *block)
{
	list->items =
		tare_array_reserve(list->items, &list->cap, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = block;
}

static void show_live(struct tare_block_list *list, const struct tare_blocks *b, enum tare_mark m,
		      uint32_t mark)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->items[i].process >= 0 && (m == TARE_MARK_NOW || b->items[i].mark[m] != mark))
			show(list, &b->items[i]);
}

void tare_fold_blocks_at(const struct tare_fold *f, const struct tare_device_fold *d,
			 enum tare_mark m, struct tare_block_list *out)
{
	uint32_t mark = m == TARE_MARK_NOW ? 0 : d->mark_nr[m];

	*out = (struct tare_block_list){ 0 };
	for (int i = 0; i < f->process_nr; i++)
		if (f->processes[i] && d->index < f->processes[i]->place_nr &&
		    f->processes[i]->places[d->index])
			show_live(out, &f->processes[i]->places[d->index]->blocks, m, mark);
	for (size_t i = 0;
	     m != TARE_MARK_NOW && d->kept_blocks[m].mark == mark && i < d->kept_blocks[m].count;
	     i++)
		show(out, &d->kept_blocks[m].items[i]);
}

void tare_fold_host_blocks_at(const struct tare_fold *f, int process, enum tare_mark m,
			      struct tare_block_list *out)
{
	uint32_t mark = m == TARE_MARK_NOW ? 0 : f->host_mark_nr[m];
	const struct tare_kept_blocks *kept = m == TARE_MARK_NOW ? NULL : &f->host.kept[m];

	*out = (struct tare_block_list){ 0 };
	show_live(out, &f->processes[process]->host_blocks, m, mark);
	for (size_t i = 0; kept && kept->mark == mark && i < kept->count; i++)
		if (kept->items[i].process == process)
			show(out, &kept->items[i]);
}
