/* SPDX-License-Identifier: Apache-2.0 */
/* Every driver call fails once, in turn; the device is lost; work that cannot be captured. */
#include "model.h"

#include "../test.h"

#include <stdlib.h>

#define MiB (1ull << 20)

static void check_nothing_left(const char *when, uint64_t call)
{
	if (fake.handles || fake.maps || fake.reservations || fake.graphs || fake.execs || fake.events || fake.used)
		test_fail(__FILE__, __LINE__,
		          "%s %llu: %llu handles, %llu maps, %llu reservations, %llu graphs, %llu execs, %llu events", when,
		          (unsigned long long)call, (unsigned long long)fake.handles, (unsigned long long)fake.maps,
		          (unsigned long long)fake.reservations, (unsigned long long)fake.graphs,
		          (unsigned long long)fake.execs, (unsigned long long)fake.events);
}

static const uint64_t sizes[] = { 3, 5, 34, 2 }; /* 34 rows are more than a granule */
#define KEYS (sizeof(sizes) / sizeof(sizes[0]))

/* Captures, replays, captures again and drops; steps that fail are left out. Returns failures. */
static unsigned play(struct model *model, tare_graphs_address *outputs, bool *is_there)
{
	unsigned failures = 0;

	for (size_t i = 0; i < KEYS; i++) {
		model->cluster = i == 3 ? 2 : 0;
		is_there[i] = model_capture(model, i, sizes[i], &outputs[i]) == 0;
		failures += !is_there[i];
		for (size_t j = 0; j <= i; j++)
			if (is_there[j]) {
				failures += tare_graphs_prepare(model->graphs, j, model->stream) != 0;
				failures += tare_graphs_launch(model->graphs, j, model->stream) != 0;
			}
	}
	return failures;
}

static void check_replays(struct model *model, const tare_graphs_address *outputs, const bool *is_there)
{
	for (size_t i = 0; i < KEYS; i++) {
		if (!is_there[i])
			continue;
		model->cluster = i == 3 ? 2 : 0;
		CHECK_INT(tare_graphs_launch(model->graphs, i, model->stream), 0);
		fake_run(0);
		CHECK(model_is_right(model, sizes[i], model->layers, outputs[i]));
	}
}

static void check_failures_with(int error, const struct tare_graphs_options *options)
{
	tare_graphs_address outputs[KEYS];
	bool is_there[KEYS];
	struct model model;
	uint64_t calls = 1;

	for (uint64_t at = 1; at <= calls; at++) {
		unsigned failures;

		fake_reset();
		fake.exec_bytes_per_node = 1000;
		model_init(&model, options, 34);
		fake.calls = 0;
		fake.fail_at = at;
		fake.fail_with = error;
		failures = play(&model, outputs, is_there);
		calls = fake.calls;
		fake.fail_at = 0;
		if (failures)
			CHECK(*tare_graphs_error());
		CHECK(failures <= 2);
		fake_run(0);
		check_replays(&model, outputs, is_there);
		for (size_t i = 0; i < KEYS; i++) /* and what failed can be done again */
			if (!is_there[i]) {
				model.cluster = i == 3 ? 2 : 0;
				CHECK_INT(model_capture(&model, i, sizes[i], &outputs[i]), 0);
				is_there[i] = true;
			}
		check_replays(&model, outputs, is_there);
		model_fini(&model);
		check_nothing_left("after failing call", at);
	}
	CHECK(calls > 200);
}

TEST(any_call_may_fail)
{
	check_failures_with(999, NULL);
}

TEST(any_call_may_run_out_of_memory)
{
	check_failures_with(CUDA_ERROR_OUT_OF_MEMORY, NULL);
}

TEST(any_call_may_fail_where_the_card_switches)
{
	struct tare_graphs_options options = { .size = sizeof(options), .device_runtime = "libcudadevrt.a" };

	check_failures_with(999, &options);
	CHECK_INT(fake.pinned + fake.modules, 0);
}

TEST(any_call_may_fail_where_executable_graphs_come_and_go)
{
	struct tare_graphs_options options = { .size = sizeof(options), .execs_max = 1 };

	check_failures_with(999, &options);
}

