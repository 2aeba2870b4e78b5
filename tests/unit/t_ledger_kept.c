/* SPDX-License-Identifier: Apache-2.0 */
/* What programs keep beside what they train: frozen parameters, state of optimizers of their own, caches that grow. */
#include "host_training.h"
#include "test.h"

#include <string.h>

enum { PARAMETERS = 3, FIRST = 0x10000, KEPT = 0x20000, STATES = 0x30000, ANEW = 0x40000, LIBRARY = 0x50000 };

static const struct tare_line momentum[] = { { "lion.py", "__init__", 5 }, { "train.py", "main", 4 }, { 0 } };
static const struct tare_line cat[] = {
	{ "attention.py", "forward", 9 }, { NN "module.py", "_call_impl", 1190 }, { "generate.py", "main", 3 }, { 0 }
};

/* Blocks of the rule at the end. */
static int count_of(struct world *w, const char *rule)
{
	struct tare_ledger l = world_ledger(w, "end");
	int count = 0;

	for (int i = 0; l.host_nr && i < l.hosts[0].blocks.count; i++)
		count += !strcmp(tare_rules[l.hosts[0].blocks.items[i].rule].name, rule);
	tare_ledger_free(&l);
	return count;
}

static uint64_t parameter(int i)
{
	return FIRST + (uint64_t)i * 0x100;
}

static int64_t size_of(int i)
{
	return 5000 + 10 * i;
}

static void scan(struct world *w, int trained, int kept)
{
	for (int i = 0; i < PARAMETERS; i++)
		world_probe(w, ++now * MS, TARE_SCANNED_PARAMETER, parameter(i), 0xaa, "weight", 0);
	for (int i = 0; i < trained; i++)
		world_probe(w, ++now * MS, TARE_SCANNED_GRADIENT, GRADIENT, parameter(i), NULL, 0);
	for (int i = 0; i < kept; i++)
		world_probe(w, ++now * MS, TARE_SCANNED_TENSOR, KEPT + (uint64_t)i * 0x100, 0, NULL, TARE_SCANNED_LEAF);
	world_sweep(w, ++now * MS, TARE_SCAN_GRADIENTS);
}

/* A training with parameters, so many of which have a gradient, and as many blocks of another line as `kept` says. */
static struct world *training_beside(int trained, int kept, int scans)
{
	struct world *w = world_new();

	now = 0;
	for (int i = 0; i < PARAMETERS; i++)
		put(w, parameter(i), size_of(i), GRAD, init);
	for (int i = 0; i < kept; i++)
		put(w, KEPT + (uint64_t)i * 0x100, size_of(i % PARAMETERS), GRAD, momentum);
	for (int i = 0; i < 3; i++) {
		forward(w);
		step(w, i == 0);
		if (i < 2)
			end_step(w);
	}
	for (int i = 0; i < scans; i++)
		scan(w, trained, kept);
	end_step(w);
	return w;
}

TEST(kept_parameters_without_a_gradient_are_frozen)
{
	struct world *w = training_beside(2, 0, 2);

	CHECK_INT(count_of(w, "said-parameter"), 2);
	CHECK_INT(count_of(w, "said-frozen"), 1);
	world_free(w);
}

TEST(kept_parameters_are_not_frozen_by_one_scan)
{
	struct world *w = training_beside(2, 0, 1);

	CHECK_INT(count_of(w, "said-parameter"), PARAMETERS);
	world_free(w);
}

TEST(kept_parameters_are_none_frozen_where_nobody_trains)
{
	struct world *w = training_beside(0, PARAMETERS, 2);

	CHECK_INT(count_of(w, "said-parameter"), PARAMETERS);
	CHECK_INT(count_of(w, "for-each"), 0);
	world_free(w);
}

