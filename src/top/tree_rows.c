/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the tree, and how much each had over time. */
#include "top/tree_private.h"

#include "base/array.h"

#include <stdlib.h>

const char *tare_top_kind_name(enum tare_top_kind kind)
{
	static const char *const names[] = {
		[TARE_TOP_GPU] = "gpu",           [TARE_TOP_CPU] = "cpu",       [TARE_TOP_PROCESS] = "process",
		[TARE_TOP_PART] = "account",      [TARE_TOP_LISTED] = "listed", [TARE_TOP_UNEXPLAINED] = "unexplained",
		[TARE_TOP_LEFT_OUT] = "left_out", [TARE_TOP_LINES] = "lines",   [TARE_TOP_LINE] = "line",
		[TARE_TOP_RESERVED] = "reserved", [TARE_TOP_FREE] = "free",
	};

	return names[kind];
}

static uint64_t mix(uint64_t key, const char *text)
{
	for (; *text; text++)
		key = (key ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return key ? key : 1;
}

struct tare_top_row *tare_top_add(struct tare_top_tree *tree, int parent, enum tare_top_kind kind, const char *label,
                                  const char *name)
{
	uint64_t above = parent < 0 ? UINT64_C(0xcbf29ce484222325) : tree->rows[parent].key;
	struct tare_top_row *row;

	row = &TARE_APPEND(tree->rows, tree->count, tree->cap);
	*row = (struct tare_top_row){
		.kind = kind,
		.label = tare_arena_strdup(&tree->memory, label),
		.evidence = "",
		.parent = parent,
		.level = parent < 0 ? 0 : tree->rows[parent].level + 1,
		.key = mix(above * 31 + (uint64_t)kind, name),
		.total = -1,
		.pid = -1,
		.gpu = parent < 0 ? -1 : tree->rows[parent].gpu,
	};
	if (parent >= 0)
		tree->rows[parent].has_children = true;
	return row;
}

void tare_top_set(struct tare_top_row *row, int64_t bytes, const char *evidence, bool is_part)
{
	row->bytes = bytes;
	row->is_known = true;
	row->evidence = evidence;
	row->is_part = is_part;
}

struct tare_top_course *tare_top_course_of(struct tare_top_tree *tree, uint64_t key)
{
	bool is_new;
	uint64_t *slot = tare_map_put(&tree->courses, key, &is_new);
	struct tare_top_course *c;

	if (is_new)
		*slot = (uint64_t)(uintptr_t)tare_xcalloc(1, sizeof(*c));
	c = (struct tare_top_course *)(uintptr_t)*slot;
	c->turn = tree->turn;
	return c;
}

/* Of what has not been there for as long as a course reaches. */
void tare_top_forget_courses(struct tare_top_tree *tree, bool all)
{
	const struct tare_map_slot *slot;
	struct tare_map kept = { 0 };

	for (size_t at = 0; (slot = tare_map_next(&tree->courses, &at));) {
		struct tare_top_course *c = (struct tare_top_course *)(uintptr_t)slot->value;

		if (!all && tree->turn - c->turn < TARE_COURSE_SECONDS)
			*tare_map_put(&kept, slot->key, NULL) = slot->value;
		else
			free(c);
	}
	tare_map_free(&tree->courses);
	tree->courses = kept;
}

int64_t tare_top_parts(const struct tare_top_tree *tree, int parent)
{
	int64_t sum = 0;

	for (size_t i = (size_t)parent + 1; i < tree->count; i++)
		if (tree->rows[i].parent == parent && tree->rows[i].is_part)
			sum += tree->rows[i].bytes;
	return sum;
}
