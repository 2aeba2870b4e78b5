/* SPDX-License-Identifier: Apache-2.0 */
/* What tensors are for: every rule of category.def, on tensors in the memory of the CPU. */
#include "ledger_world.h"
#include "test.h"

#include <string.h>

#define NN "/x/torch/nn/modules/"

/* Where things are made. */
static const struct tare_line program[] = { { "train.py", "main", 10 }, { 0 } };
static const struct tare_line loss[] = { { "/x/torch/nn/functional.py", "cross_entropy", 7 },
					 { "train.py", "main", 12 },
					 { 0 } };
static const struct tare_line init[] = { { "/x/torch/nn/init.py", "kaiming_uniform_", 3 },
					 { NN "linear.py", "__init__", 5 },
					 { "train.py", "main", 5 },
					 { 0 } };
static const struct tare_line linear[] = {
	{ NN "linear.py", "forward", 114 }, { NN "module.py", "_call_impl", 1190 },
	{ "train.py", "forward", 3 },       { NN "module.py", "_call_impl", 1190 },
	{ "train.py", "main", 11 },         { 0 }
};
static const struct tare_line relu[] = { { NN "activation.py", "forward", 98 },
					 { NN "module.py", "_call_impl", 1190 },
					 { "train.py", "forward", 4 },
					 { NN "module.py", "_call_impl", 1190 },
					 { "train.py", "main", 11 },
					 { 0 } };
static const struct tare_line backward[] = { { "/x/torch/autograd/__init__.py", "backward", 197 },
					     { "train.py", "main", 13 },
					     { 0 } };
static const struct tare_line recompute[] = { { NN "linear.py", "forward", 114 },
					      { NN "module.py", "_call_impl", 1190 },
					      { "/x/torch/utils/checkpoint.py", "backward", 140 },
					      { 0 } };
static const struct tare_line adam[] = { { "/x/torch/optim/adam.py", "step", 141 },
					 { "train.py", "main", 14 },
					 { 0 } };
static const struct tare_line loader[] = { { "/x/torch/utils/data/_utils/collate.py", "collate",
					     160 },
					   { "train.py", "main", 9 },
					   { 0 } };
static const struct tare_line reduce[] = { { "/x/torch/nn/parallel/distributed.py", "_sync", 3 },
					   { "train.py", "main", 6 },
					   { 0 } };

static int64_t now;

static void put(struct world *w, uint64_t at, int64_t bytes, unsigned int flags,
		const struct tare_line *frames)
{
	struct world_block b = {
		.is_host = true, .t = ++now * MS, .block = at, .bytes = bytes, .flags = flags
	};

	for (int i = 0; frames && frames[i].file; i++)
		b.frames[i] = frames[i];
	world_block(w, b);
}

static void make(struct world *w, uint64_t at, unsigned int flags, const struct tare_line *frames)
{
	put(w, at, 1000 + (int64_t)at, flags, frames);
}

static void take(struct world *w, uint64_t at, unsigned int flags)
{
	put(w, at, 0, flags, NULL);
}

enum { GRAD = TARE_TENSOR_GRAD, IN_BACKWARD = TARE_TENSOR_BACKWARD };

/* By their addresses: what there is at an instant, by which rule. */
static const char *rule_in(struct tare_ledger *l, uint64_t at)
{
	static char rule[64];

	snprintf(rule, sizeof(rule), "none");
	for (int i = 0; l->host_nr && i < l->hosts[0].blocks.count; i++)
		if (l->hosts[0].blocks.items[i].bytes == 1000 + (int64_t)at)
			snprintf(rule, sizeof(rule), "%s",
				 tare_rules[l->hosts[0].blocks.items[i].rule].name);
	tare_ledger_free(l);
	return rule;
}

static const char *rule_at(struct world *w, int64_t t_ms, uint64_t at)
{
	char when[32];
	struct tare_ledger l;

	snprintf(when, sizeof(when), "%lld.5ms", (long long)t_ms);
	l = world_ledger(w, when);
	return rule_in(&l, at);
}

