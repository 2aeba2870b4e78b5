/* SPDX-License-Identifier: Apache-2.0 */
/* libtare_graphs: memory, switching, order and what it refuses. Faults are in t_graphs_faults.c. */
#include "model.h"
#include "model_check.h"

#include "../test.h"

#include <pthread.h>
#include <stdlib.h>

#define MiB   (1ull << 20)
#define SIZES 160 /* an arena of ten granules: what a size costs grows with its square */

static uint64_t order_of(int order, uint64_t i, const uint64_t *shuffled)
{
	return order == 0 ? i + 1 : order == 1 ? SIZES - i : shuffled[i];
}

static void shuffle(uint64_t *sizes, unsigned seed)
{
	for (uint64_t i = 0; i < SIZES; i++) {
		uint64_t j = (uint64_t)rand_r(&seed) % (i + 1);

		sizes[i] = sizes[j];
		sizes[j] = i + 1;
	}
}

static uint64_t memory_of_largest(void)
{
	struct model model;
	uint64_t used;

	fake_reset();
	fake.exec_bytes_per_node = 1200;
	model_init(&model, NULL, SIZES);
	CHECK_INT(model_capture(&model, SIZES, SIZES, NULL), 0);
	used = fake.used;
	model_fini(&model);
	return used;
}

static void check_order(int order, uint64_t largest)
{
	static tare_graphs_address outputs[SIZES + 1];
	static uint64_t shuffled[SIZES];
	struct tare_graphs_stats stats;
	struct model model;

	shuffle(shuffled, 7);
	fake_reset();
	fake.exec_bytes_per_node = 1200;
	model_init(&model, NULL, SIZES);
	for (uint64_t i = 0; i < SIZES; i++) {
		uint64_t rows = order_of(order, i, shuffled);

		CHECK_INT(model_capture(&model, rows, rows, &outputs[rows]), 0);
		CHECK(fake.used <= largest + 2 * MiB);
	}
	CHECK(fake.used - largest <= 2 * MiB);
	stats = stats_of(model.graphs);
	CHECK_INT(stats.captures, SIZES);
	CHECK_INT(stats.groups, 1);
	CHECK_INT(stats.execs, 1);
	CHECK_INT(stats.largest_bytes, 2 * SIZES * ROW_BYTES);
	CHECK_INT(stats.sum_bytes, 2 * (SIZES * (SIZES + 1) / 2) * ROW_BYTES);
	for (uint64_t i = 0; i < SIZES; i++) {
		CHECK_INT(tare_graphs_launch(model.graphs, shuffled[i], model.stream), 0);
		fake_run(0);
		CHECK(model_is_right(&model, shuffled[i], model.layers, outputs[shuffled[i]]));
	}
	model_fini(&model);
	check_nothing_left();
}

TEST(memory_is_the_largest_sizes_in_any_order)
{
	uint64_t largest = memory_of_largest();

	for (int order = 0; order < 3; order++)
		check_order(order, largest);
}

TEST(mixed_replays_allocate_nothing)
{
	static tare_graphs_address outputs[33];
	struct model model;
	uint64_t creates, used;
	unsigned seed = 3;

	fake_reset();
	model_init(&model, NULL, 32);
	for (uint64_t rows = 1; rows <= 32; rows++)
		CHECK_INT(model_capture(&model, rows, rows, &outputs[rows]), 0);
	creates = fake.creates;
	used = fake.used;
	for (int i = 0; i < 100000; i++) {
		uint64_t rows = 1 + (uint64_t)rand_r(&seed) % 32;

		CHECK_INT(tare_graphs_launch(model.graphs, rows, model.stream), 0);
		if (i % 64)
			continue;
		fake_run(0);
		CHECK(model_is_right(&model, rows, model.layers, outputs[rows]));
	}
	CHECK_INT(fake.creates, creates);
	CHECK_INT(fake.used, used);
	CHECK_INT(stats_of(model.graphs).launches, 100000);
	fake_run(0);
	model_fini(&model);
	check_nothing_left();
}

