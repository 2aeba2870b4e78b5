/* SPDX-License-Identifier: Apache-2.0 */
/* Live blocks as rows of a ledger. */
#include "ledger/tensors/tensors.h"

#include "base/array.h"
#include "base/comparator.h"
#include "ledger/line.h"

#include <stdlib.h>
#include <string.h>

const struct tare_work *tare_tensors_work(const struct tare_fold *f, int process, int device)
{
	const struct tare_process_fold *p = f->processes[process];

	return device < 0 ? &p->host_blocks.work : &p->on_device[device]->blocks.work;
}

/* By what a row is sorted: its texts are compared once for all rows, not once for every two of them. */
struct key {
	int64_t bytes, born_ns;
	uint32_t name, line; /* id of the text, site; then its place among all of them in order */
	uint32_t at;         /* of the row */
};

/* What is there by rule "retained", of a site. */
struct retained {
	uint32_t site;
	int64_t bytes;
	uint64_t count;
};

struct rows {
	const struct tare_fold *f;
	struct tare_arena *memory;
	struct tare_map lines, short_lines; /* site → text */
	struct tare_map names;              /* id → text */
	struct tare_map modules;            /* → row, see module.c */
	struct tare_map shapes;             /* id → text */
	struct tare_tensor_row *items;
	struct key *keys; /* of each */
	size_t count, cap, key_cap;
	struct tare_map retained; /* site → its place in … */
	struct retained *retained_of;
	size_t retained_nr, retained_cap;
	struct tare_pool_list pools; /* of a device, by pool … */
	/* … or of the CPU, without what is mapped */
	struct tare_category_sum host[TARE_CATEGORY_NR];
};

static const char *text_of(struct rows *r, uint32_t site, bool is_full)
{
	const struct tare_site *s = &r->f->sites[site];
	const struct tare_line *line = s->python ? tare_line_of_user(s->python) : NULL;
	uint64_t *known = tare_map_put(is_full ? &r->lines : &r->short_lines, site, NULL);
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (*known)
		return (const char *)(uintptr_t)*known;
	if (line)
		tare_line_add(&text, line, is_full);
	else if (s->pc)
		tare_line_add_native(&text, s->process, s->stack, s->pc, is_full);
	*known = (uint64_t)(uintptr_t)tare_arena_strdup(r->memory, tare_str_text(&text));
	return (const char *)(uintptr_t)*known;
}

static const char *name_of(struct rows *r, uint32_t id)
{
	const char *name = tare_fold_text_of(r->f, id);
	uint64_t *known;

	if (!name)
		return NULL;
	known = tare_map_put(&r->names, id, NULL);
	if (!*known)
		*known = (uint64_t)(uintptr_t)tare_arena_strdup(r->memory, name);
	return (const char *)(uintptr_t)*known;
}

/* Not among the names, which rows are sorted by. */
static const char *shape_of(struct rows *r, uint32_t id)
{
	const char *shape = tare_fold_text_of(r->f, id);
	uint64_t *known = shape ? tare_map_put(&r->shapes, id, NULL) : NULL;

	if (known && !*known)
		*known = (uint64_t)(uintptr_t)tare_arena_strdup(r->memory, shape);
	return known ? (const char *)(uintptr_t)*known : NULL;
}

/* What a variable keeps is called by it; for a moment many variables have something. */
static uint32_t name_in_row(const struct tare_fold *f, const struct tare_known_block *b, enum tare_rule rule)
{
	enum tare_category category = tare_rules[rule].category;

	if (rule == TARE_RULE_KEPT && !b->facts.name)
		return f->sites[b->block.site].kept_as;
	if (b->facts.role != TARE_SCANNED_TENSOR)
		return b->facts.name;
	return category == TARE_CATEGORY_PARAMETER || category == TARE_CATEGORY_FROZEN ||
	               category == TARE_CATEGORY_OPTIMIZER || rule == TARE_RULE_FED || rule == TARE_RULE_KEPT ||
	               rule == TARE_RULE_GROWING || rule == TARE_RULE_LASTING
	           ? b->facts.name
	           : 0;
}

const char *tare_tensor_name(const struct tare_fold *f, const struct tare_known_block *b, enum tare_rule rule)
{
	return tare_fold_text_of(f, name_in_row(f, b, rule));
}

/* A block that reaches beyond its segment, as damage makes one, is no larger than what of it lies in there: as in the table of accounts. */
static int64_t bytes_of(const struct tare_known_block *known)
{
	return known->block.marks & TARE_BLOCK_IN_PART ? known->facts.booked : known->block.bytes;
}

