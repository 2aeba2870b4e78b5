/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For which module a line that grows keeps its tensors: the innermost one that has, with what is in it, more than half of
 * what the line had at most.
 */
#include "ledger/tensors/tensors.h"

#include <string.h>

struct search {
	const struct tare_fold *f;
	const struct tare_growth *growth;
	struct tare_arena *memory;
	struct tare_arena names;
	struct tare_map is_line; /* site → 1: the line's, 2: another's */
	struct tare_map rows;    /* of modules, see module.c */
	struct tare_map bytes;   /* row → what the line has in it */
	uint64_t sum;
};

static bool is_of_line(struct search *s, uint32_t site)
{
	uint64_t *known = tare_map_put(&s->is_line, site, NULL);
	const char *line;

	if (!*known) {
		line = tare_fold_site_name(s->f, site, true, &s->names);
		*known = line && !strcmp(line, s->growth->line) ? 1 : 2;
	}
	return *known == 1;
}

static void add_block(struct search *s, const struct tare_live_block *b)
{
	const struct tare_module_row *row;

	if (b->process != s->growth->process || b->flags & TARE_TENSOR_MAPPED ||
	    !is_of_line(s, b->site))
		return;
	s->sum += (uint64_t)b->bytes;
	row = tare_module_row_of(&s->rows, s->f, s->memory, b->process, b->use.module);
	for (; row; row = row->parent)
		*tare_map_put(&s->bytes, (uint64_t)(uintptr_t)row, NULL) += (uint64_t)b->bytes;
}

static void add_blocks(struct search *s, const struct tare_blocks *blocks,
		       const struct tare_kept_blocks *kept, enum tare_moment m)
{
	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->items[i].process >= 0 &&
		    tare_block_was_live(&blocks->items[i], kept, m))
			add_block(s, &blocks->items[i]);
	for (size_t i = 0; i < kept->count; i++)
		if (tare_block_is_kept(&kept->items[i], kept, m))
			add_block(s, &kept->items[i].block);
}

/* As they were when most was in tensors; what grows for as long as the recording goes on is then nearly all there. */
static void add_most(struct search *s)
{
	const struct tare_process_fold *p = s->f->processes[s->growth->process];
	int device = s->growth->fold_device;
	const struct tare_device_fold *d;
	enum tare_moment m;

	if (device < 0) {
		m = s->f->host.has_moment[TARE_MOMENT_HOST] ? TARE_MOMENT_HOST : TARE_MOMENT_NOW;
		add_blocks(s, &p->host_blocks, &s->f->host.kept, m);
		return;
	}
	d = s->f->devices[device];
	m = d->has_moment[TARE_MOMENT_TENSORS] ? TARE_MOMENT_TENSORS : TARE_MOMENT_NOW;
	if (device < p->on_device_nr && p->on_device[device])
		add_blocks(s, &p->on_device[device]->blocks, &d->kept_blocks, m);
}

static int depth_of(const struct tare_module_row *row)
{
	int depth = 0;

	for (; row->parent; row = row->parent)
		depth++;
	return depth;
}

/* Those with more than half are in one another. */
static const struct tare_module_row *innermost(const struct search *s)
{
	const struct tare_module_row *found = NULL;
	const struct tare_map_slot *slot;

	for (size_t at = 0; (slot = tare_map_next(&s->bytes, &at));) {
		const struct tare_module_row *row = (const void *)(uintptr_t)slot->key;

		if (2 * slot->value > s->sum && (!found || depth_of(row) > depth_of(found)))
			found = row;
	}
	return found;
}

void tare_module_of_growth(const struct tare_fold *f, struct tare_growth *growth,
			   struct tare_arena *memory)
{
	struct search s = { .f = f, .growth = growth, .memory = memory };
	const struct tare_module_row *row;

	if (!growth->is_of_blocks || !growth->line || !f->processes[growth->process])
		return;
	add_most(&s);
	row = innermost(&s);
	growth->module = row ? row->path : NULL;
	tare_map_free(&s.rows);
	tare_map_free(&s.bytes);
	tare_map_free(&s.is_line);
	tare_arena_free(&s.names);
}