#define CHECK_RULE(w, at, name) CHECK_STR(rule_at(w, now, at), name)

/* One step of training. x, the linear's output, a scratch of it, the loss, the gradient and what passes in it. */
enum {
	X = 0x1000,
	OUT = 0x2000,
	INNER = 0x3000,
	LOSS = 0x4000,
	GRADIENT = 0x5000,
	PASSING = 0x6000,
	STATE = 0x7000,
	SCRATCH = 0x8000,
	CHEAP = 0x9000
};

static void forward(struct world *w)
{
	make(w, X, 0, program);
	make(w, OUT, GRAD, linear);
	make(w, INNER, GRAD, relu);
	take(w, INNER, 0);
	make(w, LOSS, GRAD, loss);
}

static void step(struct world *w, bool is_first)
{
	make(w, GRADIENT, IN_BACKWARD, backward);
	make(w, PASSING, IN_BACKWARD, backward);
	take(w, OUT, IN_BACKWARD);
	take(w, PASSING, IN_BACKWARD);
	if (is_first)
		make(w, STATE, 0, adam);
	make(w, SCRATCH, 0, adam);
	take(w, SCRATCH, 0);
}

static void end_step(struct world *w)
{
	take(w, GRADIENT, 0);
	take(w, X, 0);
	take(w, LOSS, 0);
}

static struct world *training(int steps)
{
	struct world *w = world_new();

	now = 0;
	for (int i = 0; i < steps; i++) {
		forward(w);
		step(w, i == 0);
		end_step(w);
	}
	return w;
}

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
	world_free(w);
}

/* It only says that it was called, by a block that is gone at once; an optimizer's step that calls it is at work. */
TEST(categories_zero_grad_is_no_step_of_an_optimizer)
{
	static const struct tare_line profiled = { "/x/torch/autograd/profiler.py", "__enter__",
						   490 };
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
	world_probe(w, ++now * MS, TARE_PROBE_TENSOR, 0x100, 0, NULL, TARE_PROBE_LEAF);
	world_probe(w, now * MS + 1, TARE_PROBE_TENSOR, 0x200, 0, NULL,
		    TARE_PROBE_LEAF | TARE_PROBE_REQUIRES_GRAD);
	world_probe(w, now * MS + 2, TARE_PROBE_TENSOR, 0x400, 0, NULL, TARE_PROBE_LEAF);
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
	world_probe(w, ++now * MS, TARE_PROBE_PARAMETER, 0x700, 0xaa, "weight", 0);
	world_probe(w, now * MS + 1, TARE_PROBE_TENSOR, 0x700, 0, NULL,
		    TARE_PROBE_LEAF | TARE_PROBE_REQUIRES_GRAD);
	world_probe(w, now * MS + 2, TARE_PROBE_BUFFER, 0x600, 0xaa, "mean", 0);
	world_probe(w, now * MS + 3, TARE_PROBE_GRADIENT, 0x500, 0x700, NULL, 0);
	world_probe(w, now * MS + 4, TARE_PROBE_STATE, 0x400, 0x700, "exp_avg", 0);
	world_probe(w, now * MS + 5, TARE_PROBE_TENSOR, 0x300, 0, NULL,
		    TARE_PROBE_LEAF | TARE_PROBE_REQUIRES_GRAD);
	world_probe(w, now * MS + 6, TARE_PROBE_TENSOR, 0x200, 0, NULL, TARE_PROBE_REQUIRES_GRAD);
	world_probe(w, now * MS + 7, TARE_PROBE_MODULE, 0xaa, 0xbb, "0", 0);
	world_probe(w, now * MS + 8, TARE_PROBE_MODULE, 0xbb, 0xcc, "layer", 0);
	world_probe(w, now * MS + 9, TARE_PROBE_MODULE, 0xcc, 0xcc, "itself",
		    0); /* a ring ends somewhere */
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
	world_probe(w, ++now * MS, TARE_PROBE_PARAMETER, 0xa0, 0xaa, "a", 0);
	world_probe(w, now * MS + 1, TARE_PROBE_PARAMETER, 0xb0, 0xaa, "b", 0);
	world_probe(w, now * MS + 2, TARE_PROBE_GRADIENT, 0xc0, 0xa0, NULL, 0);
	world_sweep(w, now * MS + 3, 0);
	for (int i = 0; i < 3; i++) {
		forward(w);
		step(w, false);
		end_step(w);
	}
	CHECK_RULE(w, 0x100, "gradient");
	world_probe(w, ++now * MS, TARE_PROBE_PARAMETER, 0xa0, 0xaa, "a", 0);
	world_probe(w, now * MS + 2, TARE_PROBE_GRADIENT, 0xc0, 0xa0, NULL, 0);
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
	world_probe(w, ++now * MS, TARE_PROBE_PARAMETER, 0xa0, 0xaa, "a", 0);
	world_sweep(w, now * MS + 3, TARE_SWEEP_GRADIENTS);
	for (int i = 0; i < 3; i++) {
		forward(w);
		step(w, false);
		end_step(w);
	}
	CHECK_RULE(w, 0x100, "unseen");
	world_free(w);
}

