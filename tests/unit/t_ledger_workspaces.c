/* SPDX-License-Identifier: Apache-2.0 */
/* What a program or a backward pass made beside tensors, and when it is known for that. */
#include "host_training.h"
#include "test.h"

#include <string.h>

/* Made by a module, and no object of Python has it: the workspace of a library. */
TEST(categories_workspaces_are_unseen)
{
	struct world *w = training(1);

	forward(w);
	make(w, 0x100, GRAD, linear);
	step(w, false);
	end_step(w);
	world_sweep(w, ++now * MS, 0);
	for (int i = 0; i < 3; i++) {
		forward(w);
		step(w, false);
		end_step(w);
	}
	CHECK_RULE(w, 0x100, "unseen");
	world_free(w);
}

/* Gradients that are kept, and not all of them could be asked for yet. */
TEST(categories_a_sweep_without_gradients_makes_none_a_workspace)
{
	struct world *w = training(1);

	make(w, 0x100, IN_BACKWARD, backward);
	world_probe(w, ++now * MS, TARE_SCANNED_PARAMETER, 0xa0, 0xaa, "a", 0);
	world_probe(w, now * MS + 1, TARE_SCANNED_PARAMETER, 0xb0, 0xaa, "b", 0);
	world_probe(w, now * MS + 2, TARE_SCANNED_GRADIENT, 0xc0, 0xa0, NULL, 0);
	world_sweep(w, now * MS + 3, 0);
	for (int i = 0; i < 3; i++) {
		forward(w);
		step(w, false);
		end_step(w);
	}
	CHECK_RULE(w, 0x100, "gradient");
	world_probe(w, ++now * MS, TARE_SCANNED_PARAMETER, 0xa0, 0xaa, "a", 0);
	world_probe(w, now * MS + 2, TARE_SCANNED_GRADIENT, 0xc0, 0xa0, NULL, 0);
	world_sweep(w, now * MS + 3, 0);
	forward(w);
	CHECK_RULE(w, 0x100, "unseen");
	world_free(w);
}

/* One parameter has no gradient, and those of all tensors are told. */
TEST(categories_a_sweep_of_all_gradients_knows_a_workspace)
{
	struct world *w = training(1);

	make(w, 0x100, IN_BACKWARD, backward);
	world_probe(w, ++now * MS, TARE_SCANNED_PARAMETER, 0xa0, 0xaa, "a", 0);
	world_sweep(w, now * MS + 3, TARE_SCAN_GRADIENTS);
	for (int i = 0; i < 3; i++) {
		forward(w);
		step(w, false);
		end_step(w);
	}
	CHECK_RULE(w, 0x100, "unseen");
	world_free(w);
}

/* ---- workspaces that a backward pass left ---- */

enum { WEIGHT = 0x11000, BIAS = 0x12000, HEAD = 0x13000, SPACE = 0x14000 };

/* One that makes gradients where there are none. */
static void pass(struct world *w, bool has_space, bool has_gradients)
{
	forward(w);
	if (has_space)
		make(w, SPACE, IN_BACKWARD, backward);
	make(w, PASSING, IN_BACKWARD, backward);
	for (uint64_t at = WEIGHT; has_gradients && at <= HEAD; at += BIAS - WEIGHT)
		make(w, at, IN_BACKWARD, backward);
	take(w, PASSING, IN_BACKWARD);
	take(w, OUT, IN_BACKWARD);
	take(w, X, 0);
	take(w, LOSS, 0);
}

static void zero_grad(struct world *w, uint64_t last)
{
	for (uint64_t at = WEIGHT; at <= last; at += BIAS - WEIGHT)
		take(w, at, 0);
}

TEST(categories_workspaces_stay_when_gradients_go)
{
	struct world *w = world_new();
	int64_t first, last;

	now = 0;
	pass(w, true, true);
	first = now;
	zero_grad(w, HEAD);
	pass(w, false, true);
	CHECK_STR(rule_at(w, first, SPACE), "gradient"); /* nothing is sure yet */
	zero_grad(w, HEAD);
	pass(w, false, true);
	last = now;
	CHECK_STR(rule_at(w, first, SPACE), "stayed");
	CHECK_STR(rule_at(w, first, WEIGHT), "gradient");
	CHECK_STR(rule_at(w, last, SPACE), "stayed");
	CHECK_STR(rule_at(w, last, HEAD), "gradient");
	take(w, SPACE, 0); /* also where the program's end takes it */
	CHECK_STR(rule_at(w, first, SPACE), "stayed");
	world_free(w);
}

