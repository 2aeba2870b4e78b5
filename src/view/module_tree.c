/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tree of modules, and that of their classes. */
#include "view/module.h"

#include "base/array.h"
#include "base/comparator.h"

#include <stdlib.h>
#include <string.h>

struct build {
	struct tare_module_tree *tree;
	struct tare_map of_row; /* row of the ledger → 1 + place */
	size_t none, backward;  /* 1 + place */
};

static void add(struct tare_module_sum *sum, const struct tare_module_sum *by)
{
	sum->bytes += by->bytes;
	sum->count += by->count;
	for (int c = 0; c < TARE_CATEGORY_NR; c++)
		sum->of[c] += by->of[c];
}

static size_t append(struct build *b, const struct tare_module_row *row, size_t parent)
{
	struct tare_module_tree *t = b->tree;

	t->items = tare_array_reserve(t->items, &t->cap, t->count + 1, sizeof(*t->items));
	t->items[t->count] = (struct tare_module_node){
		.row = row,
		.parent = parent,
		.depth = parent ? t->items[parent - 1].depth + 1 : 0,
	};
	return ++t->count;
}

/* The modules around a module are nodes, too, even if they hold nothing. */
static size_t place_of(struct build *b, const struct tare_module_row *row)
{
	uint64_t *known = tare_map_get(&b->of_row, (uint64_t)(uintptr_t)row);
	size_t place;

	if (known)
		return *known;
	place = append(b, row, row->parent ? place_of(b, row->parent) : 0);
	*tare_map_put(&b->of_row, (uint64_t)(uintptr_t)row, NULL) = place;
	return place;
}

static size_t place_of_tensor(struct build *b, const struct tare_tensor_row *t)
{
	size_t *place = t->is_of_backward ? &b->backward : &b->none;

	if (t->module)
		return place_of(b, t->module);
	if (!*place) {
		*place = append(b, NULL, 0);
		b->tree->items[*place - 1].is_of_backward = t->is_of_backward;
	}
	return *place;
}

/* ---- the order ---- */

/* `chain`: the modules around the node, the outermost first, and the node itself. */
static size_t chain_of(const struct tare_module_node *n, const struct tare_module_node *items,
                       const struct tare_module_node *chain[])
{
	size_t depth = n->depth;

	for (size_t i = depth + 1; i-- > 0; n = n->parent ? &items[n->parent - 1] : n)
		chain[i] = n;
	return depth;
}

static int beside(const struct tare_module_node *a, const struct tare_module_node *b)
{
	if (!a->row || !b->row)
		return a->row ? -1 : b->row ? 1 : (int)a->is_of_backward - (int)b->is_of_backward;
	if (a->depth && a->row->order != b->row->order)
		return a->row->order < b->row->order ? -1 : 1;
	if (a->all.bytes != b->all.bytes)
		return a->all.bytes < b->all.bytes ? 1 : -1;
	return a->row->number < b->row->number ? -1 : a->row->number > b->row->number;
}

enum { DEPTH_MAX = 130 };

static const struct tare_module_node *sorted; /* the nodes, while qsort() runs */

static int in_order(const void *a, const void *b)
{
	const struct tare_module_node *one[DEPTH_MAX], *other[DEPTH_MAX];
	size_t x = chain_of(&sorted[*(const size_t *)a], sorted, one);
	size_t y = chain_of(&sorted[*(const size_t *)b], sorted, other);

	for (size_t i = 0; i <= x && i <= y; i++)
		if (one[i] != other[i])
			return beside(one[i], other[i]);
	return x < y ? -1 : x > y;
}

static void sort(struct tare_module_tree *tree)
{
	size_t *order = tare_xcalloc(tree->count + 1, sizeof(*order));
	size_t *place = tare_xcalloc(tree->count + 1, sizeof(*place));
	struct tare_module_node *items = tare_xcalloc(tree->count + 1, sizeof(*items));

	for (size_t i = 0; i < tree->count; i++)
		order[i] = i;
	sorted = tree->items;
	TARE_SORT(order, tree->count, in_order);
	for (size_t i = 0; i < tree->count; i++)
		place[order[i]] = i + 1;
	for (size_t i = 0; i < tree->count; i++) {
		items[i] = tree->items[order[i]];
		if (items[i].parent)
			items[i].parent = place[items[i].parent - 1];
	}
	free(tree->items);
	free(order);
	free(place);
	tree->items = items;
	tree->cap = tree->count + 1;
}

/* ---- the tree ---- */

void tare_module_tree_build(struct tare_module_tree *tree, const struct tare_tensor_rows *rows)
{
	struct build b = { .tree = tree };

	*tree = (struct tare_module_tree){ 0 };
	for (int i = 0; i < rows->count; i++) {
		const struct tare_tensor_row *t = &rows->items[i];
		struct tare_module_sum by = { .bytes = t->bytes, .count = t->count };

		size_t place = place_of_tensor(&b, t); /* may move the items */

		by.of[tare_rules[t->rule].category] = t->bytes;
		add(&tree->items[place - 1].own, &by);
		add(&tree->all, &by);
	}
	tare_map_free(&b.of_row);
	for (size_t i = tree->count; i-- > 0;) { /* a parent was appended before what is in it */
		struct tare_module_node *n = &tree->items[i];

		add(&n->all, &n->own);
		if (n->parent)
			add(&tree->items[n->parent - 1].all, &n->all);
	}
	if (tree->count)
		sort(tree);
}

void tare_module_tree_free(struct tare_module_tree *tree)
{
	free(tree->items);
	*tree = (struct tare_module_tree){ 0 };
}

static struct tare_module_class *class_named(struct tare_module_classes *out, const char *name)
{
	for (size_t i = 0; i < out->count; i++)
		if (!strcmp(out->items[i].name, name))
			return &out->items[i];
	return TARE_ADD(out->items, out->count, out->cap, (struct tare_module_class){ .name = name });
}

TARE_COMPARATOR(by_bytes, struct tare_module_class, TARE_FALLING(own.bytes) TARE_ALPHABETIC(name))

void tare_module_classes_build(struct tare_module_classes *out, const struct tare_module_tree *tree)
{
	*out = (struct tare_module_classes){ 0 };
	for (size_t i = 0; i < tree->count; i++) {
		const struct tare_module_node *n = &tree->items[i];
		struct tare_module_class *class;

		if (!n->row || !n->own.count)
			continue;
		class = class_named(out, n->row->class ? n->row->class : "not known");
		class->modules++;
		add(&class->own, &n->own);
	}
	TARE_SORT(out->items, out->count, by_bytes);
}

void tare_module_classes_free(struct tare_module_classes *classes)
{
	free(classes->items);
	*classes = (struct tare_module_classes){ 0 };
}