TEST(kept_one_for_each_parameter_is_of_an_optimizer)
{
	struct world *w = training_beside(PARAMETERS, 2 * PARAMETERS, 1);

	CHECK_INT(count_of(w, "for-each"), 2 * PARAMETERS);
	CHECK_INT(count_of(w, "said-parameter"), PARAMETERS);
	world_free(w);
}

/* Adam has its own of so many parameters; what the program keeps of each beside that is an average of it. */
static struct world *training_with_state(int states)
{
	struct world *w = training_beside(PARAMETERS, PARAMETERS, 0);

	for (int i = 0; i < states; i++)
		world_probe(w, ++now * MS, TARE_SCANNED_STATE, STATES + (uint64_t)i * 0x100, parameter(i), "exp_avg", 0);
	scan(w, PARAMETERS, PARAMETERS);
	end_step(w);
	return w;
}

TEST(kept_one_for_each_parameter_beside_state_is_a_copy)
{
	struct world *w = training_with_state(PARAMETERS);

	CHECK_INT(count_of(w, "copy"), PARAMETERS);
	CHECK_INT(count_of(w, "for-each"), 0);
	world_free(w);
}

/* The best model so far is copied again; no pass and no scan comes after the last copy. */
TEST(kept_copies_that_are_made_anew)
{
	struct world *w = training_with_state(PARAMETERS);

	for (int i = 0; i < PARAMETERS; i++)
		put(w, ANEW + (uint64_t)i * 0x100, size_of(i), 0, momentum);
	for (int i = 0; i < PARAMETERS; i++)
		put(w, KEPT + (uint64_t)i * 0x100, 0, 0, NULL);
	CHECK_INT(count_of(w, "copy"), PARAMETERS);
	world_free(w);
}

TEST(kept_one_for_each_parameter_beside_a_little_state_is_of_an_optimizer)
{
	struct world *w = training_with_state(1);

	CHECK_INT(count_of(w, "copy"), 0);
	CHECK_INT(count_of(w, "for-each"), PARAMETERS);
	world_free(w);
}

/* Tensors of the program's own that ask for gradients are its parameters, where it has no modules; else they are none. */
static void check_without_modules(bool has_modules, int kept)
{
	struct world *w = world_new();

	now = 0;
	for (int i = 0; i < PARAMETERS; i++)
		put(w, parameter(i), size_of(i), GRAD, program);
	for (int i = 0; i < PARAMETERS; i++)
		put(w, KEPT + (uint64_t)i * 0x100, size_of(i), GRAD, momentum);
	if (has_modules)
		put(w, STATES, 77, GRAD, init);
	for (int i = 0; i < 3; i++) {
		put(w, OUT, 300, GRAD, program);
		put(w, GRADIENT, size_of(0), IN_BACKWARD, backward);
		put(w, OUT, 0, IN_BACKWARD, NULL);
		put(w, X, 200, 0, program);
		put(w, X, 0, 0, NULL);
		if (i < 2)
			put(w, GRADIENT, 0, 0, NULL);
	}
	if (has_modules)
		world_probe(w, ++now * MS, TARE_SCANNED_PARAMETER, STATES, 0xaa, "weight", 0);
	for (int i = 0; i < PARAMETERS; i++) {
		world_probe(w, ++now * MS, TARE_SCANNED_TENSOR, parameter(i), 0, NULL,
		            TARE_SCANNED_LEAF | TARE_SCANNED_REQUIRES_GRAD);
		world_probe(w, ++now * MS, TARE_SCANNED_TENSOR, KEPT + (uint64_t)i * 0x100, 0, NULL, TARE_SCANNED_LEAF);
	}
	world_probe(w, ++now * MS, TARE_SCANNED_GRADIENT, GRADIENT, parameter(0), NULL, 0);
	world_sweep(w, ++now * MS, TARE_SCAN_GRADIENTS);
	CHECK_INT(count_of(w, "leaf"), PARAMETERS);
	CHECK_INT(count_of(w, "for-each"), kept);
	world_free(w);
}