TEST(categories_a_workspace_that_stayed_outlives_a_state)
{
	struct world *w = world_new();
	struct tare_ledger l;
	int64_t cut;

	now = 0;
	for (int i = 0; i < 3; i++) {
		pass(w, i == 0, true);
		cut = now;
		zero_grad(w, HEAD);
	}
	pass(w, false, true);
	l = world_ledger_from_state(w, cut * MS, "end");
	CHECK_STR(rule_in(&l, SPACE), "stayed");
	l = world_ledger_from_state(w, cut * MS, "end");
	CHECK_STR(rule_in(&l, HEAD), "gradient");
	world_free(w);
}

/* Gradients are made by the first of several passes. */
TEST(categories_workspaces_where_gradients_accumulate)
{
	struct world *w = world_new();
	int64_t at_third = 0;

	now = 0;
	for (int i = 0; i < 12; i++) {
		pass(w, i == 0, i % 4 == 0);
		if (i == 2) {
			at_third = now;
			CHECK_STR(rule_at(w, now, WEIGHT), "gradient");
		}
		if (i % 4 == 3)
			zero_grad(w, HEAD);
	}
	CHECK_STR(rule_at(w, at_third, SPACE), "stayed");
	CHECK_STR(rule_at(w, at_third, WEIGHT), "gradient");
	CHECK_STR(rule_at(w, at_third, HEAD), "gradient");
	world_free(w);
}

TEST(categories_gradients_that_never_go_stay_gradients)
{
	struct world *w = world_new();

	now = 0;
	for (int i = 0; i < 6; i++)
		pass(w, i == 0, i == 0);
	CHECK_RULE(w, WEIGHT, "gradient");
	CHECK_RULE(w, HEAD, "gradient");
	CHECK_RULE(w, SPACE, "gradient"); /* nothing tells it from them */
	world_free(w);
}

TEST(categories_gradients_stay_when_few_of_them_go)
{
	struct world *w = world_new();

	now = 0;
	pass(w, true, true);
	zero_grad(w, BIAS); /* two of four are not most */
	for (int i = 0; i < 4; i++)
		pass(w, false, false);
	CHECK_RULE(w, HEAD, "gradient");
	CHECK_RULE(w, SPACE, "gradient");
	world_free(w);
}

/* Of a parameter that the optimizer was told to leave: the line made such gradients before. */
TEST(categories_the_last_gradient_of_a_frozen_parameter)
{
	struct world *w = world_new();

	now = 0;
	pass(w, true, true);
	zero_grad(w, HEAD);
	pass(w, false, true);
	zero_grad(w, BIAS);
	for (int i = 0; i < 4; i++)
		pass(w, false, false);
	CHECK_RULE(w, HEAD, "gradient");
	CHECK_RULE(w, SPACE, "stayed");
	world_free(w);
}

/* Python holds it as a tensor: no library's. */
TEST(categories_what_python_kept_of_a_backward_pass_is_no_workspace)
{
	struct world *w = world_new();

	now = 0;
	pass(w, true, true);
	world_probe(w, ++now * MS, TARE_SCANNED_TENSOR, SPACE, 0, NULL, TARE_SCANNED_LEAF);
	world_sweep(w, now * MS + 1, 0);
	zero_grad(w, HEAD);
	for (int i = 0; i < 4; i++)
		pass(w, false, false);
	CHECK_RULE(w, SPACE, "gradient");
	world_free(w);
}

/* A look that was cut short has not seen everything. */
TEST(categories_a_cut_sweep_makes_no_workspaces)
{
	struct world *w = training(1);

	forward(w);
	make(w, 0x100, GRAD, linear);
	world_sweep(w, ++now * MS, TARE_SCAN_CUT);
	for (int i = 0; i < 3; i++) {
		step(w, false);
		end_step(w);
		forward(w);
	}
	CHECK_RULE(w, 0x100, "lasting");
	world_free(w);
}

/* Batches that another thread makes do not end a forward. */
TEST(categories_threads_beside_do_not_tell)
{
	struct world *w = training(2);

	make(w, X, 0, program);
	make(w, OUT, GRAD, linear);
	make(w, INNER, GRAD, relu);
	world_block(w,
	            (struct world_block){
					.is_host = true, .t = ++now * MS, .block = 0x100, .bytes = 5, .tid = 2, .frames = { program[0] } });
	take(w, INNER, 0);
	CHECK_STR(rule_at(w, now - 1, INNER), "inner");
	world_free(w);
}
