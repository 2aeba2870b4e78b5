/* SPDX-License-Identifier: Apache-2.0 */
/* What sharded tensors are for, and the names of tensors. */
#include "host_training.h"
#include "test.h"

#include <string.h>

static const char *name_in(struct world *w, uint64_t at)
{
	static char name[64];
	struct tare_ledger l = world_ledger(w, "end");

	snprintf(name, sizeof(name), "none");
	for (int i = 0; i < l.hosts[0].blocks.count; i++)
		if (l.hosts[0].blocks.items[i].bytes == 1000 + (int64_t)at && l.hosts[0].blocks.items[i].name)
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
	world_probe(w, ++now * MS, TARE_SCANNED_PARAMETER, 0x200, 0xaa, "weight", 0);
	world_probe(w, now * MS + 1, TARE_SCANNED_PARAMETER, 0x100, 0xaa, "weight", 0);
	world_probe(w, now * MS + 2, TARE_SCANNED_GATHERED, 0x200, 0x100, NULL, 0);
	world_probe(w, now * MS + 3, TARE_SCANNED_GATHERED, 0x300, 0x999, NULL, 0);
	world_probe(w, now * MS + 4, TARE_SCANNED_GRADIENT, 0x400, 0x100, NULL, 0);
	world_probe(w, now * MS + 5, TARE_SCANNED_MODULE, 0xaa, 0xbb, "_fsdp_wrapped_module", 0);
	world_probe(w, now * MS + 6, TARE_SCANNED_MODULE, 0xbb, 0xcc, "unit", 0);
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

/* What a state has of blocks that were said something of, and of a sweep that goes on behind it. */
TEST(categories_and_names_outlive_a_state)
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
	world_probe(w, ++now * MS, TARE_SCANNED_PARAMETER, 0x100, 0xaa, "weight", 0);
	world_probe(w, now * MS + 1, TARE_SCANNED_GRADIENT, 0x200, 0x100, NULL, 0);
	world_probe(w, now * MS + 2, TARE_SCANNED_STATE, 0x300, 0x100, "exp_avg", 0);
	world_probe(w, now * MS + 3, TARE_SCANNED_GATHERED, 0x400, 0x100, NULL, 0);
	world_probe(w, now * MS + 4, TARE_SCANNED_MODULE, 0xaa, 0xbb, "layer", 0);
	world_sweep(w, now * MS + 5, 0);
	make(w, 0x700, 0, program);
	world_probe(w, ++now * MS, TARE_SCANNED_BUFFER, 0x500, 0xaa, "mean", 0);
	cut = now * MS + 1;
	world_probe(w, ++now * MS, TARE_SCANNED_MODULE, 0xaa, 0xbb, "layer", 0);
	world_sweep(w, now * MS + 1, TARE_SCAN_CUT);
	make(w, 0x800, 0, program);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct tare_ledger l = world_ledger_from_state(w, cut, "end");
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
	static const struct tare_line scatter[] = { { "/x/torch/distributed/other.py", "scatter", 3 }, { 0 } };
	struct world *w = world_new();
	int64_t first = 0, last;

	now = 0;
	for (int i = 0; i < 3; i++) {
		forward(w);
		make(w, 0x300, IN_BACKWARD, reduce); /* of another line: where parameters are whole */
		make(w, 0x100, IN_BACKWARD, scatter);
		put(w, 0x9900, 77, IN_BACKWARD, scatter); /* of another size */
		take(w, OUT, IN_BACKWARD);
		if (i == 1) {
			world_probe(w, ++now * MS, TARE_SCANNED_GRADIENT, 0x100, 0xa0, NULL, 0);
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
	static const struct tare_line flat[] = { { FSDP "_runtime_utils.py", "_get_reduce_scatter_tensors", 3 }, { 0 } };
	static const struct tare_line shard[] = { { FSDP "_flat_param.py", "_get_shard", 3 }, { 0 } };
	static const struct tare_line own[] = { { FSDP "_fully_shard/_fsdp_param.py", "_init_sharded_param", 3 }, { 0 } };
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
	static const struct tare_line state[] = { { "/x/torch/distributed/tensor/_dispatch.py", "dispatch", 3 },
		                                      { "/x/torch/distributed/tensor/_api.py", "__torch_dispatch__", 3 },
		                                      { "/x/torch/optim/adam.py", "step", 141 },
		                                      { 0 } };
	static const struct tare_line gather[] = { { "/x/torch/distributed/tensor/_redistribute.py", "redistribute", 3 },
		                                       { "/x/torch/distributed/tensor/_dispatch.py", "dispatch", 3 },
		                                       { "/x/torch/optim/adam.py", "step", 141 },
		                                       { 0 } };
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
	world_probe(w, ++now * MS, TARE_SCANNED_PARAMETER, 0x100, 0xaa, "weight", 0);
	world_sweep(w, now * MS + 1, 0);
	make(w, 0x200, 0, program);
	CHECK_STR(name_in(w, 0x100), "weight");
	world_probe(w, ++now * MS, TARE_SCANNED_PARAMETER, 0x100, 0xaa, "weight", 0);
	world_probe(w, now * MS + 1, TARE_SCANNED_PARAMETER, 0x100, 0xbb, "tied", 0);
	world_probe(w, now * MS + 2, TARE_SCANNED_MODULE, 0xaa, 0xcc, "head", 0);
	world_sweep(w, now * MS + 3, 0);
	make(w, 0x300, 0, program);
	CHECK_STR(name_in(w, 0x100), "head.weight");
	world_probe(w, ++now * MS, TARE_SCANNED_TENSOR, 0x100, 0, NULL, TARE_SCANNED_LEAF);
	world_sweep(w, now * MS + 3, 0);
	make(w, 0x400, 0, program);
	CHECK_STR(name_in(w, 0x100), "head.weight");
	world_free(w);
}
