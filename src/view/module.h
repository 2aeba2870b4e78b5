/* SPDX-License-Identifier: Apache-2.0 */
/* What modules (torch.nn.Module) hold: the tensors of one memory at one instant, by whose they are. */
#ifndef TARE_VIEW_MODULE_H
#define TARE_VIEW_MODULE_H

#include "base/map.h"
#include "ledger/ledger.h"

struct tare_module_sum {
	int64_t bytes, of[TARE_CATEGORY_NR];
	uint64_t count;
};

struct tare_module_node {
	const struct tare_module_row *row; /* NULL: tensors of no module */
	struct tare_module_sum own, all;   /* all: with what is in it */
	size_t parent;                     /* 1 + place, 0: none */
	size_t depth;
	bool is_of_backward; /* no module: made in a backward pass */
	size_t times;        /* module_fold.c: it stands for so many that are equal, 0: not folded … */
	const char *last;    /* … up to that name; or NULL */
};

/* A parent stands before what is in it; those of no module come last. */
struct tare_module_tree {
	struct tare_module_node *items;
	size_t count, cap;
	struct tare_module_sum all;
};

/* The modules of one class together. */
struct tare_module_class {
	const char *name;
	uint64_t modules;
	struct tare_module_sum own;
};

struct tare_module_classes {
	struct tare_module_class *items; /* the largest first */
	size_t count, cap;
};

void tare_module_tree_build(struct tare_module_tree *tree, const struct tare_tensor_rows *rows);
/* The same with equal modules in one node; `parent` is of the tree that was folded. Is freed as one, before that. */
void tare_module_tree_fold(struct tare_module_tree *out, const struct tare_module_tree *tree);
void tare_module_tree_free(struct tare_module_tree *tree);
void tare_module_classes_build(struct tare_module_classes *out, const struct tare_module_tree *tree);
void tare_module_classes_free(struct tare_module_classes *classes);

#endif