static const char *name_in(struct world *w, uint64_t at)
{
	static char name[64];
	struct tare_ledger l = world_ledger(w, "end");

	snprintf(name, sizeof(name), "none");
	for (int i = 0; i < l.hosts[0].blocks.count; i++)
		if (l.hosts[0].blocks.items[i].bytes == 1000 + (int64_t)at &&
		    l.hosts[0].blocks.items[i].name)
			snprintf(name, sizeof(name), "%s", l.hosts[0].blocks.items[i].name);
	tare_ledger_free(&l);
	return name;
}

/* A module has the whole of a sharded parameter under its name, for a while. */
TEST(categories_sharded_parameters_and_where_they_are_whole)
{
	struct world *w = world_new();

	now = 0;
	for (uint64_t at = 0x100; at <= 0x400; at += 0x100)
		make(w, at, 0, reduce);
	world_probe(w, ++now * MS, TARE_PROBE_PARAMETER, 0x200, 0xaa, "weight", 0);
	world_probe(w, now * MS + 1, TARE_PROBE_PARAMETER, 0x100, 0xaa, "weight", 0);
	world_probe(w, now * MS + 2, TARE_PROBE_GATHERED, 0x200, 0x100, NULL, 0);
	world_probe(w, now * MS + 3, TARE_PROBE_GATHERED, 0x300, 0x999, NULL, 0);
	world_probe(w, now * MS + 4, TARE_PROBE_GRADIENT, 0x400, 0x100, NULL, 0);
	world_probe(w, now * MS + 5, TARE_PROBE_MODULE, 0xaa, 0xbb, "_fsdp_wrapped_module", 0);
	world_probe(w, now * MS + 6, TARE_PROBE_MODULE, 0xbb, 0xcc, "unit", 0);
	world_sweep(w, now * MS + 7, 0);
	make(w, 0x500, 0, program);
	CHECK_RULE(w, 0x100, "said-parameter");
	CHECK_RULE(w, 0x200, "said-gathered");
	CHECK_RULE(w, 0x300, "said-gathered");
	CHECK_RULE(w, 0x400, "said-gradient");
	CHECK_STR(name_in(w, 0x100), "unit.weight");
	CHECK_STR(name_in(w, 0x200), "gathered unit.weight");
	CHECK_STR(name_in(w, 0x300), "gathered");
	CHECK_STR(name_in(w, 0x400), "gradient of unit.weight");
	world_free(w);
}

