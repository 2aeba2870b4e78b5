/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scan of the program's objects found (records SCANNED and SCAN) becomes roles and names of blocks.
 * Modules and their members are told one by one; paths like layer4.2.conv3.weight are made here.
 */
#include "ledger/tensors/better_name.h"
#include "ledger/tensors/tensors.h"

#include "base/array.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_DEPTH = 64 };

void tare_fold_scan_entry(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_scanned *r = e->rec.scanned;
	struct tare_scan_entries *p = &tare_fold_process(f, e->process)->scanned;

	TARE_APPEND(p->items, p->count, p->cap) = (struct tare_scan_entry){ .at = r->at,
		                                                                .of = r->of,
		                                                                .name = (uint32_t)tare_fold_text(f, e->name),
		                                                                .shape = (uint32_t)tare_fold_text(f, e->api),
		                                                                .role = (uint8_t)r->role,
		                                                                .flags = (uint8_t)r->flags };
}

/* What a scan says of a tensor. */
struct found {
	uint32_t name, shape, module; /* texts of the fold; 1 + place; 0: none */
};

struct names {
	struct tare_fold *f;
	const struct tare_scan_entries *scanned;
	struct tare_modules *known;
	struct tare_map modules;    /* module → 1 + place of the entry that names it */
	struct tare_map parameters; /* memory → 1 + place */
	bool has_roots;             /* parameters are in several modules that are in no other */
};

static struct tare_module *known_module(const struct names *n, uint64_t module)
{
	uint32_t place = tare_modules_find(n->known, module);

	return place ? &n->known->items[place - 1] : NULL;
}

static bool is_one_of_several(const struct names *n, uint64_t module)
{
	const struct tare_module *m = known_module(n, module);

	return n->has_roots || (m && m->is_one_of_several);
}

/* That of earlier scans is known, too, where this one finds none. */
static const char *variable_of(const struct names *n, uint64_t module, const struct tare_scan_entry *p)
{
	const struct tare_module *m = known_module(n, module);

	return tare_fold_text_of(n->f, m && !m->parent && m->name ? m->name : p ? p->name : 0);
}

/* "layer4.2.conv3." of a module; of one that is in no other its variable, where there are several, else nothing. */
static void add_path(const struct names *n, struct tare_str *out, uint64_t module, int depth)
{
	const uint64_t *known = depth ? tare_map_get(&n->modules, module) : NULL;
	const struct tare_scan_entry *p = known ? &n->scanned->items[*known - 1] : NULL;
	const char *name = p && p->of ? tare_fold_text_of(n->f, p->name) : variable_of(n, module, p);

	if ((!p && !name) || (p && p->of == module) || (!(p && p->of) && !is_one_of_several(n, module)))
		return;
	if (p && p->of)
		add_path(n, out, p->of, depth - 1);
	if (!tare_module_is_wrapper(name))
		tare_str_addf(out, "%s.", name ? name : "?");
}

static void add_name(const struct names *n, struct tare_str *out, const struct tare_scan_entry *p)
{
	const uint64_t *known = tare_map_get(&n->parameters, p->of);
	const char *name = tare_fold_text_of(n->f, p->name);

	switch (p->role) {
	case TARE_SCANNED_PARAMETER:
	case TARE_SCANNED_BUFFER:
		add_path(n, out, p->of, PATH_DEPTH);
		tare_str_add(out, name ? name : "?");
		return;
	case TARE_SCANNED_GRADIENT:
	case TARE_SCANNED_STATE:
	case TARE_SCANNED_GATHERED:
		tare_str_add(out, name                               ? name
		                  : p->role == TARE_SCANNED_GRADIENT ? "gradient"
		                  : p->role == TARE_SCANNED_GATHERED ? "gathered"
		                                                     : "state");
		if (!known)
			return;
		tare_str_add(out, p->role == TARE_SCANNED_GATHERED ? " " : " of ");
		add_name(n, out, &n->scanned->items[*known - 1]);
		return;
	case TARE_SCANNED_TENSOR: /* the variable that keeps it */
		tare_str_add(out, name ? name : "");
		return;
	default:
		return;
	}
}

static void know_names(struct names *n)
{
	for (size_t i = 0; i < n->scanned->count; i++) {
		const struct tare_scan_entry *p = &n->scanned->items[i];
		struct tare_map *map = p->role == TARE_SCANNED_MODULE      ? &n->modules
		                       : p->role == TARE_SCANNED_PARAMETER ? &n->parameters
		                                                           : NULL;
		uint64_t *place = map ? tare_map_put(map, p->at, NULL) : NULL;

		if (place && !*place)
			*place = i + 1;
	}
}