TEST(creating_may_fail_at_any_call)
{
	struct tare_graphs_options options = { .size = sizeof(options),
		                                   .reserve_bytes = 300 * MiB,
		                                   .flags = TARE_GRAPHS_ONE_RANGE };
	struct tare_graphs *graphs;
	uint64_t calls = 1;

	for (uint64_t at = 1; at <= calls; at++) {
		int rc;

		fake_reset();
		fake.fail_at = at;
		fake.fail_with = CUDA_ERROR_OUT_OF_MEMORY;
		rc = tare_graphs_create(&options, &graphs);
		calls = fake.calls > calls ? fake.calls : calls;
		fake.fail_at = 0;
		if (!rc)
			tare_graphs_destroy(graphs);
		check_nothing_left("after creation that failed at call", at);
	}
}

TEST(a_lost_device_ends_in_errors_and_leaks_nothing)
{
	tare_graphs_address outputs[KEYS];
	bool is_there[KEYS];
	struct model model;

	fake_reset();
	model_init(&model, NULL, 64);
	CHECK_INT(play(&model, outputs, is_there), 0);
	fake.is_lost = true;
	CHECK_INT(tare_graphs_launch(model.graphs, 0, model.stream), TARE_GRAPHS_DRIVER);
	CHECK(strstr(tare_graphs_error(), "719"));
	CHECK(model_capture(&model, 9, 4, NULL) < 0);
	CHECK_INT(tare_graphs_drop(model.graphs, 2), 0);
	model_fini(&model);
	check_nothing_left("after loss", 0);
}

TEST(device_memory_may_end_in_a_capture)
{
	tare_graphs_address output;
	struct model model;

	fake_reset();
	model_init(&model, NULL, 512);
	CHECK_INT(model_capture(&model, 1, 8, &output), 0);
	fake.total = fake.used + 30 * MiB;
	CHECK_INT(model_capture(&model, 2, 512, NULL), TARE_GRAPHS_DEVICE_MEMORY);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	fake_run(0);
	CHECK(model_is_right(&model, 8, model.layers, output));
	CHECK_INT(model_capture(&model, 2, 100, NULL), 0);
	model_fini(&model);
	check_nothing_left("after a full device", 0);
}

TEST(the_limit_of_an_arena_holds)
{
	struct tare_graphs_options options = { .size = sizeof(options), .limit_bytes = 8 * MiB };
	struct model model;

	fake_reset();
	model_init(&model, &options, 512);
	CHECK_INT(model_capture(&model, 1, 64, NULL), 0);
	CHECK_INT(model_capture(&model, 2, 65, NULL), TARE_GRAPHS_DEVICE_MEMORY);
	CHECK(strstr(tare_graphs_error(), "limit"));
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	model_fini(&model);
	check_nothing_left("after the limit", 0);
}

TEST(what_cannot_be_captured_is_an_error)
{
	struct model model;

	fake_reset();
	model_init(&model, NULL, 8);
	CHECK_INT(model_capture(&model, 1, 8, NULL), 0);
	CHECK_INT(tare_graphs_begin(model.graphs, 2, model.stream, NULL), 0);
	CHECK_INT(tare_graphs_begin(model.graphs, 3, model.stream, NULL), TARE_GRAPHS_ORDER);
	CHECK_INT(fake_synchronous_call(model.stream), 900);
	CHECK_INT(tare_graphs_end(model.graphs), TARE_GRAPHS_CAPTURE);
	CHECK_INT(tare_graphs_end(model.graphs), TARE_GRAPHS_ORDER);
	CHECK_INT(tare_graphs_launch(model.graphs, 2, model.stream), TARE_GRAPHS_NO_KEY);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	CHECK_INT(cuStreamBeginCapture_v2(model.stream, 0), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), TARE_GRAPHS_CAPTURE);
	{
		CUgraph graph;

		CHECK_INT(cuStreamEndCapture(model.stream, &graph), 0);
		cuGraphDestroy(graph);
	}
	model_fini(&model);
	check_nothing_left("after an uncapturable call", 0);
}

TEST(a_driver_without_parameter_sizes_is_enough)
{
	tare_graphs_address outputs[3];
	struct model model;

	fake_reset();
	fake.params_unknown = 1;
	model_init(&model, NULL, 8);
	CHECK_INT(model_capture(&model, 1, 8, &outputs[1]), 0);
	CHECK_INT(model_capture(&model, 2, 4, &outputs[2]), 0);
	for (uint64_t key = 1; key <= 2; key++) {
		CHECK_INT(tare_graphs_launch(model.graphs, key, model.stream), 0);
		fake_run(0);
		CHECK(model_is_right(&model, key == 1 ? 8 : 4, model.layers, outputs[key]));
	}
	model_fini(&model);
}