/* What a fold tells of blocks that were said something of, and of a sweep that goes on behind it. */
TEST(categories_and_names_outlive_a_checkpoint)
{
	static const struct {
		uint64_t at;
		const char *rule, *name;
	} wanted[] = {
		{ 0x100, "said-parameter", "layer.weight" },
		{ 0x200, "said-gradient", "gradient of layer.weight" },
		{ 0x300, "said-state", "exp_avg of layer.weight" },
		{ 0x400, "said-gathered", "gathered layer.weight" },
		{ 0x500, "said-buffer", "layer.mean" },
	};
	struct world *w = world_new();
	int64_t cut;

	now = 0;
	for (uint64_t at = 0x100; at <= 0x600; at += 0x100)
		make(w, at, 0, program);
	world_probe(w, ++now * MS, TARE_PROBE_PARAMETER, 0x100, 0xaa, "weight", 0);
	world_probe(w, now * MS + 1, TARE_PROBE_GRADIENT, 0x200, 0x100, NULL, 0);
	world_probe(w, now * MS + 2, TARE_PROBE_STATE, 0x300, 0x100, "exp_avg", 0);
	world_probe(w, now * MS + 3, TARE_PROBE_GATHERED, 0x400, 0x100, NULL, 0);
	world_probe(w, now * MS + 4, TARE_PROBE_MODULE, 0xaa, 0xbb, "layer", 0);
	world_sweep(w, now * MS + 5, 0);
	make(w, 0x700, 0, program);
	world_probe(w, ++now * MS, TARE_PROBE_BUFFER, 0x500, 0xaa, "mean", 0);
	cut = now * MS + 1;
	world_probe(w, ++now * MS, TARE_PROBE_MODULE, 0xaa, 0xbb, "layer", 0);
	world_sweep(w, now * MS + 1, TARE_SWEEP_CUT);
	make(w, 0x800, 0, program);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct tare_ledger l = world_ledger_folded(w, cut, "end");
		const char *name = NULL;

		for (int k = 0; k < l.hosts[0].blocks.count; k++)
			if (l.hosts[0].blocks.items[k].bytes == 1000 + (int64_t)wanted[i].at)
				name = l.hosts[0].blocks.items[k].name;
		CHECK_STR(name ? name : "none", wanted[i].name);
		CHECK_STR(rule_in(&l, wanted[i].at), wanted[i].rule);
	}
	world_free(w);
}

/* Sharded gradients are made by torch.distributed; a sweep sees those of one pass only. */
TEST(categories_gradients_that_are_reduced)
{
	static const struct tare_line scatter[] = {
		{ "/x/torch/distributed/other.py", "scatter", 3 }, { 0 }
	};
	struct world *w = world_new();
	int64_t first = 0, last;

	now = 0;
	for (int i = 0; i < 3; i++) {
		forward(w);
		make(w, 0x300, IN_BACKWARD,
		     reduce); /* of another line: where parameters are whole */
		make(w, 0x100, IN_BACKWARD, scatter);
		put(w, 0x9900, 77, IN_BACKWARD, scatter); /* of another size */
		take(w, OUT, IN_BACKWARD);
		if (i == 1) {
			world_probe(w, ++now * MS, TARE_PROBE_GRADIENT, 0x100, 0xa0, NULL, 0);
			world_sweep(w, now * MS + 1, 0);
		}
		make(w, SCRATCH, 0, adam);
		if (!first)
			first = now;
		last = now;
		take(w, SCRATCH, 0);
		take(w, 0x100, 0);
		take(w, 0x300, 0);
		take(w, 0x9900, 0);
		end_step(w);
	}
	CHECK_STR(rule_at(w, first, 0x100), "reduced");
	CHECK_STR(rule_at(w, last, 0x100), "reduced");
	CHECK_STR(rule_at(w, first, 0x300), "communication");
	CHECK_STR(rule_at(w, last, 77 - 1000), "communication");
	world_free(w);
}