TEST(a_repeated_key_costs_no_switch)
{
	struct tare_graphs_stats stats;
	struct model model;
	uint64_t updates;

	fake_reset();
	model_init(&model, NULL, 8);
	CHECK_INT(model_capture(&model, 1, 1, NULL), 0);
	CHECK_INT(model_capture(&model, 2, 2, NULL), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	updates = stats_of(model.graphs).updates;
	for (int i = 0; i < 10; i++)
		CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	stats = stats_of(model.graphs);
	CHECK_INT(stats.updates, updates);
	CHECK_INT(stats.repeats, 10);
	model_fini(&model);
}

TEST(topologies_and_dropped_attributes_have_their_own_groups)
{
	tare_graphs_address outputs[4];
	struct model model;

	fake_reset();
	model_init(&model, NULL, 8);
	CHECK_INT(model_capture(&model, 1, 4, &outputs[1]), 0);
	model.cluster = 2;
	CHECK_INT(model_capture(&model, 2, 4, &outputs[2]), 0);
	model.cluster = 0;
	model.layers = 5;
	CHECK_INT(model_capture(&model, 3, 4, &outputs[3]), 0);
	CHECK_INT(stats_of(model.graphs).groups, 3);
	CHECK_INT(stats_of(model.graphs).groups_refused, 0);
	model.layers = 4;
	for (int i = 0; i < 3; i++) {
		CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
		fake_run(0);
		CHECK(model_is_right(&model, 4, 4, outputs[1]));
		CHECK_INT(tare_graphs_launch(model.graphs, 2, model.stream), 0);
		fake_run(0);
		model.cluster = 2;
		CHECK(model_is_right(&model, 4, 4, outputs[2]));
		model.cluster = 0;
	}
	model_fini(&model);
	check_nothing_left();
}

static int capture_memset(struct model *model, uint64_t key, size_t bytes, int type)
{
	tare_graphs_address at;
	int rc = tare_graphs_begin(model->graphs, key, model->stream, NULL);

	if (!rc)
		rc = tare_graphs_alloc(model->graphs, bytes, model->stream, &at);
	if (rc)
		return rc;
	fake_memset(at, (unsigned char)key, bytes, model->stream);
	if (type)
		fake_node(type, model->stream);
	return tare_graphs_end(model->graphs);
}

TEST(what_cannot_be_updated_gets_its_own_exec)
{
	struct tare_graphs_group_info rows[4];
	struct model model;

	fake_reset();
	model_init(&model, NULL, 8);
	CHECK_INT(capture_memset(&model, 1, 512, 0), 0);
	CHECK_INT(capture_memset(&model, 2, 4096, 0), 0);
	CHECK_INT(stats_of(model.graphs).groups, 1);
	CHECK_INT(capture_memset(&model, 3, 512, CU_GRAPH_NODE_TYPE_MEM_ALLOC), 0);
	CHECK_INT(capture_memset(&model, 4, 512, CU_GRAPH_NODE_TYPE_MEM_ALLOC), 0);
	CHECK_INT(tare_graphs_list_groups(model.graphs, rows, 4), 3);
	CHECK_INT(rows[0].keys, 2);
	CHECK_INT(rows[1].keys, 1);
	for (uint64_t key = 1; key <= 4; key++)
		CHECK_INT(tare_graphs_launch(model.graphs, key, model.stream), 0);
	model_fini(&model);
	check_nothing_left();
}

TEST(nodes_are_set_one_by_one_where_few_differ)
{
	struct tare_graphs_options options = { .size = sizeof(options), .flags = TARE_GRAPHS_ONE_RANGE };
	tare_graphs_address outputs[3];
	struct tare_graphs_stats stats;
	struct model model;

	fake_reset();
	model_init(&model, &options, 8);
	for (uint64_t key = 0; key < 3; key++) {
		tare_graphs_address at;
		uint32_t k = 1;
		void *params[] = { &at, &model.input, &k };

		CHECK_INT(tare_graphs_begin(model.graphs, key, model.stream, NULL), 0);
		CHECK_INT(tare_graphs_alloc(model.graphs, 8 * ROW_BYTES, model.stream, &at), 0);
		for (int i = 0; i < 20; i++) {
			k = i == 19 ? 1 + (uint32_t)key : 1;
			fake_launch(&model_layer, 8 * ROW_WORDS, 0, model.stream, params);
		}
		CHECK_INT(tare_graphs_end(model.graphs), 0);
		outputs[key] = at;
	}
	CHECK(outputs[0] == outputs[1]);
	CHECK_INT(tare_graphs_check(model.graphs, outputs[0]), TARE_GRAPHS_UNSUPPORTED);
	for (int i = 0; i < 9; i++) {
		uint64_t key = (uint64_t)i % 3;

		CHECK_INT(tare_graphs_launch(model.graphs, key, model.stream), 0);
		fake_run(0);
		CHECK_INT(*(uint64_t *)(uintptr_t)outputs[key], model.input[0] * 3 + 1 + key);
	}
	stats = stats_of(model.graphs);
	/* Which way is cheaper is measured while it runs, so how often depends on the machine's mood. */
	CHECK(stats.node_switches >= 1);
	CHECK_INT(stats.node_switch_nodes, stats.node_switches);
	model_fini(&model);
	check_nothing_left();
}

TEST(stale_outputs_are_told)
{
	tare_graphs_address one, two;
	struct model model;

	fake_reset();
	model_init(&model, NULL, 8);
	CHECK_INT(model_capture(&model, 1, 4, &one), 0);
	CHECK_INT(model_capture(&model, 2, 8, &two), 0);
	CHECK_INT(tare_graphs_check(model.graphs, one), TARE_GRAPHS_STALE); /* not replayed yet */
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	CHECK_INT(tare_graphs_check(model.graphs, one), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 2, model.stream), 0);
	CHECK_INT(tare_graphs_check(model.graphs, two), 0);
	CHECK_INT(tare_graphs_check(model.graphs, one), TARE_GRAPHS_STALE);
	CHECK(strstr(tare_graphs_error(), "key 1"));
	CHECK_INT(tare_graphs_check(model.graphs, 4096), TARE_GRAPHS_ARGUMENT);
	model_fini(&model);
}