static uint64_t root_of(const struct names *n, uint64_t module)
{
	for (int depth = PATH_DEPTH; depth > 0; depth--) {
		const uint64_t *known = tare_map_get(&n->modules, module);
		uint64_t of = known ? n->scanned->items[*known - 1].of : 0;

		if (!of || of == module)
			break;
		module = of;
	}
	return module;
}

static bool has_several_roots(const struct names *n)
{
	uint64_t first = 0;

	for (size_t i = 0; i < n->scanned->count; i++) {
		const struct tare_scan_entry *p = &n->scanned->items[i];
		uint64_t root = p->role == TARE_SCANNED_PARAMETER ? root_of(n, p->of) : 0;

		if (root && first && root != first)
			return true;
		if (root)
			first = root;
	}
	return false;
}

/*
 * What a module has is that, also where an optimizer or a variable has it too. But a module has a sharded
 * parameter under the same name while it is whole.
 */
static uint8_t rank_of(uint8_t role)
{
	return role == TARE_SCANNED_GATHERED ? 0 : role;
}

static bool is_stronger(uint8_t role, uint8_t than)
{
	return role && (!than || rank_of(role) < rank_of(than));
}

/*
 * A later scan knows better: the module may have become a part of another one. But a variable may be less than the one that is known
 * (better_name.h). In one scan the first name stays.
 */
static bool is_newer(const struct tare_better_name *better, const struct tare_scan_entry *p,
                     const struct tare_block_facts *now, uint32_t name, uint32_t scan)
{
	return p->role == now->role && name && now->named_by != scan &&
	       (p->role != TARE_SCANNED_TENSOR || tare_better_name(better, name, now->name));
}

static void give_role(struct tare_block_facts *now, const struct tare_better_name *better,
                      const struct tare_scan_entry *p, struct found found, uint32_t scan)
{
	if (!is_stronger(p->role, now->role) && !is_newer(better, p, now, found.name, scan))
		return;
	now->role = p->role;
	now->role_flags = p->flags;
	now->name = found.name;
	now->shape = found.shape;
	now->named_by = scan;
	if (found.module)
		now->module = found.module;
}

/* In the middle of the first step of an optimizer only some gradients can be asked for. */
static bool has_all_gradients(const struct tare_scan_entries *scanned)
{
	size_t parameters = 0, gradients = 0;

	for (size_t i = 0; i < scanned->count; i++) {
		parameters += scanned->items[i].role == TARE_SCANNED_PARAMETER;
		gradients += scanned->items[i].role == TARE_SCANNED_GRADIENT;
	}
	return gradients && gradients >= parameters;
}

/* Of what a variable keeps others may come from the same line, which no scan finds. */
static void note_variable(struct tare_fold *f, const struct tare_blocks *blocks, const struct tare_live_block *b)
{
	struct tare_known_block known = tare_known(&blocks->work, b);

	if (b->site && known.facts.role_flags & TARE_SCANNED_KEPT)
		tare_site_note_variable(&f->sites[b->site], &known, &blocks->work);
}

/* How many tensors each variable keeps now, and was last found to keep. */
static void count_kept(struct tare_better_name *better, struct tare_blocks *blocks,
                       const struct tare_scan_entries *scanned, const struct found *found)
{
	for (size_t i = 0; i < scanned->count; i++) {
		const struct tare_live_block *b =
			scanned->items[i].role == TARE_SCANNED_TENSOR ? tare_blocks_find(blocks, scanned->items[i].at) : NULL;
		const struct tare_block_facts *facts = b ? tare_block_facts_of(&blocks->work, b) : NULL;

		if (!b || !found[i].name)
			continue;
		++*tare_map_put(&better->now, found[i].name, NULL);
		if (facts->role == TARE_SCANNED_TENSOR && facts->name)
			++*tare_map_put(&better->before, facts->name, NULL);
	}
}

