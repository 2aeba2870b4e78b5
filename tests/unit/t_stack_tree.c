/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "view/stack_tree.h"

#include <string.h>

enum { MOST = 8 };

/* Rows of one column, each a text of frames with " < " between, and its bytes. */
struct world {
	struct tare_ledger ledger;
	struct tare_ledger_line lines[MOST];
	uint32_t ends[MOST][MOST];
	struct tare_by_row rows[MOST];
	struct tare_stack_tree tree;
	int nr;
};

static void add(struct world *w, const char *stack, int64_t bytes, int column)
{
	struct tare_ledger_line *l = &w->lines[w->nr];
	const char *end = stack;

	l->stack = l->short_stack = stack;
	l->frame_ends = l->short_frame_ends = w->ends[w->nr];
	while (*end) {
		const char *next = strstr(end, " < ");

		w->ends[w->nr][l->frame_nr++] = (uint32_t)(next ? next - stack : (long)strlen(stack));
		end = next ? next + 3 : stack + strlen(stack);
	}
	w->rows[w->nr] = (struct tare_by_row){ .ledger = &w->ledger, .label = stack, .line = l, .bytes = bytes };
	tare_stack_tree_add(&w->tree, &w->rows[w->nr], column);
	w->nr++;
}

static void show(void *arg, const char *label, const struct tare_by_row *sums, struct tare_row_look look)
{
	struct tare_str *out = arg;

	tare_str_addf(out, "%zu %s", look.level, label);
	for (int i = 0; sums && i < 2; i++)
		tare_str_addf(out, " %lld", (long long)(sums[i].bytes >> 20));
	tare_str_add(out, "\n");
}

/* Were frames left out? */
static bool tree_of(struct world *w, const char *expected)
{
	struct tare_str out = { 0 };
	bool leaves_out = w->tree.leaves_out;

	tare_stack_tree_show(&w->tree, show, &out);
	CHECK_STR(tare_str_text(&out), expected);
	tare_str_free(&out);
	tare_stack_tree_free(&w->tree);
	return leaves_out;
}

static void check_tree(struct world *w, const char *expected)
{
	CHECK(!tree_of(w, expected));
}

#define MIB(N) ((int64_t)(N) << 20)

TEST(callers_of_one_function_are_below_it)
{
	struct world w = { .tree.column_nr = 2 };

	add(&w, "ask < images < run < main", MIB(1), 0);
	add(&w, "ask < texts < run < main", MIB(2), 0);
	add(&w, "ask < texts < run < main", MIB(5), 1);
	add(&w, "load < main", MIB(4), 0);
	check_tree(&w, "1 ask 3 5\n"
	               "2 texts 2 5\n"
	               "3 run\n3 main\n"
	               "2 images 1 0\n"
	               "3 run\n3 main\n"
	               "1 load 4 0\n"
	               "2 main\n");
}

/* A stack that ends where others go on is in the sum of their row, and has none of its own. */
TEST(stacks_that_end_inside_others)
{
	struct world w = { .tree.column_nr = 2 };

	add(&w, "walk", MIB(1), 0);
	add(&w, "walk < walk", MIB(2), 0);
	add(&w, "walk < walk < main", MIB(4), 0);
	check_tree(&w, "1 walk 7 0\n"
	               "2 walk 6 0\n"
	               "3 main 4 0\n");
}

TEST(what_shows_as_nothing_is_one_row)
{
	struct world w = { .tree.column_nr = 2 };

	add(&w, "a < main", 1000, 0);
	add(&w, "b < main", 1000, 0);
	add(&w, "c < main", MIB(1), 0);
	check_tree(&w, "1 c 1 0\n"
	               "2 main\n"
	               "1 2 smaller ones 0 0\n");
	w = (struct world){ .tree.column_nr = 2 };
	add(&w, "a < main", 1000, 0);
	check_tree(&w, "1 a 0 0\n"
	               "2 main\n");
}

/* Of a large tree 3 MiB are nothing to act on. */
TEST(what_is_a_small_part_of_all_is_one_row)
{
	struct world w = { .tree.column_nr = 2 };

	add(&w, "a < main", MIB(1900), 0);
	add(&w, "b < main", MIB(4), 0);
	add(&w, "c < main", MIB(3), 0);
	add(&w, "d < main", MIB(3), 1);
	check_tree(&w, "1 a 1900 0\n2 main\n"
	               "1 b 4 0\n2 main\n"
	               "1 2 smaller ones 3 3\n");
}

/* The frames of a model's call in PyTorch tell nothing, unless there is nothing else; a function of the program's own does. */
TEST(frames_that_pass_a_call_on_are_left_out)
{
#define CALL   "/usr/lib/python3/dist-packages/torch/nn/modules/module.py:1501 in _call_impl"
#define IMPORT "<frozen importlib._bootstrap>:241 in _call_with_frames_removed"
	struct world w = { .tree.column_nr = 2 };

	add(&w, "conv < " CALL " < forward < " CALL " < <frozen runpy>:88 in _run_code", MIB(1), 0);
	add(&w, "fc < /home/me/train.py:3 in _call_impl", MIB(2), 0);
	CHECK(tree_of(&w, "1 fc 2 0\n2 /home/me/train.py:3 in _call_impl\n"
	                  "1 conv 1 0\n2 forward\n"));
	w = (struct world){ .tree.column_nr = 2 };
	add(&w, CALL, MIB(1), 0);
	CHECK(!tree_of(&w, "1 " CALL " 1 0\n"));
	/* Where stacks part at such a frame, too: what is imported by two of them has the rows of those who import. */
	w = (struct world){ .tree.column_nr = 2 };
	add(&w, IMPORT " < a < main", MIB(1), 0);
	add(&w, IMPORT " < b < main", MIB(2), 0);
	add(&w, "load < " IMPORT " < a < main", MIB(4), 0);
	add(&w, "load < " CALL " < a < main", MIB(8), 0);
	CHECK(tree_of(&w, "1 load 12 0\n2 a\n2 main\n"
	                  "1 b 2 0\n2 main\n"
	                  "1 a 1 0\n2 main\n"));
#undef CALL
#undef IMPORT
}

/* Names that only differ behind a space or a bracket are not taken for frames of each other. */
TEST(frames_are_compared_one_by_one)
{
	struct world w = { .tree.column_nr = 2 };

	add(&w, "a", MIB(1), 0);
	add(&w, "a < z", MIB(2), 0);
	add(&w, "a b < z", MIB(4), 0);
	add(&w, "a  b", MIB(8), 0);
	check_tree(&w, "1 a  b 8 0\n"
	               "1 a b 4 0\n2 z\n"
	               "1 a 3 0\n2 z 2 0\n");
}
