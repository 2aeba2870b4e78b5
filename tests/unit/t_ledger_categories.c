/* SPDX-License-Identifier: Apache-2.0 */
/* What tensors are for: every rule of category.def, on tensors in the memory of the CPU. */
#include "host_training.h"
#include "test.h"

#include <string.h>

TEST(categories_of_a_step_of_training)
{
	struct world *w = training(2);
	int64_t forward_at, backward_at, step_at;

	make(w, X, 0, program);
	make(w, OUT, GRAD, linear);
	make(w, INNER, GRAD, relu);
	forward_at = now;
	take(w, INNER, 0);
	make(w, LOSS, GRAD, loss);
	make(w, GRADIENT, IN_BACKWARD, backward);
	make(w, PASSING, IN_BACKWARD, backward);
	backward_at = now;
	take(w, OUT, IN_BACKWARD);
	take(w, PASSING, IN_BACKWARD);
	make(w, SCRATCH, 0, adam);
	step_at = now;
	take(w, SCRATCH, 0);
	end_step(w);
	forward(w);
	CHECK_STR(rule_at(w, forward_at, X), "given");
	CHECK_STR(rule_at(w, forward_at, OUT), "saved");
	CHECK_STR(rule_at(w, forward_at, INNER), "inner");
	CHECK_STR(rule_at(w, backward_at, LOSS), "loss");
	CHECK_STR(rule_at(w, backward_at, GRADIENT), "gradient");
	CHECK_STR(rule_at(w, backward_at, PASSING), "backward");
	CHECK_STR(rule_at(w, step_at, STATE), "state");
	CHECK_STR(rule_at(w, step_at, SCRATCH), "scratch");
	CHECK_INT(world_reached_further(), 0);
	world_free(w);
}

/* It only says that it was called, by a block that is gone at once; an optimizer's step that calls it is at work. */
TEST(categories_zero_grad_is_no_step_of_an_optimizer)
{
	static const struct tare_line profiled = { "/x/torch/autograd/profiler.py", "__enter__", 490 };
	static const struct tare_line zero = { "/x/torch/optim/optimizer.py", "zero_grad", 276 };
	const struct tare_line alone[] = { profiled, zero, program[0], { 0 } };
	const struct tare_line inside[] = { profiled, zero, loss[1], adam[0], program[0], { 0 } };
	struct world *w = training(2);

	make(w, 0x100, 0, alone);
	take(w, 0x100, 0);
	CHECK_STR(rule_at(w, now - 1, 0x100), "passing");
	make(w, 0x200, 0, inside);
	take(w, 0x200, 0);
	CHECK_STR(rule_at(w, now - 1, 0x200), "scratch");
	world_free(w);
}

/* A program that is killed: what would have gone at once is there still. */
TEST(categories_of_a_program_that_was_killed)
{
	struct world *w = training(3);

	make(w, X, 0, program);
	make(w, OUT, GRAD, linear);
	make(w, INNER, GRAD, relu);
	CHECK_RULE(w, INNER, "inner");
	CHECK_RULE(w, OUT, "output"); /* nobody knows what will take it back */
	take(w, INNER, 0);
	make(w, LOSS, GRAD, loss);
	make(w, GRADIENT, IN_BACKWARD, backward);
	make(w, PASSING, IN_BACKWARD, backward);
	CHECK_RULE(w, PASSING, "backward");
	CHECK_RULE(w, GRADIENT, "gradient");
	take(w, OUT, IN_BACKWARD);
	take(w, PASSING, IN_BACKWARD);
	make(w, SCRATCH, 0, adam);
	CHECK_RULE(w, SCRATCH, "scratch");
	CHECK_RULE(w, STATE, "state");
	take(w, SCRATCH, 0);
	make(w, SCRATCH, 0, adam); /* one more than in the step before: that is none of those */
	CHECK_RULE(w, SCRATCH, "state");
	world_free(w);
}