/* What FSDP makes for itself, known by its functions: no sweep is needed. */
TEST(categories_of_what_fsdp_makes)
{
#define FSDP "/x/torch/distributed/fsdp/"
	static const struct tare_line output[] = {
		{ FSDP "_fully_shard/_fsdp_collectives.py", "allocate", 3 },
		{ FSDP "_fully_shard/_fsdp_collectives.py", "foreach_reduce", 9 },
		{ FSDP "_fully_shard/_fsdp_param_group.py", "post_backward", 5 },
		{ 0 },
	};
	static const struct tare_line gathered[] = {
		{ FSDP "_fully_shard/_fsdp_collectives.py", "allocate", 3 },
		{ FSDP "_fully_shard/_fsdp_collectives.py", "foreach_all_gather", 4 },
		{ NN "module.py", "_call_impl", 1190 },
		{ 0 },
	};
	static const struct tare_line flat[] = {
		{ FSDP "_runtime_utils.py", "_get_reduce_scatter_tensors", 3 }, { 0 }
	};
	static const struct tare_line shard[] = { { FSDP "_flat_param.py", "_get_shard", 3 },
						  { 0 } };
	static const struct tare_line own[] = {
		{ FSDP "_fully_shard/_fsdp_param.py", "_init_sharded_param", 3 }, { 0 }
	};
#undef FSDP
	struct world *w = world_new();
	int64_t passing;

	now = 0;
	make(w, 0x100, 0, shard);
	make(w, 0x200, 0, own);
	make(w, 0x300, 0, gathered);
	forward(w);
	make(w, 0x400, IN_BACKWARD, output);
	make(w, 0x500, IN_BACKWARD, flat);
	make(w, 0x600, IN_BACKWARD, output); /* the input of the reduction */
	passing = now;
	take(w, 0x600, 0);
	take(w, OUT, IN_BACKWARD);
	make(w, STATE, 0, adam);
	CHECK_RULE(w, 0x100, "built");
	CHECK_RULE(w, 0x200, "built");
	CHECK_RULE(w, 0x300, "communication");
	CHECK_RULE(w, 0x400, "reduced");
	CHECK_RULE(w, 0x500, "reduced");
	CHECK_STR(rule_at(w, passing, 0x600), "communication");
	world_free(w);
}

/* An operation on a DTensor runs on its parts: an optimizer's state is that all the same. */
TEST(categories_what_a_dtensor_hands_on)
{
	static const struct tare_line state[] = {
		{ "/x/torch/distributed/tensor/_dispatch.py", "dispatch", 3 },
		{ "/x/torch/distributed/tensor/_api.py", "__torch_dispatch__", 3 },
		{ "/x/torch/optim/adam.py", "step", 141 },
		{ 0 }
	};
	static const struct tare_line gather[] = {
		{ "/x/torch/distributed/tensor/_redistribute.py", "redistribute", 3 },
		{ "/x/torch/distributed/tensor/_dispatch.py", "dispatch", 3 },
		{ "/x/torch/optim/adam.py", "step", 141 },
		{ 0 }
	};
	struct world *w = world_new();

	now = 0;
	forward(w);
	step(w, false);
	make(w, 0x100, 0, state);
	make(w, 0x200, 0, gather);
	forward(w);
	CHECK_RULE(w, 0x100, "state");
	CHECK_RULE(w, 0x200, "communication");
	world_free(w);
}