static void note_retained(struct rows *r, const struct tare_known_block *known)
{
	const uint32_t site = known->block.site;
	uint64_t *place = tare_map_put(&r->retained, site, NULL);
	struct retained *of;

	if (!*place) {
		TARE_APPEND(r->retained_of, r->retained_nr, r->retained_cap) = (struct retained){ site, 0, 0 };
		*place = r->retained_nr;
	}
	of = &r->retained_of[*place - 1];
	of->bytes += bytes_of(known);
	of->count++;
}

static void add_as(struct rows *r, const struct tare_known_block *known, int device, enum tare_rule rule)
{
	const struct tare_block_facts *facts = &known->facts;
	const struct tare_live_block *b = &known->block;
	const struct tare_fold *f = r->f;
	uint32_t name = name_in_row(f, known, rule);

	if (device >= 0)
		tare_fold_category_add(f, &r->pools, known, rule);
	else if (!(b->flags & TARE_TENSOR_MAPPED))
		tare_category_sums_add(r->host, rule, b->bytes, 1);
	if (rule == TARE_RULE_RETAINED && device >= 0)
		note_retained(r, known);
	if (f->without_tensors)
		return;
	r->keys = tare_array_reserve(r->keys, &r->key_cap, r->count + 1, sizeof(*r->keys));
	r->keys[r->count] = (struct key){ bytes_of(known), b->born_ns, name, b->site, (uint32_t)r->count };
	TARE_APPEND(r->items, r->count, r->cap) = (struct tare_tensor_row){
		.name = name_of(r, name),
		.shape = shape_of(r, facts->shape),
		.line = b->site ? text_of(r, b->site, true) : NULL,
		.short_line = b->site ? text_of(r, b->site, false) : NULL,
		.module = tare_module_row_of(&r->modules, f, r->memory, b->process, facts->module),
		.is_of_backward = facts->kind == TARE_WORK_BACKWARD,
		.rule = rule,
		.count = 1,
		.bytes = bytes_of(known),
		.born_ns = b->born_ns,
		.address = b->address,
		.pid = f->processes[b->process]->process->pid,
	};
}

static void add(struct rows *r, const struct tare_known_block *b, int device)
{
	add_as(r, b, device, tare_tensors_rule(r->f, b, device));
}

static void add_all(struct rows *r, int device, int process, enum tare_moment m)
{
	struct tare_block_walk walk = tare_block_walk_of(r->f, device, process, m);
	const struct tare_live_block *b;

	while ((b = tare_block_walk_next(&walk))) {
		struct tare_known_block known = tare_block_walk_known(&walk, b);

		add(r, &known, device);
	}
}

TARE_COMPARATOR_OF_POINTERS(by_text, struct tare_map_slot, TARE_ALPHABETIC_BY((const char *)(uintptr_t)it->value))

/* Texts become their places in order, from 1, equal ones the same; none is 0. */
static struct tare_map rank(const struct tare_map *texts)
{
	const struct tare_map_slot **sorted = tare_xcalloc(texts->count + 1, sizeof(*sorted)), *slot;
	struct tare_map ranks = { 0 };
	uint64_t place = 0;
	size_t n = 0;

	for (size_t at = 0; (slot = tare_map_next(texts, &at));)
		sorted[n++] = slot;
	TARE_SORT(sorted, n, by_text);
	for (size_t i = 0; i < n; i++) {
		place += !i || by_text(&sorted[i - 1], &sorted[i]);
		*tare_map_put(&ranks, sorted[i]->key, NULL) = place;
	}
	free(sorted);
	return ranks;
}

static uint32_t rank_in(const struct tare_map *ranks, uint32_t id)
{
	const uint64_t *place = tare_map_get(ranks, id);

	return place ? (uint32_t)*place : 0;
}

TARE_COMPARATOR(by_size, struct key, TARE_FALLING(bytes) TARE_RISING(name) TARE_RISING(line) TARE_RISING(born_ns))

static void sort(struct rows *r)
{
	struct tare_map names = rank(&r->names), lines = rank(&r->lines);

	for (size_t i = 0; i < r->count; i++) {
		r->keys[i].name = rank_in(&names, r->keys[i].name);
		r->keys[i].line = rank_in(&lines, r->keys[i].line);
	}
	TARE_SORT(r->keys, r->count, by_size);
	tare_map_free(&names);
	tare_map_free(&lines);
}