TEST(replays_on_two_streams_do_not_overlap)
{
	tare_graphs_address outputs[9];
	struct model model;
	CUstream other;

	fake_reset();
	model_init(&model, NULL, 8);
	other = fake_stream_new();
	for (uint64_t key = 1; key <= 8; key++)
		CHECK_INT(model_capture(&model, key, key, &outputs[key]), 0);
	for (unsigned seed = 1; seed <= 300; seed++) {
		uint64_t a = 1 + seed % 8, b = 1 + seed / 8 % 8;

		CHECK_INT(tare_graphs_launch(model.graphs, a, model.stream), 0);
		fake_run_some(seed, seed % 4);
		CHECK_INT(tare_graphs_launch(model.graphs, b, other), 0);
		fake_run(seed);
		CHECK(fake_is_idle());
		CHECK(model_is_right(&model, b, model.layers, outputs[b]));
	}
	CHECK(stats_of(model.graphs).waits >= 599);
	fake_stream_delete(other);
	model_fini(&model);
	check_nothing_left();
}

TEST(overlap_is_refused_where_asked)
{
	struct tare_graphs_options options = { .size = sizeof(options), .flags = TARE_GRAPHS_REFUSE_OVERLAP };
	struct model model;
	CUstream other;

	fake_reset();
	model_init(&model, &options, 8);
	other = fake_stream_new();
	CHECK_INT(model_capture(&model, 1, 4, NULL), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, other), TARE_GRAPHS_BUSY);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	fake_run(0);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, other), 0);
	CHECK_INT(stats_of(model.graphs).refusals, 1);
	model_fini(&model);
	fake_stream_delete(other);
}

TEST(two_arenas_run_side_by_side)
{
	tare_graphs_address one, two;
	struct model a, b;

	fake_reset();
	model_init(&a, NULL, 8);
	model_init(&b, NULL, 8);
	CHECK_INT(model_capture(&a, 1, 8, &one), 0);
	CHECK_INT(model_capture(&b, 1, 8, &two), 0);
	for (unsigned seed = 1; seed < 100; seed++) {
		CHECK_INT(tare_graphs_launch(a.graphs, 1, a.stream), 0);
		CHECK_INT(tare_graphs_launch(b.graphs, 1, b.stream), 0);
		fake_run(seed);
		CHECK(model_is_right(&a, 8, a.layers, one));
		CHECK(model_is_right(&b, 8, b.layers, two));
	}
	CHECK_INT(stats_of(a.graphs).waits, 0);
	model_fini(&a);
	model_fini(&b);
	check_nothing_left();
}

