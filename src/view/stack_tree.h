/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks for people, as a tree: innermost frames first, below each those who called it. Frames that have only one caller
 * follow each other on one level, so how far the tree goes to the right tells where stacks part.
 */
#ifndef TARE_VIEW_STACK_TREE_H
#define TARE_VIEW_STACK_TREE_H

#include "view/by.h"

struct tare_stack_tree {
	struct tare_stack_item *items;
	size_t count, cap;
	int column_nr; /* sums of each frame: one for each instant */
	bool
		leaves_out; /* frames that only pass a call on: they are in no row, and what they called is below who called them */
};

/* The row, which lives as long as the tree, counts in this column. */
void tare_stack_tree_add(struct tare_stack_tree *tree, const struct tare_by_row *row, int column);

/*
 * Shows one row of the tree: `sums` has what all stacks through this frame hold together, for each column, or is NULL where
 * that is the same as in the row above.
 */
typedef void tare_stack_tree_row(void *arg, const char *label, const struct tare_by_row *sums,
                                 struct tare_row_look look);

/*
 * Rows from the heaviest to the lightest. What shows as nothing, or is less than a five hundredth of all, is counted in one row,
 * "3 smaller ones".
 */
void tare_stack_tree_show(struct tare_stack_tree *tree, tare_stack_tree_row *show, void *arg);
/* Behind the table: that frames are left out. */
void tare_stack_tree_note(struct tare_emit *e, bool leaves_out);
void tare_stack_tree_free(struct tare_stack_tree *tree);

#endif