static void finish(struct rows *r, struct tare_tensor_rows *out)
{
	*out = (struct tare_tensor_rows){ .count = (int)r->count };
	if (r->count) {
		sort(r);
		out->items = tare_arena_alloc(r->memory, r->count * sizeof(*r->items));
		for (size_t i = 0; i < r->count; i++)
			out->items[i] = r->items[r->keys[i].at];
	}
	free(r->items);
	free(r->keys);
	tare_map_free(&r->names);
	tare_map_free(&r->modules);
	tare_map_free(&r->shapes);
	tare_map_free(&r->lines);
	tare_map_free(&r->short_lines);
}

/* By line of the program, whatever that calls. */
static void finish_retained(struct rows *r, struct tare_device_ledger *out)
{
	struct tare_retained_line *lines = tare_arena_alloc(r->memory, r->retained_nr * sizeof(*lines) + 1);
	int n = 0, k;

	for (size_t i = 0; i < r->retained_nr; i++) {
		const struct retained *of = &r->retained_of[i];
		const char *line = text_of(r, of->site, false);

		for (k = 0; k < n && strcmp(lines[k].line, line) != 0; k++)
			;
		if (k == n)
			lines[n++] = (struct tare_retained_line){ .line = line };
		lines[k].bytes += of->bytes;
		lines[k].count += of->count;
	}
	out->retained = lines;
	out->retained_nr = n;
	free(r->retained_of);
	tare_map_free(&r->retained);
}

static void finish_device(struct rows *r, struct tare_device_ledger *out)
{
	tare_fold_category_rows(&r->pools, r->memory, out);
	finish_retained(r, out);
	finish(r, &out->tensors);
}

static void finish_host(struct rows *r, struct tare_host_ledger *out)
{
	tare_fold_host_category_rows(r->host, r->memory, out);
	finish(r, &out->blocks);
}

static void add_rows(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                     struct tare_arena *memory, struct tare_device_ledger *out)
{
	struct rows r = { .f = f, .memory = memory };

	add_all(&r, d->index, -1, m);
	finish_device(&r, out);
}

void tare_tensors_device_rows(const struct tare_tensors_part *tensors, const struct tare_fold *f,
                              const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                              struct tare_arena *memory, struct tare_device_ledger *out)
{
	tare_fold_self_report_rows(tensors, f, d, m, t, memory, out);
	if (f->is_over)
		add_rows(f, d, m, memory, out);
}

void tare_tensors_host_rows(const struct tare_tensors_part *tensors, const struct tare_fold *f, enum tare_moment m,
                            struct tare_ledger *out)
{
	(void)tensors;
	for (int i = 0; f->is_over && i < f->process_nr; i++) {
		struct rows r = { .f = f, .memory = out->memory };

		if (!f->processes[i] || f->processes[i]->host_row < 0)
			continue;
		add_all(&r, -1, i, m);
		finish_host(&r, &out->hosts[f->processes[i]->host_row]);
	}
}

/* ---- instants that are no moments ---- */

static void watch(struct tare_watches *w, const struct tare_work *work, struct tare_live_block *b,
                  struct tare_ledger *out, int device)
{
	b->marks |= TARE_BLOCK_WATCHED;
	TARE_APPEND(w->items, w->count, w->cap) = (struct tare_watched){ tare_known(work, b), out, device };
}

void tare_tensors_shown(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                        struct tare_ledger *out)
{
	for (int i = 0; i < f->process_nr; i++) {
		struct tare_process_fold *p = f->processes[i];
		struct tare_blocks *b =
			p && d->index < p->on_device_nr && p->on_device[d->index] ? &p->on_device[d->index]->blocks : NULL;

		for (size_t k = 0; b && k < b->count; k++)
			if (b->items[k].process >= 0)
				watch(&tensors->watched, &b->work, &b->items[k], out, d->index);
	}
}

void tare_fold_watch_host(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_ledger *out)
{
	for (int i = 0; i < f->process_nr; i++) {
		struct tare_blocks *b =
			f->processes[i] && f->processes[i]->host_row >= 0 ? &f->processes[i]->host_blocks : NULL;

		for (size_t k = 0; b && k < b->count; k++)
			if (b->items[k].process >= 0)
				watch(&tensors->watched, &b->work, &b->items[k], out, -1);
	}
}