static void give_roles(struct tare_fold *f, struct tare_blocks *blocks, const struct tare_scan_entries *scanned,
                       const struct found *found, uint32_t flags)
{
	bool is_whole = !(flags & (TARE_SCAN_CUT | TARE_SCAN_MODULES));
	bool knows_gradients = flags & TARE_SCAN_GRADIENTS || has_all_gradients(scanned);
	struct tare_better_name better = { .f = f };

	count_kept(&better, blocks, scanned, found);
	for (size_t i = 0; is_whole && i < blocks->count; i++) {
		struct tare_live_block *b = &blocks->items[i];

		if (b->process >= 0 && (knows_gradients || tare_block_facts_of(&blocks->work, b)->kind != TARE_WORK_BACKWARD))
			b->marks |= TARE_BLOCK_UNSEEN;
	}
	for (size_t i = 0; i < scanned->count; i++) {
		const struct tare_scan_entry *p = &scanned->items[i];
		struct tare_live_block *b = p->role == TARE_SCANNED_MODULE ? NULL : tare_blocks_find(blocks, p->at);
		struct tare_block_facts facts;

		if (!b)
			continue;
		b->marks &= (uint16_t)~TARE_BLOCK_UNSEEN;
		facts = *tare_block_facts_of(&blocks->work, b);
		give_role(&facts, &better, p, found[i], scanned->scans);
		tare_block_facts_change(&blocks->work, b, &facts);
		note_variable(f, blocks, b);
		if (facts.role == TARE_SCANNED_GRADIENT)
			tare_passes_note_said(&tare_work_of(&blocks->work, &facts)->passes, b, &facts);
	}
	tare_better_name_free(&better);
	if (knows_gradients)
		tare_trained_note(blocks, scanned);
}

/* The module that has a tensor; of a gradient or a state, that has its parameter. */
static uint32_t module_of(const struct names *n, const struct tare_modules *modules, const struct tare_scan_entry *p)
{
	const uint64_t *known;

	switch (p->role) {
	case TARE_SCANNED_PARAMETER:
	case TARE_SCANNED_BUFFER:
		return tare_modules_find(modules, p->of);
	case TARE_SCANNED_GRADIENT:
	case TARE_SCANNED_STATE:
	case TARE_SCANNED_GATHERED:
		known = tare_map_get(&n->parameters, p->of);
		return known ? tare_modules_find(modules, n->scanned->items[*known - 1].of) : 0;
	default:
		return 0;
	}
}

/* A gradient has that of its parameter. */
static uint32_t shape_of(const struct names *n, const struct tare_scan_entry *p)
{
	const uint64_t *known = p->role == TARE_SCANNED_GRADIENT ? tare_map_get(&n->parameters, p->of) : NULL;

	return known ? n->scanned->items[*known - 1].shape : p->shape;
}

/* What is called so twice stays one of several, though the others may go: else some tensors would have its name in theirs, and some not. */
static void note_roots(const struct names *n)
{
	for (size_t i = 0; i < n->scanned->count; i++) {
		const struct tare_scan_entry *p = &n->scanned->items[i];
		struct tare_module *m = p->role == TARE_SCANNED_PARAMETER ? known_module(n, root_of(n, p->of)) : NULL;

		if (m && !m->parent && m->agreed > 1)
			m->is_one_of_several = true;
	}
}

static struct found *find_all(struct tare_fold *f, struct tare_process_fold *p)
{
	struct names n = { .f = f, .scanned = &p->scanned, .known = &p->modules };
	struct found *found = tare_xcalloc(p->scanned.count + 1, sizeof(*found));
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	know_names(&n);
	n.has_roots = has_several_roots(&n);
	if (n.has_roots)
		note_roots(&n);
	for (size_t i = 0; i < p->scanned.count; i++) {
		const struct tare_scan_entry *entry = &p->scanned.items[i];

		tare_str_cut(&text, 0);
		if (entry->role != TARE_SCANNED_MODULE)
			add_name(&n, &text, entry);
		found[i].name = (uint32_t)tare_fold_text(f, tare_str_text(&text));
		found[i].module = module_of(&n, &p->modules, entry);
		found[i].shape = shape_of(&n, entry);
	}
	tare_map_free(&n.modules);
	tare_map_free(&n.parameters);
	return found;
}

void tare_fold_scan(struct tare_fold *f, const struct tare_event *e)
{
	struct tare_process_fold *p = tare_fold_process(f, e->process);
	uint32_t flags = e->rec.scan->flags;
	struct found *found;

	tare_modules_name(f, &p->modules, &p->scanned, !(flags & TARE_SCAN_CUT));
	found = find_all(f, p);
	p->scanned.scans++;
	for (int i = 0; i < p->on_device_nr; i++)
		if (p->on_device[i])
			give_roles(f, &p->on_device[i]->blocks, &p->scanned, found, flags);
	give_roles(f, &p->host_blocks, &p->scanned, found, flags);
	for (size_t i = 0; i < p->scanned.count; i++)
		if (p->scanned.items[i].role != TARE_SCANNED_MODULE && found[i].shape)
			tare_pinned_note_asked(f, e->process->index, p->scanned.items[i].at, tare_fold_text_of(f, found[i].shape));
	free(found);
	p->scanned.count = 0;
}
