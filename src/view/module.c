/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what modules of PyTorch hold. */
#include "view/module.h"

#include "base/comparator.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "view/by.h"
#include "view/tensors.h"

#include <stdlib.h>
#include <string.h>

enum { SCREEN_MODULES = 60, SCREEN_CLASSES = 20 };

bool tare_modules_is_any(const struct tare_by_ask *ask)
{
	return tare_tensors_is_any(ask);
}

/* ---- the tables ---- */

/* A column for each category, which only formats for machines have. */
#define CATEGORY_COLUMN(row, sum, KEY, key) TARE_COLUMN(row, sum.of[TARE_CATEGORY_##KEY], key "_bytes", NULL, BYTES),

struct row {
	const char *at, *module, *shown, *class, *root;
	int64_t device, pid; /* -1: none */
	uint64_t depth;
	bool is_found;
	int64_t other;
	struct tare_module_sum own, all;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, shown, NULL, "MODULE", TEXT),
	TARE_COLUMN(row, at, "at", NULL, TEXT),
	TARE_COLUMN(row, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, pid, "pid", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, module, "module", NULL, TEXT),
	TARE_COLUMN(row, module, "label", NULL, TEXT),
	TARE_COLUMN(row, class, "class", "CLASS", TEXT, .is_blank = true),
	TARE_COLUMN(row, root, "root", NULL, TEXT),
	TARE_COLUMN(row, depth, "depth", NULL, COUNT),
	TARE_COLUMN(row, is_found, "is_found", NULL, FLAG),
	TARE_COLUMN(row, own.count, "own_count", NULL, COUNT),
	TARE_COLUMN(row, all.count, "count", NULL, COUNT),
	TARE_COLUMN(row, own.bytes, "own_bytes", "own", BYTES),
	TARE_COLUMN(row, all.bytes, "bytes", "in all", BYTES),
	TARE_COLUMN(row, all.of[TARE_CATEGORY_PARAMETER], NULL, "param.", BYTES),
	TARE_COLUMN(row, all.of[TARE_CATEGORY_GRADIENT], NULL, "grad.", BYTES),
	TARE_COLUMN(row, all.of[TARE_CATEGORY_OPTIMIZER], NULL, "state", BYTES),
	TARE_COLUMN(row, all.of[TARE_CATEGORY_ACTIVATION], NULL, "activ.", BYTES),
	TARE_COLUMN(row, all.of[TARE_CATEGORY_TEMPORARY], NULL, "temp.", BYTES),
	TARE_COLUMN(row, other, NULL, "other", BYTES),
#define TARE_RULE(KEY, category, evidence, name, sentence)
#define TARE_CATEGORY(KEY, key, name, what, less) CATEGORY_COLUMN(row, all, KEY, key)
#include "ledger/category.def"
#define TARE_RULE(KEY, category, evidence, name, sentence)
#define TARE_CATEGORY(KEY, key, name, what, less) CATEGORY_COLUMN(row, own, KEY, "own_" key)
#include "ledger/category.def"
};

struct class
{
	const char *at, *name;
	int64_t device, pid;
	uint64_t modules;
	int64_t other;
	struct tare_module_sum own;
};