TEST(kept_one_for_each_leaf_where_there_are_no_modules)
{
	check_without_modules(false, PARAMETERS);
	check_without_modules(true, 0);
}

#define ADAM "/x/site-packages/torch/optim/adam.py"

/* Rounds of two backward passes, each with an optimizer behind it; x is there for a round, and for the last at the end. */
static const char *rule_of_batch(uint32_t second_line)
{
	const struct tare_line optimizers[2][3] = {
		{ { ADAM, "step", 141 }, { "train.py", "main", 14 }, { 0 } },
		{ { ADAM, "step", 141 }, { "train.py", "main", second_line }, { 0 } },
	};
	struct world *w = world_new();
	const char *rule;

	now = 0;
	for (int round = 0; round < 6; round++) {
		make(w, X, GRAD, program);
		for (int i = 0; i < 2; i++) {
			put(w, OUT, 300, GRAD, linear);
			put(w, GRADIENT, 100, IN_BACKWARD, backward);
			put(w, OUT, 0, IN_BACKWARD, NULL);
			put(w, SCRATCH, 50, 0, optimizers[i]);
			put(w, SCRATCH, 0, 0, NULL);
			put(w, GRADIENT, 0, 0, NULL);
		}
		if (round < 5)
			take(w, X, 0);
	}
	rule = rule_at(w, now, X);
	world_free(w);
	return rule;
}

TEST(kept_for_a_round_of_optimizers_in_turn_is_not_kept)
{
	CHECK_STR(rule_of_batch(24), "given");
	CHECK_STR(rule_of_batch(14), "lasting");
}

TEST(kept_two_for_three_parameters_are_not)
{
	struct world *w = training_beside(PARAMETERS, 2, 1);

	CHECK_INT(count_of(w, "for-each"), 0);
	world_free(w);
}

/* Each is made while the one before is there. */
static struct world *generation(int64_t by)
{
	struct world *w = world_new();

	now = 0;
	for (int i = 0; i < 20; i++) {
		make(w, X, 0, program);
		put(w, KEPT + (uint64_t)(i % 2) * 0x1000, 5000 + by * i, 0, cat);
		if (i)
			take(w, KEPT + (uint64_t)((i + 1) % 2) * 0x1000, 0);
		take(w, X, 0);
	}
	return w;
}

TEST(kept_cache_that_grows_is_state)
{
	struct world *w = generation(100);

	CHECK_INT(count_of(w, "growing"), 1);
	world_free(w);
	w = generation(0);
	CHECK_INT(count_of(w, "growing"), 0);
	world_free(w);
}

/* One line makes what a library keeps for itself, first, and what a variable keeps, of which the last comes after the scan. */
static const char *rule_beside_kept(unsigned int found_as, int which)
{
	struct world *w = world_new();
	const char *rule;

	now = 0;
	make(w, LIBRARY, GRAD, linear);
	for (int i = 0; i < 6; i++) {
		make(w, KEPT + (uint64_t)i * 0x1000, GRAD, linear);
		forward(w);
		step(w, false);
		end_step(w);
		if (i == 4) {
			for (int j = 0; j <= i; j++)
				world_probe(w, ++now * MS, TARE_SCANNED_TENSOR, KEPT + (uint64_t)j * 0x1000, 0, "plots",
				            TARE_SCANNED_KEPT | found_as);
			world_sweep(w, ++now * MS, 0);
		}
	}
	rule = rule_at(w, now, which < 0 ? LIBRARY : KEPT + (uint64_t)which * 0x1000);
	world_free(w);
	return rule;
}

TEST(kept_by_a_library_is_no_variable_s)
{
	CHECK_STR(rule_beside_kept(0, -1), "unseen");
	CHECK_STR(rule_beside_kept(0, 0), "kept");
	CHECK_STR(rule_beside_kept(0, 5), "kept");
	CHECK_STR(rule_beside_kept(TARE_SCANNED_REQUIRES_GRAD, -1), "kept"); /* it may be a part of their graphs */
}
