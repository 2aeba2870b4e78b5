/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For which module a line that grows keeps its tensors: the innermost one that has, with what is in it, more than half of
 * what the line had at most.
 */
#include "ledger/tensors/tensors.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* A line that grows, and what of it each module has. */
struct line {
	const char *text;
	const char *module;    /* the answer; NULL: none */
	struct tare_map bytes; /* row of a module → what the line has in it */
	uint64_t sum;
};

/* All lines of one process in one memory: its blocks are looked at once. */
struct search {
	const struct tare_fold *f;
	int process, device;
	struct tare_arena *memory;
	struct tare_arena names;
	struct line *lines;
	size_t line_nr;
	struct tare_map line_of; /* site → 1 + place of its line, 1 + line_nr: it is of none */
	struct tare_map rows;    /* of modules, see module.c */
};

static uint64_t place_of(struct search *s, const char *text)
{
	size_t i = 0;

	while (i < s->line_nr && (!text || strcmp(text, s->lines[i].text) != 0))
		i++;
	return i;
}

/* NULL: the site is of no such line. */
static struct line *line_of(struct search *s, uint32_t site)
{
	uint64_t *known = tare_map_put(&s->line_of, site, NULL);

	if (!*known)
		*known = 1 + place_of(s, tare_fold_site_name(s->f, site, true, &s->names));
	return *known <= s->line_nr ? &s->lines[*known - 1] : NULL;
}

static void add_block(struct search *s, const struct tare_work *work, const struct tare_live_block *b)
{
	const struct tare_module_row *row;
	struct line *line;

	if (b->flags & TARE_TENSOR_MAPPED)
		return;
	line = line_of(s, b->site);
	if (!line)
		return;
	line->sum += (uint64_t)b->bytes;
	row = tare_module_row_of(&s->rows, s->f, s->memory, b->process, tare_block_facts_of(work, b)->module);
	for (; row; row = row->parent)
		*tare_map_put(&line->bytes, (uint64_t)(uintptr_t)row, NULL) += (uint64_t)b->bytes;
}

static void add_blocks(struct search *s, const struct tare_blocks *blocks, const struct tare_kept_blocks *kept,
                       enum tare_moment m)
{
	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->items[i].process >= 0 && tare_block_was_live(&blocks->items[i], kept, m))
			add_block(s, &blocks->work, &blocks->items[i]);
	for (size_t i = 0; i < kept->count; i++)
		if (kept->items[i].block.process == s->process && tare_block_is_kept(&kept->items[i], kept, m))
			add_block(s, &blocks->work, &kept->items[i].block);
}

/* As they were when most was in tensors; what grows for as long as the recording goes on is then nearly all there. */
static void add_most(struct search *s)
{
	const struct tare_process_fold *p = s->f->processes[s->process];
	int device = s->device;
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
static const struct tare_module_row *innermost(const struct line *l)
{
	const struct tare_module_row *found = NULL;
	const struct tare_map_slot *slot;

	for (size_t at = 0; (slot = tare_map_next(&l->bytes, &at));) {
		const struct tare_module_row *row = (const void *)(uintptr_t)slot->key;

		if (2 * slot->value > l->sum && (!found || depth_of(row) > depth_of(found)))
			found = row;
	}
	return found;
}

static void find(struct search *s)
{
	add_most(s);
	for (size_t i = 0; i < s->line_nr; i++) {
		const struct tare_module_row *row = innermost(&s->lines[i]);

		s->lines[i].module = row ? row->path : NULL;
		tare_map_free(&s->lines[i].bytes);
	}
	tare_map_free(&s->rows);
	tare_map_free(&s->line_of);
	tare_arena_free(&s->names);
}

static bool is_of(const struct search *s, const struct tare_growth *g)
{
	return g->is_of_blocks && g->line && g->process == s->process && g->fold_device == s->device;
}

/* Lines of the process and memory of the first of these. */
static void find_with(const struct tare_fold *f, struct tare_growth *growths, int nr, struct tare_arena *memory)
{
	struct search s = { .f = f,
		                .process = growths->process,
		                .device = growths->fold_device,
		                .memory = memory,
		                .lines = tare_xcalloc((size_t)nr, sizeof(*s.lines)) };

	for (int i = 0; i < nr; i++)
		if (is_of(&s, &growths[i]) && place_of(&s, growths[i].line) == s.line_nr)
			s.lines[s.line_nr++].text = growths[i].line;
	find(&s);
	for (int i = 0; i < nr; i++)
		if (is_of(&s, &growths[i]))
			growths[i].module = s.lines[place_of(&s, growths[i].line)].module;
	free(s.lines);
}

static bool is_before(const struct tare_growth *growths, int nr, const struct tare_growth *g)
{
	for (int i = 0; i < nr; i++)
		if (growths[i].is_of_blocks && growths[i].line && growths[i].process == g->process &&
		    growths[i].fold_device == g->fold_device)
			return true;
	return false;
}

void tare_modules_of_growth(const struct tare_fold *f, struct tare_growth *growths, int nr, struct tare_arena *memory)
{
	for (int i = 0; i < nr; i++)
		if (growths[i].is_of_blocks && growths[i].line && f->processes[growths[i].process] &&
		    !is_before(growths, i, &growths[i]))
			find_with(f, &growths[i], nr - i, memory);
}
