/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules of programs (torch.nn.Module): which there are, and who is whose. A thread says which one it is inside of
 * when it is handed out a block (MODULE); what it is called, a look through the program's objects says, often later.
 */
#include "ledger/tensors/better_name.h"
#include "ledger/tensors/tensors.h"

#include "base/array.h"
#include "base/map.h"
#include "base/str.h"

#include <string.h>

enum { DEPTH_MAX = 64 };

uint32_t tare_modules_find(const struct tare_modules *m, uint64_t at)
{
	const uint64_t *place = tare_map_get(&m->of_address, at);

	return place ? (uint32_t)*place : 0;
}

/* An object of another class at the address of a module is another module. */
static uint32_t know(struct tare_modules *m, uint64_t at, uint32_t class)
{
	uint64_t *place = tare_map_put(&m->of_address, at, NULL);

	if (*place && m->items[*place - 1].class == class)
		return (uint32_t)*place;
	TARE_APPEND(m->items, m->count, m->cap) = (struct tare_module){ .at = at, .class = class };
	*place = m->count;
	return (uint32_t)m->count;
}

void tare_modules_take(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_module *r = e->rec.module;
	struct tare_modules *m = &tare_fold_process(f, e->process)->modules;
	uint32_t module = know(m, r->at, (uint32_t)tare_fold_text(f, e->name));

	if (r->tid)
		*tare_map_put(&m->of_thread, r->tid, NULL) = module;
	else
		m->items[module - 1].is_told = true;
}

uint32_t tare_modules_of_block(const struct tare_modules *m, const struct tare_rec_tensor *r)
{
	const uint64_t *module = r->flags & TARE_TENSOR_IN_MODULE ? tare_map_get(&m->of_thread, r->tid) : NULL;

	return module ? (uint32_t)*module : 0;
}

/* ---- names ---- */

/* Modules that only wrap one; named_parameters() leaves them out too. */
bool tare_module_is_wrapper(const char *name)
{
	return name && (!strcmp(name, "_fsdp_wrapped_module") || !strcmp(name, "_checkpoint_wrapped_module"));
}

/* What is gone has its place no more: another one may come there. */
static void forget_untold(struct tare_modules *m)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct tare_module *module = &m->items[i];

		if (!module->is_told && tare_modules_find(m, module->at) == i + 1)
			*tare_map_put(&m->of_address, module->at, NULL) = 0;
	}
}

/*
 * A variable: that which most scans found it in. The function that calls it `student` may have returned, and another one, which
 * calls what it is given `net`, run at a later scan.
 */
static void hear_variable(struct tare_module *m, uint32_t name, bool is_self)
{
	if (is_self)
		m->name = m->agreed ? m->name : name;
	else if (name && name == m->name)
		m->agreed++;
	else if (name && m->agreed > 1)
		m->agreed--;
	else if (name) {
		m->name = name;
		m->agreed = 1;
	}
}

static bool give_name(const struct tare_fold *f, struct tare_modules *m, const struct tare_scan_entry *entry,
                      size_t order)
{
	bool is_self = tare_is_self(tare_fold_text_of(f, entry->name));
	uint32_t module = tare_modules_find(m, entry->at);
	uint32_t parent = entry->of ? tare_modules_find(m, entry->of) : 0;
	struct tare_module *own = module ? &m->items[module - 1] : NULL;

	if (!module || parent == module || (entry->of && !parent))
		return false;
	if (parent || own->parent) {
		own->name = entry->name;
		own->agreed = !parent && !is_self;
		own->is_one_of_several = false;
	} else {
		hear_variable(own, entry->name, is_self);
	}
	own->parent = parent;
	own->order = (uint32_t)order;
	return true;
}

/* A module that is in several others has the name that is found first, as in named_modules(). */
void tare_modules_name(const struct tare_fold *f, struct tare_modules *m, const struct tare_scan_entries *scanned,
                       bool is_whole)
{
	struct tare_map named = { 0 };

	if (is_whole)
		forget_untold(m);
	for (size_t i = 0; i < scanned->count; i++) {
		const struct tare_scan_entry *entry = &scanned->items[i];

		if (entry->role == TARE_SCANNED_MODULE && !tare_map_get(&named, entry->at) && give_name(f, m, entry, i))
			tare_map_put(&named, entry->at, NULL);
	}
	tare_map_free(&named);
	for (size_t i = 0; i < m->count; i++) {
		m->items[i].is_found |= m->items[i].is_told;
		m->items[i].is_told = false;
	}
}

/* ---- rows ---- */

struct rows {
	struct tare_map *known;
	const struct tare_fold *f;
	struct tare_arena *memory;
	int process;
};

static const struct tare_module_row *row_of(const struct rows *r, uint32_t place, int depth);

static const char *text_of(const struct rows *r, uint32_t id)
{
	const char *text = tare_fold_text_of(r->f, id);

	return text ? tare_arena_strdup(r->memory, text) : NULL;
}

/* Of one that is in no other the name is told where there are several, as in names of tensors. */
static bool is_told(const struct rows *r, const struct tare_module_row *row)
{
	return row->parent || r->f->processes[r->process]->modules.items[row->number - 1].is_one_of_several;
}

static const char *path_in(const struct rows *r, const struct tare_module_row *parent, const char *name)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

	if (is_told(r, parent))
		tare_str_addf(&path, "%s.", parent->path);
	tare_str_add(&path, name);
	return tare_arena_strdup(r->memory, tare_str_text(&path));
}

static const struct tare_module_row *make(const struct rows *r, uint32_t place, int depth)
{
	const struct tare_process_fold *p = r->f->processes[r->process];
	const struct tare_module *m = &p->modules.items[place - 1];
	const struct tare_module_row *parent = m->parent && depth ? row_of(r, m->parent, depth - 1) : NULL;
	const char *name = text_of(r, m->name);
	struct tare_module_row *row;

	if (parent && tare_module_is_wrapper(name))
		return parent;
	row = tare_arena_alloc(r->memory, sizeof(*row));
	*row = (struct tare_module_row){ .class = text_of(r, m->class),
		                             .parent = parent,
		                             .pid = p->process->pid,
		                             .number = place,
		                             .order = m->order,
		                             .is_found = m->is_found };
	if (!name)
		name = parent ? "?" : row->class ? row->class : "module";
	row->name = name;
	row->path = parent ? path_in(r, parent, row->name) : row->name;
	return row;
}

static const struct tare_module_row *row_of(const struct rows *r, uint32_t place, int depth)
{
	uint64_t key = (uint64_t)r->process << 32 | place;
	const uint64_t *known = tare_map_get(r->known, key);
	const struct tare_module_row *row;

	if (known)
		return (const struct tare_module_row *)(uintptr_t)*known;
	row = make(r, place, depth);
	*tare_map_put(r->known, key, NULL) = (uint64_t)(uintptr_t)row;
	return row;
}

/* A fold that went further has the same modules at the same places, and knows more names. */
const struct tare_module_row *tare_module_row_of(struct tare_map *known, const struct tare_fold *f,
                                                 struct tare_arena *memory, int process, uint32_t module)
{
	struct rows r = { known, f->later ? f->later : f, memory, process };

	return module ? row_of(&r, module, DEPTH_MAX) : NULL;
}