TEST(dropping_gives_memory_back)
{
	struct model model;
	uint64_t small;

	fake_reset();
	model_init(&model, NULL, 512);
	CHECK_INT(model_capture(&model, 1, 16, NULL), 0);
	small = fake.used;
	CHECK_INT(model_capture(&model, 2, 512, NULL), 0);
	CHECK(fake.used > small);
	CHECK_INT(tare_graphs_launch(model.graphs, 2, model.stream), 0);
	CHECK_INT(tare_graphs_drop(model.graphs, 2), 0);
	CHECK_INT(fake.used, small);
	CHECK_INT(tare_graphs_drop(model.graphs, 2), TARE_GRAPHS_NO_KEY);
	CHECK_INT(tare_graphs_launch(model.graphs, 2, model.stream), TARE_GRAPHS_NO_KEY);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	CHECK_INT(tare_graphs_drop(model.graphs, 1), 0);
	CHECK_INT(fake.used, 0);
	CHECK_INT(fake.execs, 0);
	CHECK_INT(model_capture(&model, 1, 16, NULL), 0);
	model_fini(&model);
	check_nothing_left();
}

TEST(a_key_can_be_captured_again)
{
	tare_graphs_address output;
	struct model model;

	fake_reset();
	model_init(&model, NULL, 16);
	for (int i = 0; i < 50; i++) {
		uint64_t rows = 1 + (uint64_t)i % 16;

		CHECK_INT(model_capture(&model, 5, rows, &output), 0);
		CHECK_INT(tare_graphs_launch(model.graphs, 5, model.stream), 0);
		fake_run(0);
		CHECK(model_is_right(&model, rows, model.layers, output));
		CHECK(fake.graphs <= 2); /* the template, and the one that names the nodes of the exec */
	}
	CHECK(fake.reservations < 4);
	model_fini(&model);
	check_nothing_left();
}

/* Big, small, free big, bigger: first come first served wastes what a plan does not. */
static int enqueue_awkwardly(struct model *model)
{
	tare_graphs_address a, b, c, d;
	struct tare_graphs *graphs = model->graphs;

	if (tare_graphs_alloc(graphs, 4 * MiB, model->stream, &a) || tare_graphs_alloc(graphs, 2 * MiB, model->stream, &b))
		return -1;
	fake_memset(a, 1, 4 * MiB, model->stream);
	fake_memset(b, 2, 2 * MiB, model->stream);
	if (tare_graphs_free(graphs, a) || tare_graphs_alloc(graphs, 8 * MiB, model->stream, &c))
		return -1;
	fake_memset(c, 3, 8 * MiB, model->stream);
	if (tare_graphs_free(graphs, b) || tare_graphs_alloc(graphs, 2 * MiB, model->stream, &d))
		return -1;
	fake_memset(d, 4, 2 * MiB, model->stream);
	return tare_graphs_free(graphs, c) || tare_graphs_free(graphs, d) ? -1 : 0;
}

TEST(a_rehearsal_makes_a_plan)
{
	struct tare_graphs_capture rehearse = { .size = sizeof(rehearse), .flags = TARE_GRAPHS_REHEARSE };
	struct tare_graphs_stats stats;
	struct model model;

	fake_reset();
	model_init(&model, NULL, 1);
	CHECK_INT(tare_graphs_begin(model.graphs, 1, model.stream, NULL), 0);
	CHECK_INT(enqueue_awkwardly(&model), 0);
	CHECK_INT(tare_graphs_end(model.graphs), 0);
	CHECK_INT(stats_of(model.graphs).largest_bytes, 14 * MiB);
	CHECK_INT(tare_graphs_drop(model.graphs, 1), 0);

	CHECK_INT(tare_graphs_begin(model.graphs, 1, model.stream, &rehearse), 0);
	CHECK_INT(enqueue_awkwardly(&model), 0);
	CHECK_INT(tare_graphs_end(model.graphs), 0);
	CHECK_INT(tare_graphs_begin(model.graphs, 1, model.stream, NULL), 0);
	CHECK_INT(enqueue_awkwardly(&model), 0);
	CHECK_INT(tare_graphs_end(model.graphs), 0);
	stats = stats_of(model.graphs);
	CHECK_INT(stats.planned, 1);
	CHECK_INT(stats.largest_bytes, 10 * MiB);
	CHECK_INT(stats.arena_bytes, 10 * MiB);

	CHECK_INT(tare_graphs_begin(model.graphs, 2, model.stream, &rehearse), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), TARE_GRAPHS_BUSY);
	tare_graphs_abort(model.graphs);

	/* A capture that asks for something else goes its own way, above the plan. */
	CHECK_INT(model_capture(&model, 1, 1, NULL), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	model_fini(&model);
	check_nothing_left();
}