/* A module that became a part of another; in one sweep the first name of a memory stays. */
TEST(categories_names_of_a_later_sweep)
{
	struct world *w = world_new();

	now = 0;
	make(w, 0x100, 0, program);
	world_probe(w, ++now * MS, TARE_PROBE_PARAMETER, 0x100, 0xaa, "weight", 0);
	world_sweep(w, now * MS + 1, 0);
	make(w, 0x200, 0, program);
	CHECK_STR(name_in(w, 0x100), "weight");
	world_probe(w, ++now * MS, TARE_PROBE_PARAMETER, 0x100, 0xaa, "weight", 0);
	world_probe(w, now * MS + 1, TARE_PROBE_PARAMETER, 0x100, 0xbb, "tied", 0);
	world_probe(w, now * MS + 2, TARE_PROBE_MODULE, 0xaa, 0xcc, "head", 0);
	world_sweep(w, now * MS + 3, 0);
	make(w, 0x300, 0, program);
	CHECK_STR(name_in(w, 0x100), "head.weight");
	world_probe(w, ++now * MS, TARE_PROBE_TENSOR, 0x100, 0, NULL, TARE_PROBE_LEAF);
	world_sweep(w, now * MS + 3, 0);
	make(w, 0x400, 0, program);
	CHECK_STR(name_in(w, 0x100), "head.weight");
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

TEST(categories_a_workspace_that_stayed_outlives_a_checkpoint)
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
	l = world_ledger_folded(w, cut * MS, "end");
	CHECK_STR(rule_in(&l, SPACE), "stayed");
	l = world_ledger_folded(w, cut * MS, "end");
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
	world_probe(w, ++now * MS, TARE_PROBE_TENSOR, SPACE, 0, NULL, TARE_PROBE_LEAF);
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
	world_sweep(w, ++now * MS, TARE_SWEEP_CUT);
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
	world_block(w, (struct world_block){ .is_host = true,
					     .t = ++now * MS,
					     .block = 0x100,
					     .bytes = 5,
					     .tid = 2,
					     .frames = { program[0] } });
	take(w, INNER, 0);
	CHECK_STR(rule_at(w, now - 1, INNER), "inner");
	world_free(w);
}

enum { MADE = 1 << 15 /* besides flags: it is handed out without Python */ };

/* A block of a thread, handed out or taken back (no frames, not MADE). */
static void of_thread(struct world *w, uint32_t tid, uint64_t at, unsigned int flags,
		      const struct tare_line *frames)
{
	struct world_block b = { .is_host = true, .t = ++now * MS, .block = at, .tid = tid };

	for (int i = 0; frames && frames[i].file; i++)
		b.frames[i] = frames[i];
	b.bytes = frames || flags & MADE ? 1000 + (int64_t)at : 0;
	b.flags = flags & ~(unsigned int)MADE;
	world_block(w, b);
}

/* What one thread does is no end of what another one does. */
TEST(categories_of_threads_that_train)
{
	enum { OTHER = 0x10000 };
	struct world *w = world_new();
	int64_t forward_at, step_at;

	now = 0;
	for (int i = 0; i < 3; i++) {
		of_thread(w, 1, X, 0, program);
		of_thread(w, 1, OUT, GRAD, linear);
		of_thread(w, 2, OTHER + X, 0, program);
		of_thread(w, 1, INNER, GRAD, relu);
		of_thread(w, 2, OTHER + OUT, GRAD, linear);
		forward_at = now;
		of_thread(w, 1, INNER, 0, NULL);
		of_thread(w, 2, OTHER + GRADIENT, IN_BACKWARD, backward);
		of_thread(w, 1, LOSS, GRAD, loss);
		of_thread(w, 2, OTHER + PASSING, IN_BACKWARD, backward);
		of_thread(w, 1, GRADIENT, IN_BACKWARD, backward);
		of_thread(w, 2, OTHER + OUT, IN_BACKWARD, NULL);
		if (!i)
			of_thread(w, 2, OTHER + STATE, 0, adam);
		of_thread(w, 1, OUT, IN_BACKWARD, NULL);
		of_thread(w, 2, OTHER + PASSING, IN_BACKWARD, NULL);
		of_thread(w, 2, OTHER + SCRATCH, 0, adam);
		of_thread(w, 1, SCRATCH, 0, adam);
		step_at = now;
		of_thread(w, 2, OTHER + SCRATCH, 0, NULL);
		of_thread(w, 2, OTHER + GRADIENT, 0, NULL);
		of_thread(w, 2, OTHER + X, 0, NULL);
		of_thread(w, 1, SCRATCH, 0, NULL);
		of_thread(w, 1, GRADIENT, 0, NULL);
		of_thread(w, 1, X, 0, NULL);
		of_thread(w, 1, LOSS, 0, NULL);
	}
	CHECK_STR(rule_at(w, forward_at, INNER), "inner");
	CHECK_STR(rule_at(w, forward_at, OUT), "saved");
	CHECK_STR(rule_at(w, forward_at, X), "given");
	CHECK_STR(rule_at(w, forward_at, OTHER + X), "given");
	CHECK_STR(rule_at(w, forward_at, OTHER + OUT), "saved");
	CHECK_STR(rule_at(w, step_at, GRADIENT), "gradient");
	CHECK_STR(rule_at(w, step_at, OTHER + GRADIENT), "gradient");
	CHECK_STR(rule_at(w, step_at, SCRATCH), "scratch");
	CHECK_STR(rule_at(w, step_at, OTHER + SCRATCH), "scratch");
	CHECK_STR(rule_at(w, step_at, OTHER + STATE), "state");
	world_free(w);
}

