/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal layers share a row: `0–11 × 12`. Equal are modules that stand one after another in a module, are numbered one after another, are of
 * one class, and have the same sizes, they and all that is in them. What one of them has in it stands once, with the sizes of all.
 */
#include "view/module.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* The nodes of a tree, a parent before what is in it; where what is in a node ends. */
static size_t end_of(const struct tare_module_tree *t, size_t i)
{
	size_t end = i + 1;

	while (end < t->count && t->items[end].depth > t->items[i].depth)
		end++;
	return end;
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool is_same_sum(const struct tare_module_sum *a, const struct tare_module_sum *b)
{
	return a->bytes == b->bytes && a->count == b->count && !memcmp(a->of, b->of, sizeof(a->of));
}

/* -1: its name is no number. */
static long number_of(const struct tare_module_node *n)
{
	const char *name = n->row && n->row->parent ? n->row->name : NULL;
	char *end;
	long number;

	if (!name || name[0] < '0' || name[0] > '9')
		return -1;
	number = strtol(name, &end, 10);
	return *end ? -1 : number;
}

static bool is_alike(const struct tare_module_node *a, const struct tare_module_node *b)
{
	return a->row && b->row && a->depth == b->depth && is_same_text(a->row->class, b->row->class) &&
	       is_same_sum(&a->own, &b->own) && is_same_sum(&a->all, &b->all);
}

/* Are the `count` nodes from a and from b the same, but for the number of the first? */
static bool are_equal(const struct tare_module_tree *t, size_t a, size_t b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tare_module_node *x = &t->items[a + i], *y = &t->items[b + i];

		if (!is_alike(x, y) || (i && !is_same_text(x->row->name, y->row->name)))
			return false;
	}
	return true;
}

/* How many modules from this one on are equal. */
static size_t equal_to(const struct tare_module_tree *t, size_t first)
{
	size_t count = end_of(t, first) - first, times = 1, next;
	long number = number_of(&t->items[first]);

	for (; number >= 0; times++) {
		next = first + times * count;
		if (next >= t->count || number_of(&t->items[next]) != number + (long)times || end_of(t, next) - next != count ||
		    !are_equal(t, first, next, count))
			break;
	}
	return times;
}

static void multiply(struct tare_module_sum *sum, int64_t by)
{
	sum->bytes *= by;
	sum->count *= (uint64_t)by;
	for (int c = 0; c < TARE_CATEGORY_NR; c++)
		sum->of[c] *= by;
}

static void take(struct tare_module_tree *out, const struct tare_module_node *from, size_t times, const char *last,
                 size_t of_all)
{
	struct tare_module_node *n;

	n = &TARE_APPEND(out->items, out->count, out->cap);
	*n = *from;
	n->times = times;
	n->last = last;
	multiply(&n->own, (int64_t)of_all);
	multiply(&n->all, (int64_t)of_all);
}

/* The modules from `i` to `end`, which stand for `times` as many. */
static void fold(struct tare_module_tree *out, const struct tare_module_tree *t, size_t i, size_t end, size_t times)
{
	while (i < end) {
		size_t inner = end_of(t, i), equal = equal_to(t, i);
		const struct tare_module_node *last = &t->items[i + (equal - 1) * (inner - i)];

		take(out, &t->items[i], equal, equal > 1 ? last->row->name : NULL, times * equal);
		fold(out, t, i + 1, inner, times * equal);
		i += equal * (inner - i);
	}
}

void tare_module_tree_fold(struct tare_module_tree *out, const struct tare_module_tree *tree)
{
	*out = (struct tare_module_tree){ .all = tree->all };
	fold(out, tree, 0, tree->count, 1);
}
