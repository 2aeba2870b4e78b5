/* SPDX-License-Identifier: Apache-2.0 */
/* libtare_graphs: graphs that read what others made. */
#include "model.h"
#include "model_check.h"

#define MiB (1ull << 20)

/* Two pieces per size: the second reads the first one's output. */
static void check_pieces(bool is_declared)
{
	static tare_graphs_address middle[9], out[9];
	struct tare_graphs_capture how = { .size = sizeof(how) };
	struct tare_graphs_stats stats;
	struct model model;
	uint64_t used = 0;

	fake_reset();
	model_init(&model, NULL, 8);
	for (uint64_t rows = 8; rows; rows--) {
		uint64_t first = rows * 10, second = rows * 10 + 1;

		CHECK_INT(model_capture(&model, first, rows, &middle[rows]), 0);
		how.after = is_declared ? &first : NULL;
		CHECK_INT(model_capture_from(&model, second, rows, middle[rows], &how, &out[rows]), 0);
		used = rows == 8 ? fake.used : used;
	}
	CHECK_INT(fake.used, used); /* all sizes have what the largest has */
	stats = stats_of(model.graphs);
	CHECK_INT(stats.moves, is_declared ? 0 : 8);
	for (uint64_t rows = 1; rows <= 8; rows++) {
		CHECK_INT(tare_graphs_launch(model.graphs, rows * 10 + 1, model.stream), TARE_GRAPHS_STALE);
		CHECK_INT(tare_graphs_launch(model.graphs, rows * 10, model.stream), 0);
		CHECK_INT(tare_graphs_launch(model.graphs, rows * 10 + 1, model.stream), 0);
		fake_run(0);
		CHECK(model_is_right(&model, rows, 2 * model.layers, out[rows]));
		CHECK_INT(tare_graphs_check(model.graphs, middle[rows]), 0);
	}
	CHECK_INT(tare_graphs_launch(model.graphs, 20, model.stream), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 81, model.stream), TARE_GRAPHS_STALE);
	CHECK_INT(tare_graphs_drop(model.graphs, 20), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 21, model.stream), TARE_GRAPHS_STALE);
	model_fini(&model);
	check_nothing_left();
}

TEST(pieces_keep_their_memory_apart)
{
	check_pieces(true);
}

TEST(a_graph_that_reads_another_moves_away_from_it)
{
	check_pieces(false);
}

TEST(pieces_share_what_is_not_kept)
{
	struct tare_graphs_capture how = { .size = sizeof(how) };
	tare_graphs_address kept, scratch;
	struct model model;

	fake_reset();
	model_init(&model, NULL, 1);
	for (uint64_t key = 1; key <= 6; key++) {
		uint64_t before = key - 1;

		how.after = key > 1 ? &before : NULL;
		CHECK_INT(tare_graphs_begin(model.graphs, key, model.stream, &how), 0);
		CHECK_INT(tare_graphs_alloc(model.graphs, 2 * MiB, model.stream, &kept), 0);
		CHECK_INT(tare_graphs_alloc(model.graphs, 32 * MiB, model.stream, &scratch), 0);
		fake_memset(scratch, 1, MiB, model.stream);
		fake_memcpy(kept, scratch, MiB, model.stream);
		if (key % 2) /* freed, or kept by a framework's pool but not by the program */
			CHECK_INT(tare_graphs_free(model.graphs, scratch), 0);
		else
			CHECK_INT(tare_graphs_keep(model.graphs, kept, 2 * MiB), 0);
		CHECK_INT(tare_graphs_keep(model.graphs, scratch + 64 * MiB, 1), TARE_GRAPHS_ARGUMENT);
		CHECK_INT(tare_graphs_keep(model.graphs, kept, 2 * MiB), 0);
		CHECK_INT(tare_graphs_end(model.graphs), 0);
	}
	CHECK(stats_of(model.graphs).arena_bytes <= (6 * 2 + 32 + 2) * MiB);
	model_fini(&model);
	check_nothing_left();
}

TEST(declared_reads_are_the_only_ones)
{
	struct tare_graphs_capture how = { .size = sizeof(how), .flags = TARE_GRAPHS_DECLARED };
	tare_graphs_address one, two;
	struct model model;

	fake_reset();
	model_init(&model, NULL, 8);
	CHECK_INT(model_capture(&model, 1, 8, &one), 0);
	/* The address of key 1 is a parameter, but nobody says that it is read. */
	CHECK_INT(model_capture_from(&model, 2, 8, one, &how, &two), 0);
	CHECK_INT(stats_of(model.graphs).moves, 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 2, model.stream), 0);
	CHECK_INT(tare_graphs_begin(model.graphs, 3, model.stream, &how), 0);
	CHECK_INT(tare_graphs_reads(model.graphs, 7), TARE_GRAPHS_NO_KEY);
	CHECK_INT(tare_graphs_reads(model.graphs, 1), 0);
	CHECK_INT(tare_graphs_alloc(model.graphs, MiB, model.stream, &two), 0);
	fake_memcpy(two, one, 4096, model.stream);
	CHECK_INT(tare_graphs_end(model.graphs), 0);
	CHECK_INT(tare_graphs_reads(model.graphs, 1), TARE_GRAPHS_ORDER);
	CHECK_INT(stats_of(model.graphs).moves, 1);
	CHECK_INT(tare_graphs_launch(model.graphs, 3, model.stream), TARE_GRAPHS_STALE);
	CHECK_INT(tare_graphs_launch(model.graphs, 1, model.stream), 0);
	CHECK_INT(tare_graphs_launch(model.graphs, 3, model.stream), 0);
	fake_run(0);
	CHECK(*(uint64_t *)(uintptr_t)two == *(uint64_t *)(uintptr_t)one);
	model_fini(&model);
	check_nothing_left();
}