static const struct tare_column class_columns[] = {
	TARE_COLUMN(class, at, "at", NULL, TEXT),
	TARE_COLUMN(class, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(class, pid, "pid", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(class, name, "class", "CLASS", TEXT),
	TARE_COLUMN(class, modules, "modules", "modules", COUNT, .is_sum = true),
	TARE_COLUMN(class, own.count, "own_count", NULL, COUNT),
	TARE_COLUMN(class, own.bytes, "own_bytes", "own", BYTES, .is_sum = true),
	TARE_COLUMN(class, own.of[TARE_CATEGORY_PARAMETER], NULL, "param.", BYTES, .is_sum = true),
	TARE_COLUMN(class, own.of[TARE_CATEGORY_GRADIENT], NULL, "grad.", BYTES, .is_sum = true),
	TARE_COLUMN(class, own.of[TARE_CATEGORY_OPTIMIZER], NULL, "state", BYTES, .is_sum = true),
	TARE_COLUMN(class, own.of[TARE_CATEGORY_ACTIVATION], NULL, "activ.", BYTES, .is_sum = true),
	TARE_COLUMN(class, own.of[TARE_CATEGORY_TEMPORARY], NULL, "temp.", BYTES, .is_sum = true),
	TARE_COLUMN(class, other, NULL, "other", BYTES, .is_sum = true),
#define TARE_RULE(KEY, category, evidence, name, sentence)
#define TARE_CATEGORY(KEY, key, name, what, less) CATEGORY_COLUMN(class, own, KEY, "own_" key)
#include "ledger/category.def"
};

/* The bytes of a module in those categories that have no column on the screen. */
static int64_t other_in(const struct tare_module_sum *s)
{
	return s->bytes - s->of[TARE_CATEGORY_PARAMETER] - s->of[TARE_CATEGORY_GRADIENT] - s->of[TARE_CATEGORY_OPTIMIZER] -
	       s->of[TARE_CATEGORY_ACTIVATION] - s->of[TARE_CATEGORY_TEMPORARY];
}

/* What is made of the tensors of one memory. */
struct shown {
	struct tare_tensor_place place;
	struct tare_module_tree tree;
	struct tare_module_classes classes;
};

static const char *label_of(const struct tare_module_node *n)
{
	if (n->row)
		return n->row->path;
	return n->is_of_backward ? "(backward)" : "(no module)";
}

static const char *root_of(const struct tare_module_row *row)
{
	while (row && row->parent)
		row = row->parent;
	return row ? row->path : NULL;
}

static struct row row_of(const struct shown *s, const struct tare_module_node *n)
{
	return (struct row){ .at = s->place.ledger->at,
		                 .module = label_of(n),
		                 .shown = n->row ? n->row->name : label_of(n),
		                 .class = n->row ? n->row->class : NULL,
		                 .root = root_of(n->row),
		                 .device = s->place.device ? s->place.device->index : -1,
		                 .pid = s->place.host ? s->place.host->pid
		                        : n->row      ? n->row->pid
		                                      : -1,
		                 .depth = n->depth,
		                 .is_found = n->row && n->row->is_found,
		                 .other = other_in(&n->all),
		                 .own = n->own,
		                 .all = n->all };
}

TARE_FALLING_SCALAR_COMPARATOR(by_size, int64_t)

/* How many bytes a row must hold to be shown: a module within a module never holds more than the outer module. */
static int64_t least_shown(const struct tare_module_tree *t)
{
	int64_t *sizes, least;

	if (t->count <= SCREEN_MODULES)
		return INT64_MIN;
	sizes = tare_xcalloc(t->count, sizeof(*sizes));
	for (size_t i = 0; i < t->count; i++)
		sizes[i] = t->items[i].all.bytes;
	TARE_SORT(sizes, t->count, by_size);
	least = sizes[SCREEN_MODULES] + 1;
	free(sizes);
	return least;
}

static void add_modules(struct tare_emit *e, const struct shown *s)
{
	for (size_t i = 0; i < s->tree.count; i++) {
		const struct tare_module_node *n = &s->tree.items[i];
		struct row row = row_of(s, n);

		tare_emit_add_as(e, &row, (struct tare_row_look){ .level = n->depth });
	}
}

static void add_folded(struct tare_emit *e, const struct shown *s, const struct tare_module_node *n)
{
	struct row row = row_of(s, n);
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (n->last)
		tare_str_addf(&text, "%s–%s × %zu", row.shown, n->last, n->times);
	else
		tare_str_add(&text, row.shown);
	row.shown = tare_str_text(&text);
	tare_emit_add_as(e, &row, (struct tare_row_look){ .level = n->depth });
}

/* For people: the largest, with equal layers in one row. */
static void add_some_modules(struct tare_emit *e, const struct shown *s)
{
	struct row all = { .shown = "all tensors", .all = s->tree.all, .own = s->tree.all };
	struct tare_module_tree folded;
	size_t left_out = 0;
	int64_t least;

	tare_module_tree_fold(&folded, &s->tree);
	least = least_shown(&folded);
	for (size_t i = 0; i < folded.count; i++) {
		if (folded.items[i].all.bytes < least && folded.items[i].row)
			left_out++;
		else
			add_folded(e, s, &folded.items[i]);
	}
	tare_module_tree_free(&folded);
	all.other = other_in(&all.all);
	tare_emit_rule(e);
	tare_emit_add(e, &all);
	if (left_out)
		tare_emit_line(e, "smaller modules are left out; --json and --csv have them all");
}

static void add_classes(struct tare_emit *e, const struct shown *s)
{
	for (size_t i = 0; i < s->classes.count; i++) {
		const struct tare_module_class *c = &s->classes.items[i];
		struct class row = { .at = s->place.ledger->at,
			                 .name = c->name,
			                 .device = s->place.device ? s->place.device->index : -1,
			                 .pid = s->place.host ? s->place.host->pid : -1,
			                 .modules = c->modules,
			                 .other = other_in(&c->own),
			                 .own = c->own };

		if (tare_emit_is_for_people(e) && i >= SCREEN_CLASSES)
			tare_emit_leave_out(e, &row);
		else
			tare_emit_add(e, &row);
	}
	if (s->classes.count > SCREEN_CLASSES)
		tare_emit_rest(e, "other classes");
}

/* ---- for scripts, and for people ---- */

typedef void show_fn(struct tare_emit *e, const struct shown *s);

static void show_each(struct tare_emit *e, const struct tare_by_ask *ask, show_fn *show)
{
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < tare_tensor_place_nr(ask->ledgers[i]); k++) {
			struct shown s = { .place = tare_tensor_place(ask->ledgers[i], k) };

			tare_module_tree_build(&s.tree, s.place.rows);
			tare_module_classes_build(&s.classes, &s.tree);
			show(e, &s);
			tare_module_classes_free(&s.classes);
			tare_module_tree_free(&s.tree);
		}
}

/* A category of which there is nothing has no column for people; those are the columns without a key. */
static void leave_out_empty(const struct tare_emit *e, struct tare_column *shown, size_t count, const void *all)
{
	for (size_t i = 0; i < count && !e->sort; i++) {
		struct tare_column *c = &shown[i];

		if (c->key || c->kind != TARE_COL_BYTES)
			continue;
		if (*(const int64_t *)((const char *)all + c->offset) < TARE_UNITS_LEAST)
			c->head = NULL;
	}
}

static void show_modules(struct tare_emit *e, const struct shown *s)
{
	struct row all = { .all = s->tree.all, .other = other_in(&s->tree.all) };
	struct tare_column mine[sizeof(columns) / sizeof(columns[0])];
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	memcpy(mine, columns, sizeof(columns));
	leave_out_empty(e, TARE_COLUMNS(mine), &all);
	tare_tensor_place_title(&title, &s->place);
	tare_emit_shape(e, TARE_SHAPE_TREE, "module", tare_str_text(&title), TARE_COLUMNS(mine));
	add_some_modules(e, s);
	tare_emit_table_end(e);
	tare_tensor_place_shared(e, &s->place);
	tare_emit_gap(e);
}

static void show_classes(struct tare_emit *e, const struct shown *s)
{
	struct class all = { .own = s->tree.all, .other = other_in(&s->tree.all) };
	struct tare_column mine[sizeof(class_columns) / sizeof(class_columns[0])];

	memcpy(mine, class_columns, sizeof(class_columns));
	leave_out_empty(e, TARE_COLUMNS(mine), &all);
	tare_emit_table(e, "class", "by class, each without what is in it", TARE_COLUMNS(mine));
	add_classes(e, s);
	tare_emit_table_end(e);
	tare_emit_gap(e);
}

static void show_text(struct tare_emit *e, const struct shown *s)
{
	if (s->tree.count)
		show_modules(e, s);
	if (s->classes.count)
		show_classes(e, s);
}

void tare_modules_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	if (tare_emit_is_for_people(e)) {
		show_each(e, ask, show_text);
		return;
	}
	tare_emit_table(e, "rows", NULL, TARE_COLUMNS(columns));
	show_each(e, ask, add_modules);
	tare_emit_table_end(e);
	tare_emit_table(e, "classes", NULL, TARE_COLUMNS(class_columns));
	show_each(e, ask, add_classes);
	tare_emit_table_end(e);
}