/* Nobody makes anything between the backward pass and zero_grad() where SGD keeps nothing. */
TEST(categories_gradient_that_goes_before_anything_is_made)
{
	struct world *w = world_new();

	now = 0;
	forward(w);
	make(w, GRADIENT, IN_BACKWARD, backward);
	take(w, GRADIENT, 0);
	CHECK_STR(rule_at(w, now - 1, GRADIENT), "gradient");
	world_free(w);
}

TEST(categories_at_a_peak_come_from_what_happened_later)
{
	struct world *w = training(3);
	struct tare_ledger l = world_ledger(w, "peak:host");
	bool is_seen = false;

	for (int i = 0; i < l.hosts[0].blocks.count; i++) {
		const struct tare_tensor_row *t = &l.hosts[0].blocks.items[i];

		is_seen |= t->bytes == 1000 + OUT;
		if (t->bytes == 1000 + OUT)
			CHECK_STR(tare_rules[t->rule].name, "saved");
		if (t->bytes == 1000 + PASSING)
			CHECK_STR(tare_rules[t->rule].name, "backward");
	}
	CHECK(is_seen);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(categories_what_lasts_is_state_of_the_program)
{
	struct world *w = world_new();

	now = 0;
	make(w, CHEAP, 0, program);
	for (int i = 0; i < 3; i++) {
		forward(w);
		step(w, i == 0);
		end_step(w);
	}
	CHECK_RULE(w, CHEAP, "lasting");
	world_free(w);
}

/* At `line` of the program a model is called while autograd records; `nr` blocks are left of each call. */
static void evaluate(struct world *w, int line, uint64_t at, int nr)
{
	const struct tare_line frames[] = { { NN "linear.py", "forward", 114 },
		                                { NN "module.py", "_call_impl", 1190 },
		                                { "train.py", "evaluate", line },
		                                { 0 } };

	for (int i = 0; i < nr; i++)
		make(w, at + 0x10 * (uint64_t)i, GRAD, frames);
}

static void train_steps(struct world *w, int nr)
{
	for (int i = 0; i < nr; i++) {
		forward(w);
		step(w, false);
		end_step(w);
	}
}

/* A loss that an evaluation keeps holds all that its forward would need to go backwards. */
TEST(categories_what_a_forward_leaves_that_nothing_takes_back)
{
	enum { FIRST = 0x10000, SECOND = 0x20000, FEW = 0x30000 };
	struct world *w = training(2);
	struct tare_ledger l;

	evaluate(w, 20, FIRST, 4);
	CHECK_RULE(w, FIRST, "output"); /* it may be taken back yet */
	train_steps(w, 3);
	CHECK_RULE(w, FIRST, "lasting"); /* few: it may be a library's */
	evaluate(w, 20, SECOND, 4);
	evaluate(w, 21, FEW, 3);
	train_steps(w, 3);
	CHECK_RULE(w, FIRST, "retained");
	CHECK_RULE(w, SECOND, "retained");
	CHECK_RULE(w, FEW, "lasting");
	l = world_ledger(w, "end");
	CHECK_STR(rule_in(&l, SECOND), "retained");
	tare_ledger_free(&l);
	world_free(w);
}

/* The same where one call of the line was trained on: it may be a state that the next steps go on from. */
TEST(categories_what_a_forward_leaves_that_is_trained_on)
{
	enum { LEFT = 0x10000, TAKEN = 0x20000 };
	struct world *w = training(2);

	evaluate(w, 20, LEFT, 8);
	evaluate(w, 20, TAKEN, 1);
	take(w, TAKEN, IN_BACKWARD);
	train_steps(w, 3);
	CHECK_RULE(w, LEFT, "lasting");
	world_free(w);
}

/* Features of a network that is not trained: results stay, and nothing of what made them. */
TEST(categories_results_of_what_is_not_trained)
{
	enum { RESULT = 0x10000, INSIDE = 0x20000 };
	struct world *w = training(2);

	for (int i = 0; i < 9; i++) {
		evaluate(w, 20, INSIDE, 5);
		for (int k = 0; k < 5; k++)
			take(w, INSIDE + 0x10 * (uint64_t)k, 0);
		evaluate(w, 20, RESULT + 0x100 * (uint64_t)i, 1);
	}
	train_steps(w, 3);
	CHECK_RULE(w, RESULT, "lasting");
	world_free(w);
}

/* One batch for all steps is input; what is made later, or nobody holds, is kept by the program. */
TEST(categories_a_batch_that_is_fed_to_every_step)
{
	struct world *w = world_new();
	int64_t first;

	now = 0;
	make(w, 0x100, 0, program);
	make(w, 0x200, 0, program);
	make(w, 0x300, 0, program);
	forward(w);
	first = now;
	step(w, true);
	end_step(w);
	make(w, 0x400, 0, program);
	world_probe(w, ++now * MS, TARE_SCANNED_TENSOR, 0x100, 0, NULL, TARE_SCANNED_LEAF);
	world_probe(w, now * MS + 1, TARE_SCANNED_TENSOR, 0x200, 0, NULL, TARE_SCANNED_LEAF | TARE_SCANNED_REQUIRES_GRAD);
	world_probe(w, now * MS + 2, TARE_SCANNED_TENSOR, 0x400, 0, NULL, TARE_SCANNED_LEAF);
	world_sweep(w, now * MS + 3, 0);
	for (int i = 0; i < 3; i++) {
		forward(w);
		step(w, false);
		end_step(w);
	}
	CHECK_RULE(w, 0x100, "fed");
	CHECK_STR(rule_at(w, first, 0x100), "fed"); /* before any sweep */
	CHECK_STR(rule_at(w, first, X), "given");
	CHECK_RULE(w, 0x200, "leaf");
	CHECK_RULE(w, 0x300, "lasting");
	CHECK_RULE(w, 0x400, "lasting");
	world_free(w);
}

/* A forward to try, without a backward pass: what comes then is no loss of it, for it is fed to the next one. */
TEST(categories_a_batch_after_a_forward_without_a_backward_pass)
{
	struct world *w = world_new();
	int64_t tried, trained;

	now = 0;
	forward(w);
	tried = now;
	take(w, OUT, 0);
	take(w, LOSS, 0);
	make(w, 0x100, GRAD, program);
	make(w, OUT, GRAD, linear);
	make(w, LOSS, GRAD, loss);
	trained = now;
	step(w, false);
	take(w, X, 0);
	make(w, X, 0, program); /* the next batch is made before the last one goes */
	take(w, 0x100, 0);
	CHECK_STR(rule_at(w, tried, X), "given");
	CHECK_STR(rule_at(w, trained, 0x100), "given");
	CHECK_STR(rule_at(w, trained, LOSS), "loss");
	world_free(w);
}

TEST(categories_by_where_they_are_made)
{
	struct world *w = world_new();

	now = 0;
	make(w, 0x100, GRAD, init);
	make(w, 0x200, 0, loader);
	make(w, 0x300, 0, reduce);
	forward(w);
	make(w, 0x400, IN_BACKWARD | GRAD, recompute);
	take(w, 0x400, IN_BACKWARD);
	make(w, GRADIENT, IN_BACKWARD, backward);
	CHECK_RULE(w, 0x100, "built");
	CHECK_RULE(w, 0x200, "batch");
	CHECK_RULE(w, 0x300, "communication");
	CHECK_STR(rule_at(w, now - 2, 0x400), "recomputed");
	make(w, 0x500, 0, init);
	take(w, 0x500, 0);
	CHECK_STR(rule_at(w, now - 1, 0x500), "building");
	make(w, 0x600, 0, program);
	take(w, 0x600, 0);
	CHECK_STR(rule_at(w, now - 1, 0x600), "passing");
	world_free(w);
}

/* No look at the program's objects has told of a module: the weights of a server are known by what loads its model, its cache is none. */
TEST(categories_of_servers_that_end_early)
{
	static const struct tare_line loaders[][5] = {
		{ { "/x/sglang/srt/layers/quantization/unquant.py", "create_weights", 119 },
		  { "/x/sglang/srt/layers/linear.py", "__init__", 364 },
		  { "/x/sglang/srt/models/llama.py", "__init__", 71 },
		  { "/x/sglang/srt/model_loader/loader.py", "_initialize_model", 299 } },
		{ { "/x/vllm/model_executor/layers/linear.py", "create_weights", 214 },
		  { "/x/vllm/model_executor/layers/linear.py", "__init__", 411 },
		  { "/x/vllm/model_executor/models/llama.py", "__init__", 77 },
		  { "/x/vllm/model_executor/model_loader/utils.py", "initialize_model", 61 } },
	};
	static const struct tare_line cache[] = { { "/x/sglang/srt/mem_cache/memory_pool.py", "_create_buffers", 640 },
		                                      { "/x/sglang/srt/model_executor/model_runner.py", "init_memory_pool",
		                                        1200 },
		                                      { 0 } };

	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
		struct world *w = world_new();

		now = 0;
		make(w, 0x100, 0, loaders[i]);
		make(w, 0x500, 0, loaders[i]);
		take(w, 0x500, 0);
		make(w, 0x200, 0, cache);
		CHECK_RULE(w, 0x100, "built");
		CHECK_STR(rule_at(w, 2, 0x500), "building");
		CHECK_RULE(w, 0x200, "lasting");
		world_free(w);
	}
}