TEST(streams_of_one_capture_keep_what_they_freed)
{
	tare_graphs_address a, b, c;
	struct model model;
	CUstream other;

	fake_reset();
	model_init(&model, NULL, 1);
	other = fake_stream_new();
	CHECK_INT(tare_graphs_begin(model.graphs, 1, model.stream, NULL), 0);
	CHECK_INT(tare_graphs_alloc(model.graphs, MiB, model.stream, &a), 0);
	CHECK_INT(tare_graphs_free(model.graphs, a), 0);
	CHECK_INT(tare_graphs_free(model.graphs, a), TARE_GRAPHS_ARGUMENT);
	CHECK_INT(tare_graphs_alloc(model.graphs, MiB, other, &b), 0);
	CHECK_INT(tare_graphs_alloc(model.graphs, MiB, model.stream, &c), 0);
	CHECK(a != b && a == c);
	CHECK_INT(tare_graphs_end(model.graphs), 0);
	fake_stream_delete(other);
	model_fini(&model);
}

TEST(pools_of_frameworks_get_memory_of_the_open_capture)
{
	struct tare_graphs_capture how = { .size = sizeof(how), .flags = TARE_GRAPHS_FOREIGN };
	struct tare_graphs_capture unknown = { .size = sizeof(how), .flags = 64 };
	tare_graphs_address at;
	struct model model;
	CUgraph graph;

	fake_reset();
	model_init(&model, NULL, 1);
	CHECK(!tare_graphs_pool_alloc(512, 0, model.stream));
	CHECK_INT(tare_graphs_begin(model.graphs, 9, model.stream, &how), 0);
	CHECK_INT(cuStreamBeginCapture_v2(model.stream, 0), 0);
	at = (uintptr_t)tare_graphs_pool_alloc(20 * MiB, 0, model.stream);
	CHECK(at);
	CHECK(!tare_graphs_pool_alloc(512, 1, model.stream));
	fake_memset(at, 9, MiB, model.stream);
	CHECK_INT(cuStreamEndCapture(model.stream, &graph), 0);
	CHECK_INT(tare_graphs_end(model.graphs), TARE_GRAPHS_ORDER);
	CHECK_INT(tare_graphs_adopt(model.graphs, graph), 0);
	CHECK_INT(cuGraphDestroy(graph), 0);
	tare_graphs_pool_free((void *)(uintptr_t)at, 20 * MiB, 0, model.stream);
	CHECK_INT(tare_graphs_launch(model.graphs, 9, model.stream), 0);
	fake_run(0);
	CHECK_INT(*(unsigned char *)(uintptr_t)at, 9);
	CHECK_INT(tare_graphs_begin(model.graphs, 9, model.stream, &unknown), TARE_GRAPHS_ARGUMENT);
	model_fini(&model);
	check_nothing_left();
}

static void *launch_many(void *arg)
{
	struct model *model = arg;
	CUstream stream = fake_stream_new();
	unsigned seed = (unsigned)(uintptr_t)stream;
	long failed = 0;

	for (int i = 0; i < 2000; i++)
		failed += tare_graphs_launch(model->graphs, 1 + (uint64_t)rand_r(&seed) % 8, stream) != 0;
	return (void *)failed;
}

TEST(threads_may_launch_at_once)
{
	tare_graphs_address outputs[9];
	pthread_t threads[2];
	struct model model;
	void *failed;

	fake_reset();
	model_init(&model, NULL, 8);
	for (uint64_t key = 1; key <= 8; key++)
		CHECK_INT(model_capture(&model, key, key, &outputs[key]), 0);
	for (int i = 0; i < 2; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, launch_many, &model), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(pthread_join(threads[i], &failed), 0);
		CHECK(!failed);
	}
	fake_run(11);
	CHECK(fake_is_idle());
	CHECK_INT(tare_graphs_launch(model.graphs, 8, model.stream), 0);
	fake_run(0);
	CHECK(model_is_right(&model, 8, model.layers, outputs[8]));
	model_fini(&model);
	check_nothing_left();
}

TEST(names_come_from_the_tables)
{
	size_t count = 0;

	while (tare_graphs_stat_name(count))
		count++;
	CHECK_INT(count * sizeof(uint64_t), sizeof(struct tare_graphs_stats));
	CHECK_STR(tare_graphs_stat_name(1), "arena_bytes");
	CHECK_STR(tare_graphs_result_name(TARE_GRAPHS_STALE), "STALE");
	CHECK_STR(tare_graphs_result_name(0), "OK");
	CHECK_INT(tare_graphs_launch(NULL, 1, NULL), TARE_GRAPHS_ARGUMENT);
}