/* A GPU has one thread of autograd's engine for all threads that train on it. */
TEST(categories_of_threads_that_share_an_engine)
{
	enum { OTHER = 0x10000, ROOT = 0xa000, ENGINE = 9 };
	struct world *w = world_new();
	int64_t pass_at, step_at;

	now = 0;
	for (int i = 0; i < 3; i++) {
		of_thread(w, 1, X, 0, program);
		of_thread(w, 1, OUT, GRAD, linear);
		of_thread(w, 2, OTHER + X, 0, program);
		of_thread(w, 2, OTHER + OUT, GRAD, linear);
		of_thread(w, 1, ROOT, GRAD, backward);
		of_thread(w, ENGINE, GRADIENT, IN_BACKWARD | MADE, NULL);
		of_thread(w, 2, OTHER + INNER, GRAD, relu);
		of_thread(w, ENGINE, PASSING, IN_BACKWARD | MADE, NULL);
		pass_at = now;
		of_thread(w, ENGINE, OUT, IN_BACKWARD, NULL);
		of_thread(w, 2, OTHER + INNER, 0, NULL);
		of_thread(w, ENGINE, PASSING, IN_BACKWARD, NULL);
		of_thread(w, 1, ROOT, 0, NULL);
		of_thread(w, 2, OTHER + ROOT, GRAD, backward);
		of_thread(w, ENGINE, OTHER + GRADIENT, IN_BACKWARD | MADE, NULL);
		of_thread(w, 1, SCRATCH, 0, adam);
		of_thread(w, ENGINE, OTHER + OUT, IN_BACKWARD, NULL);
		of_thread(w, 2, OTHER + ROOT, 0, NULL);
		of_thread(w, 2, OTHER + SCRATCH, 0, adam);
		step_at = now;
		of_thread(w, 1, SCRATCH, 0, NULL);
		of_thread(w, 2, OTHER + SCRATCH, 0, NULL);
		of_thread(w, 1, GRADIENT, 0, NULL);
		of_thread(w, 2, OTHER + GRADIENT, 0, NULL);
		of_thread(w, 1, X, 0, NULL);
		of_thread(w, 2, OTHER + X, 0, NULL);
	}
	CHECK_STR(rule_at(w, pass_at, OUT), "saved");
	CHECK_STR(rule_at(w, pass_at, GRADIENT), "gradient");
	CHECK_STR(rule_at(w, pass_at, PASSING), "backward");
	CHECK_STR(rule_at(w, pass_at, X), "given");
	CHECK_STR(rule_at(w, pass_at, OTHER + INNER), "inner"); /* that pass was not its own */
	CHECK_STR(rule_at(w, step_at, SCRATCH), "scratch");     /* nor was this one */
	CHECK_STR(rule_at(w, step_at, OTHER + SCRATCH), "scratch");
	CHECK_STR(rule_at(w, step_at, OTHER + GRADIENT), "gradient");
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

TEST(categories_each_rule_has_a_name_of_its_own)
{
	for (int i = 0; i < TARE_RULE_NR; i++)
		for (int k = 0; k < i; k++)
			CHECK(strcmp(tare_rules[i].name, tare_rules[k].name));
}