/* Without autograd an output is what outlives the call of its module. */
TEST(categories_of_inference)
{
	struct world *w = world_new();
	int64_t first;

	now = 0;
	make(w, X, 0, program);
	make(w, OUT, 0, linear);
	make(w, INNER, 0, linear);
	first = now;
	take(w, INNER, 0);
	make(w, PASSING, 0, relu); /* another module: that of OUT is over */
	take(w, OUT, 0);
	CHECK_STR(rule_at(w, first, OUT), "output");
	CHECK_STR(rule_at(w, first, INNER), "inner");
	CHECK_STR(rule_at(w, first, X), "given");
	world_free(w);
}

/* The program's own objects have the last word. */
TEST(categories_and_names_that_the_program_says)
{
	struct world *w = world_new();
	struct tare_ledger l;
	static const struct {
		int64_t bytes;
		const char *name, *rule;
	} wanted[] = {
		{ 1000 + 0x700, "layer.0.weight", "said-parameter" },
		{ 1000 + 0x600, "layer.0.mean", "said-buffer" },
		{ 1000 + 0x500, "gradient of layer.0.weight", "said-gradient" },
		{ 1000 + 0x400, "exp_avg of layer.0.weight", "said-state" },
		{ 1000 + 0x300, NULL, "leaf" },
		{ 1000 + 0x200, NULL, "result" },
	};

	now = 0;
	for (uint64_t at = 0x200; at <= 0x700; at += 0x100)
		make(w, at, at == 0x200 ? GRAD : 0, program);
	world_probe(w, ++now * MS, TARE_SCANNED_PARAMETER, 0x700, 0xaa, "weight", 0);
	world_probe(w, now * MS + 1, TARE_SCANNED_TENSOR, 0x700, 0, NULL, TARE_SCANNED_LEAF | TARE_SCANNED_REQUIRES_GRAD);
	world_probe(w, now * MS + 2, TARE_SCANNED_BUFFER, 0x600, 0xaa, "mean", 0);
	world_probe(w, now * MS + 3, TARE_SCANNED_GRADIENT, 0x500, 0x700, NULL, 0);
	world_probe(w, now * MS + 4, TARE_SCANNED_STATE, 0x400, 0x700, "exp_avg", 0);
	world_probe(w, now * MS + 5, TARE_SCANNED_TENSOR, 0x300, 0, NULL, TARE_SCANNED_LEAF | TARE_SCANNED_REQUIRES_GRAD);
	world_probe(w, now * MS + 6, TARE_SCANNED_TENSOR, 0x200, 0, NULL, TARE_SCANNED_REQUIRES_GRAD);
	world_probe(w, now * MS + 7, TARE_SCANNED_MODULE, 0xaa, 0xbb, "0", 0);
	world_probe(w, now * MS + 8, TARE_SCANNED_MODULE, 0xbb, 0xcc, "layer", 0);
	world_probe(w, now * MS + 9, TARE_SCANNED_MODULE, 0xcc, 0xcc, "itself", 0); /* a ring ends somewhere */
	world_sweep(w, now * MS + 10, 0);
	forward(w);
	l = world_ledger(w, "end");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		for (int k = 0; k < l.hosts[0].blocks.count; k++) {
			const struct tare_tensor_row *t = &l.hosts[0].blocks.items[k];

			if (t->bytes != wanted[i].bytes)
				continue;
			if (i >= 4)
				CHECK(!t->name);
			else
				CHECK(t->name && strstr(t->name, wanted[i].name));
			if (i != 4) /* a leaf is a parameter once it lasts, below */
				CHECK_STR(tare_rules[t->rule].name, wanted[i].rule);
		}
	tare_ledger_free(&l);
	for (int i = 0; i < 3; i++) {
		step(w, i == 0);
		end_step(w);
		forward(w);
	}
	CHECK_RULE(w, 0x300, "leaf");
	world_free(w);
}

