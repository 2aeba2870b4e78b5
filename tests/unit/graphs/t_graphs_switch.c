/* SPDX-License-Identifier: Apache-2.0 */
/* libtare_graphs: how many executable graphs there are, and switching ahead of a launch. */
#include "model.h"
#include "model_check.h"

#include "../test.h"

#include <stdlib.h>

TEST(a_key_is_prepared_while_another_runs)
{
	tare_graphs_address outputs[3];
	struct tare_graphs_stats stats, after;
	struct model model;

	fake_reset();
	model_init(&model, NULL, 8);
	CHECK_INT(model_capture(&model, 1, 1, &outputs[1]), 0);
	CHECK_INT(model_capture(&model, 2, 2, &outputs[2]), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	CHECK_INT(tare_graphs_prepare(model.graphs, 2, model.stream), 0);
	CHECK_INT(tare_graphs_prepare(model.graphs, 2, model.stream), 0);
	fake_run(0);
	CHECK(model_is_right(&model, 1, model.layers, outputs[1]));
	stats = stats_of(model.graphs);
	CHECK_INT(tare_graphs_launch(model.graphs, 2, model.stream), 0);
	after = stats_of(model.graphs);
	CHECK_INT(after.updates + after.node_switches, stats.updates + stats.node_switches);
	CHECK_INT(after.repeats, stats.repeats + 1);
	CHECK_INT(after.prepared, 1);
	fake_run(0);
	CHECK(model_is_right(&model, 2, model.layers, outputs[2]));
	CHECK_INT(tare_graphs_prepare(model.graphs, 3, model.stream), TARE_GRAPHS_NO_KEY);
	CHECK_INT(tare_graphs_begin(model.graphs, 4, model.stream, NULL), 0);
	CHECK_INT(tare_graphs_prepare(model.graphs, 1, model.stream), TARE_GRAPHS_CAPTURE);
	tare_graphs_abort(model.graphs);
	model_fini(&model);
	check_nothing_left();
}

TEST(more_execs_keep_more_keys_ready)
{
	struct tare_graphs_options options = { .size = sizeof(options), .execs_per_group = 2 };
	struct tare_graphs_stats stats;
	struct model model;
	uint64_t updates;

	fake_reset();
	model_init(&model, &options, 8);
	for (uint64_t key = 1; key <= 5; key++)
		CHECK_INT(model_capture(&model, key, key, NULL), 0);
	CHECK_INT(stats_of(model.graphs).execs, 2);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 2, model.stream), 0);
	updates = stats_of(model.graphs).updates;
	for (int i = 0; i < 10; i++)
		CHECK_INT(tare_graphs_launch(model.graphs, 1 + i % 2, model.stream), 0);
	stats = stats_of(model.graphs);
	CHECK_INT(stats.updates, updates);
	model_fini(&model);
	check_nothing_left();
}

/* Keys of five topologies, replayed in turn and not waited for; at most so many executable graphs. */
static void check_execs_max(uint64_t most, uint64_t per_group)
{
	struct tare_graphs_options options = { .size = sizeof(options),
		                                   .execs_per_group = (unsigned)per_group,
		                                   .execs_max = most };
	tare_graphs_address outputs[20];
	struct model model;
	unsigned seed = 5;

	fake_reset();
	fake.exec_bytes_per_node = 1200;
	model_init(&model, &options, 20);
	for (uint64_t key = 0; key < 20; key++) {
		model.layers = 2 + (unsigned)key % 5;
		CHECK_INT(model_capture(&model, key, key + 1, &outputs[key]), 0);
		CHECK(stats_of(model.graphs).execs <= most);
	}
	CHECK_INT(stats_of(model.graphs).groups, 5);
	for (int i = 0; i < 200; i++) {
		uint64_t key = (uint64_t)rand_r(&seed) % 20;

		CHECK_INT(tare_graphs_launch(model.graphs, key, model.stream), 0);
		CHECK(stats_of(model.graphs).execs <= most);
		if (i % 3)
			continue;
		fake_run(seed);
		CHECK(model_is_right(&model, key + 1, 2 + (unsigned)key % 5, outputs[key]));
	}
	CHECK(stats_of(model.graphs).remade > 50);
	for (uint64_t key = 0; key < 20; key += 2)
		CHECK_INT(tare_graphs_drop(model.graphs, key), 0);
	for (uint64_t key = 1; key < 20; key += 2) {
		CHECK_INT(tare_graphs_launch(model.graphs, key, model.stream), 0);
		fake_run(0);
		CHECK(model_is_right(&model, key + 1, 2 + (unsigned)key % 5, outputs[key]));
	}
	model_fini(&model);
	check_nothing_left();
}

TEST(many_topologies_in_few_executable_graphs)
{
	check_execs_max(1, 1);
	check_execs_max(2, 1);
	check_execs_max(3, 2);
}

/* Five topologies of four keys each, set by the card where it can, or by the host. */
static void check_device(bool is_refused)
{
	struct tare_graphs_options options = { .size = sizeof(options), .device_runtime = "libcudadevrt.a" };
	tare_graphs_address outputs[20];
	struct tare_graphs_stats stats;
	struct model model;
	unsigned seed = 5;

	fake_reset();
	fake.refuses_updatable = is_refused;
	model_init(&model, &options, 20);
	for (uint64_t key = 0; key < 20; key++) {
		model.layers = 2 + (unsigned)key % 5;
		CHECK_INT(model_capture(&model, key, key + 1, &outputs[key]), 0);
		CHECK_INT(tare_graphs_launch(model.graphs, key / 2, model.stream), 0);
	}
	for (int i = 0; i < 200; i++) {
		uint64_t key = (uint64_t)rand_r(&seed) % 20;

		CHECK_INT(tare_graphs_prepare(model.graphs, key, model.stream), 0);
		CHECK_INT(tare_graphs_launch(model.graphs, key, model.stream), 0);
		fake_run(seed);
		CHECK(model_is_right(&model, key + 1, 2 + (unsigned)key % 5, outputs[key]));
	}
	stats = stats_of(model.graphs);
	CHECK_INT(stats.groups, 5);
	CHECK_INT(stats.execs, 5);
	CHECK((stats.device_switches > 50) != is_refused);
	CHECK((stats.updates + stats.node_switches > 50) == is_refused);
	for (uint64_t key = 0; key < 20; key += 3)
		CHECK_INT(tare_graphs_drop(model.graphs, key), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	fake_run(0);
	CHECK(model_is_right(&model, 2, 3, outputs[1]));
	model_fini(&model);
	CHECK_INT(fake.pinned, 0);
	CHECK_INT(fake.modules, 0);
	check_nothing_left();
}

TEST(the_card_switches)
{
	check_device(false);
	check_device(true);
}

TEST(the_card_needs_its_runtime)
{
	struct tare_graphs_options options = { .size = sizeof(options), .device_runtime = "missing" };
	struct tare_graphs *graphs;

	fake_reset();
	CHECK_INT(tare_graphs_create(&options, &graphs), TARE_GRAPHS_DRIVER);
	options.execs_max = 1;
	CHECK_INT(tare_graphs_create(&options, &graphs), TARE_GRAPHS_ARGUMENT);
	CHECK_INT(fake.pinned + fake.modules, 0);
	check_nothing_left();
}