void tare_fold_block_gone(struct tare_tensors_part *tensors, struct tare_fold *f, const struct tare_work *work,
                          const struct tare_live_block *b)
{
	bool is_gone = b->site && b->marks & TARE_BLOCK_GONE;
	struct tare_watches *w = &tensors->watched;
	struct tare_site *site = &f->sites[b->site];

	if (b->marks & TARE_BLOCK_OUTLIVED_CALL && tare_block_facts_of(work, b)->call_depth)
		site->outlived_bytes = b->bytes;
	if (is_gone) {
		tare_site_note_kept(site, b);
		if (site->outer && b->flags & TARE_TENSOR_GRAD)
			tare_site_note_recorded(&f->sites[site->outer], tare_block_facts_of(work, b), b);
	}
	if (is_gone && site->last_bytes > b->bytes)
		site->replaced++;
	else if (is_gone)
		site->other_ends++;
	tare_ended_note(&tensors->ended, work, b);
	if (!(b->marks & TARE_BLOCK_WATCHED))
		return;
	TARE_APPEND(w->gone, w->gone_nr, w->gone_cap) = tare_known(work, b);
	*tare_map_put(&w->gone_at, b->serial, NULL) = w->gone_nr;
	tare_map_remove(&w->open, b->serial, NULL);
}

/* As it is known now. */
static struct tare_known_block tensors_latest(const struct tare_tensors_part *tensors, const struct tare_fold *f,
                                              const struct tare_watched *w)
{
	const uint64_t *gone = tare_map_get(&tensors->watched.gone_at, w->known.block.serial);
	const struct tare_process_fold *p = f->processes[w->known.block.process];
	const struct tare_blocks *blocks;
	const struct tare_live_block *b;

	if (gone)
		return tensors->watched.gone[*gone - 1];
	blocks = w->device < 0 ? &p->host_blocks : &p->on_device[w->device]->blocks;
	b = tare_blocks_find(blocks, w->known.block.address);
	return b ? tare_known(&blocks->work, b) : w->known;
}

/* Of a fold that showed a moment: what the later fold knows, in the numbers of this one. */
static void add_later(struct rows *r, const struct tare_tensors_part *tensors, struct tare_fold *f,
                      const struct tare_watched *w)
{
	struct tare_known_block b;
	enum tare_rule rule;

	if (!tare_tensors_later(tensors, f, w, &b)) {
		b = tensors_latest(tensors, f, w);
		add_as(r, &b, w->device, tare_tensors_rule_later(f, &b, w->device));
		return;
	}
	rule = tare_fold_rule_of(f->later, &b, tare_tensors_work(f->later, b.block.process, w->device));
	if (rule == TARE_RULE_KEPT && !b.facts.name)
		b.facts.name = f->later->sites[b.block.site].kept_as;
	b.block.site = w->known.block.site;
	b.block.bucket = w->known.block.bucket;
	b.facts.name = (uint32_t)tare_fold_text(f, tare_fold_text_of(f->later, b.facts.name));
	b.facts.shape = (uint32_t)tare_fold_text(f, tare_fold_text_of(f->later, b.facts.shape));
	add_as(r, &b, w->device, rule);
}

static void add_watched(struct rows *r, const struct tare_tensors_part *tensors, struct tare_fold *f,
                        const struct tare_watched *w)
{
	struct tare_known_block b;

	if (f->later) {
		add_later(r, tensors, f, w);
		return;
	}
	b = tensors_latest(tensors, f, w);
	add(r, &b, w->device);
}

/* Where blocks that are shown side by side go. */
static bool is_one_place(const struct tare_fold *f, const struct tare_watched *a, const struct tare_watched *b)
{
	return a->out == b->out && a->device == b->device &&
	       (a->device >= 0 ||
	        f->processes[a->known.block.process]->host_row == f->processes[b->known.block.process]->host_row);
}

/* Those of one snapshot stand side by side. */
void tare_tensors_finish(struct tare_tensors_part *tensors, struct tare_fold *f)
{
	struct tare_watches *w = &tensors->watched;

	for (size_t i = 0, n; i < w->count; i += n) {
		const struct tare_watched *first = &w->items[i];
		struct rows r = { .f = f, .memory = first->out->memory };

		for (n = 0; i + n < w->count && is_one_place(f, &w->items[i + n], first); n++)
			add_watched(&r, tensors, f, &w->items[i + n]);
		if (first->device < 0)
			finish_host(&r, &first->out->hosts[f->processes[first->known.block.process]->host_row]);
		else
			finish_device(&r, &first->out->devices[tare_fold_device_place(f, f->devices[first->device])]);
	}
}