/* What Python frees while it is taken down did not pass. */
TEST(categories_of_the_end_are_not_temporary)
{
	struct world *w = world_new();
	struct tare_ledger l;

	now = 0;
	make(w, 0x100, 0, program);
	take(w, 0x100, TARE_TENSOR_FINALIZING);
	world_end(w, 0, ++now * MS);
	l = world_ledger(w, "end");
	CHECK_INT(l.hosts[0].blocks.count, 1);
	CHECK_STR(tare_rules[l.hosts[0].blocks.items[0].rule].name, "lasting");
	tare_ledger_free(&l);
	world_free(w);
}

#define ADAM "/x/site-packages/torch/optim/adam.py"
static const struct tare_line first_adam[] = { { ADAM, "step", 141 }, { "train.py", "main", 14 }, { 0 } };
static const struct tare_line second_adam[] = { { ADAM, "step", 141 }, { "train.py", "main", 24 }, { 0 } };

static void train(struct world *w, const struct tare_line *optimizer)
{
	make(w, INNER, GRAD, relu);
	make(w, PASSING, IN_BACKWARD, backward);
	take(w, INNER, IN_BACKWARD);
	take(w, PASSING, IN_BACKWARD);
	make(w, SCRATCH, 0, optimizer);
	take(w, SCRATCH, 0);
}

/*
 * A GAN: what its generator makes lives through the backward passes of both networks, which is long until it is known that two
 * optimizers work in turn. world_ledger() compares tables and picture at moments all over the recording.
 */
TEST(categories_are_decided_when_all_is_known)
{
	enum { ROUNDS = 8, FAKE = 0x10000 };
	struct world *w = world_new();
	struct tare_ledger l;

	now = 0;
	for (int i = 0; i < ROUNDS; i++) {
		make(w, (uint64_t)FAKE * (uint64_t)(i + 1), GRAD, linear);
		if (i)
			take(w, (uint64_t)FAKE * (uint64_t)i, 0);
		train(w, first_adam);
		train(w, second_adam);
	}
	l = world_ledger(w, "5.5ms");
	CHECK_STR(rule_in(&l, FAKE), "output");
	world_free(w);
}

TEST(categories_each_rule_has_a_name_of_its_own)
{
	for (int i = 0; i < TARE_RULE_NR; i++)
		for (int k = 0; k < i; k++)
			CHECK(strcmp(tare_rules[i].name, tare_rules[k].name));
}
