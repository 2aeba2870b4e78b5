/* SPDX-License-Identifier: Apache-2.0 */
/* What cuDNN takes as workspace on a card, from the shape of a convolution and the plan that was chosen without one. */
#include "simgpu/libs/cudnn_rule.h"

#include <stdlib.h>
#include <string.h>

/* Engines of cuDNN 9.19 on compute capability 9.0, and the knobs that matter. */
enum {
	GEMM_FORWARD = 58, /* on cuBLAS */
	GEMM_FILTER = 62,
	GEMM_DATA = 63,
	HALF_FORWARD = 62, /* tiles that persistent blocks work through, split where blocks would be idle */
	HALF_DATA = 67,
	HALF_FILTER = 65,
	FLOAT_FORWARD = 67,
	FLOAT_DATA = 71,
	FLOAT_FILTER = 68,

	TILE = 2,       /* CUDNN_KNOB_TYPE_TILE_SIZE */
	WORKSPACE = 25, /* … WORKSPACE */
	CLUSTER_M = 27, /* … TILE_CGA_M */
	CLUSTER_N = 28,
};

/* What cuBLAS's kernels for rows of a multiple of 16 bytes take for themselves. */
enum { GEMM_FLOAT = 400, GEMM_HALF = 272 };

/* Beside transposed tensors: their alignment; and a counter of tiles, where blocks take more than one. */
enum { ALIGNMENT = 16, COUNTER = 131, SPLIT_HEAD = 159 };

void sim_conv_plan_clear(struct sim_conv_plan *plan)
{
	plan->engine = -1;
	for (int i = 0; i < SIM_CONV_KNOBS; i++)
		plan->knobs[i] = SIM_CONV_NO_KNOB;
}

bool sim_conv_plan_parse(const char *text, struct sim_conv_plan *plan)
{
	char *end;

	sim_conv_plan_clear(plan);
	plan->engine = (int)strtol(text, &end, 10);
	if (end == text || *end != ':')
		return false;
	for (text = end + 1; *text && *text != ' ' && *text != '\n'; text = end + (*end == ',')) {
		long knob = strtol(text, &end, 10);

		if (end == text || *end != '=' || knob < 0 || knob >= SIM_CONV_KNOBS)
			return false;
		text = end + 1;
		plan->knobs[knob] = (int)strtol(text, &end, 10);
		if (end == text)
			return false;
	}
	return true;
}

/* The convolution as a product of matrices: M × N results, each of K terms. */
struct shape {
	int64_t m, n, k;
	int64_t taps;    /* of the filter: height × width */
	int64_t x, y, w; /* bytes of the tensors */
	int64_t pixels;  /* of a result */
	bool transposes; /* tensors are in another order than engines have them */
};

static struct shape shape_of(const struct sim_conv *conv)
{
	struct shape shape = { .taps = 1, .pixels = 1 };
	int64_t size = conv->type == 0 ? 4 : 2, in = 1, batch = conv->x.dims[0];
	int64_t channels = conv->x.dims[1], results = conv->y.dims[1];

	for (int i = 2; i < conv->rank; i++) {
		shape.taps *= conv->w.dims[i];
		shape.pixels *= conv->y.dims[i];
		in *= conv->x.dims[i];
	}
	shape.x = batch * channels * in * size;
	shape.y = batch * results * shape.pixels * size;
	shape.w = results * conv->w.dims[1] * shape.taps * size;
	shape.transposes = !conv->channels_last && (in > 1 || shape.pixels > 1);
	switch (conv->direction) {
	case SIM_CONV_FORWARD:
		shape.m = batch * shape.pixels, shape.n = results, shape.k = channels * shape.taps;
		break;
	case SIM_CONV_DATA:
		shape.m = batch * in, shape.n = channels, shape.k = results * shape.taps;
		break;
	case SIM_CONV_FILTER:
		shape.m = results, shape.n = channels * shape.taps, shape.k = batch * shape.pixels;
		break;
	}
	return shape;
}

/* Copies of tensors in the engine's order. A filter of 1×1 is the same in both. */
static int64_t copies(const struct shape *shape)
{
	if (!shape->transposes)
		return 0;
	return shape->x + shape->y + (shape->taps > 1 ? shape->w : 0) + ALIGNMENT;
}

static int64_t divide_up(int64_t of, int64_t by)
{
	return (of + by - 1) / by;
}

static int64_t round_up(int64_t of, int64_t to)
{
	return divide_up(of, to) * to;
}

/* Tiles that a launch has, whole clusters of them. */
static int64_t count_tiles(int64_t m_tiles, int64_t n_tiles, const struct sim_conv_plan *plan)
{
	return round_up(m_tiles, plan->knobs[CLUSTER_M]) * round_up(n_tiles, plan->knobs[CLUSTER_N]);
}

/* Blocks of a cluster that run at once: an H100's 132 multiprocessors are in groups that clusters do not fill. */
static int64_t count_blocks(const struct sim_conv_card *card, const struct sim_conv_plan *plan)
{
	int64_t cluster = (int64_t)plan->knobs[CLUSTER_M] * plan->knobs[CLUSTER_N];
	int64_t blocks = card->processors;

	if (cluster == 5)
		blocks = card->processors * 110 / 132;
	else if (cluster >= 4)
		blocks = card->processors * 120 / 132 / cluster * cluster;
	return blocks > 0 ? blocks : 1;
}

/* How often halves are added up until one is left, and how many sums that are. */
static int count_levels(int64_t splits)
{
	int levels = 0;

	for (; splits > 1; splits = divide_up(splits, 2))
		levels++;
	return levels;
}

static int64_t count_sums(int64_t splits)
{
	int64_t sums = 0;

	while (splits > 1) {
		splits = divide_up(splits, 2);
		sums += splits;
	}
	return sums;
}

/* Tiles of a launch and how they may be split. */
struct tiling {
	int64_t tiles, tile_bytes, blocks;
	int64_t steps;     /* along K, of a tile */
	int64_t most;      /* splits of a tile */
	int alone, behind; /* what a level of sums costs, in halves of a step: without a full wave before, with one */
};

/* The tiles of the last wave are split among all blocks, as far as that pays. */
static int64_t split_cost(const struct tiling *tiling)
{
	int64_t full = tiling->tiles / tiling->blocks, last = tiling->tiles % tiling->blocks;
	int64_t counter = tiling->tiles > 2 * tiling->blocks ? 4 : 0;
	int64_t most = last ? tiling->blocks / last : 1, best = 1, least = INT64_MAX;

	if (most > tiling->most)
		most = tiling->most;
	for (int64_t splits = 1; splits <= most; splits++) {
		int64_t cost =
			2 * divide_up(tiling->steps, splits) + (full ? tiling->behind : tiling->alone) * count_levels(splits);

		if (cost < least) {
			least = cost;
			best = splits;
		}
	}
	if (best == 1)
		return counter ? COUNTER : 0;
	return last * best * tiling->tile_bytes + SPLIT_HEAD + counter + 4 * last * count_sums(best);
}

/* Tiles by the knob TILE: {value, M, N}. */
struct tile {
	int knob, m, n;
};
static const struct tile filter_tiles[] = {
	{ 0, 128, 128 }, { 1, 128, 64 }, { 4, 256, 64 }, { 5, 64, 64 }, { -1, 128, 128 }
};
static const struct tile split_tiles[] = { { 0, 128, 128 }, { 1, 128, 64 },  { 3, 256, 128 },  { 4, 256, 64 },
	                                       { 5, 128, 64 },  { 16, 256, 64 }, { 18, 128, 192 }, { -1, 128, 128 } };
/* Without splits a wave has twice as many tiles. */
static const struct tile whole_tiles[] = { { 0, 256, 128 }, { 4, 256, 64 },   { 5, 128, 64 },
	                                       { 16, 256, 64 }, { 18, 128, 192 }, { -1, 128, 128 } };

static const struct tile *find_tile(const struct tile *tiles, int knob)
{
	while (tiles->knob >= 0 && tiles->knob != knob)
		tiles++;
	return tiles;
}

static int64_t whole(const struct shape *shape, const struct tile *tile, const struct sim_conv_card *card,
                     const struct sim_conv_plan *plan)
{
	int64_t tiles = count_tiles(divide_up(shape->m, tile->m), divide_up(shape->n, tile->n), plan);

	return tiles > card->processors ? COUNTER : 0;
}

static int64_t of_filter(const struct sim_conv *conv, const struct shape *shape, const struct sim_conv_card *card,
                         const struct sim_conv_plan *plan)
{
	const struct tile *tile = find_tile(filter_tiles, plan->knobs[TILE]);
	bool half = conv->type != 0;
	struct tiling tiling = {
		.tiles = count_tiles(divide_up(shape->m, tile->m), shape->taps * divide_up(conv->w.dims[1], tile->n), plan),
		.tile_bytes = (int64_t)tile->m * tile->n * 4,
		.blocks = half ? card->processors * 120 / 132 : card->processors,
		.steps = divide_up(shape->k, half ? 64 : 32),
		.most = INT64_MAX,
		.alone = half ? 128 : 32,
		.behind = half ? 80 : 5,
	};

	if (half && plan->knobs[WORKSPACE] == 1)
		return tiling.tiles > card->processors ? COUNTER : 0;
	return split_cost(&tiling);
}

static int64_t of_image(const struct sim_conv *conv, const struct shape *shape, const struct sim_conv_card *card,
                        const struct sim_conv_plan *plan)
{
	const struct tile *tile = find_tile(split_tiles, plan->knobs[TILE]);
	struct tiling tiling = {
		.tiles = count_tiles(divide_up(shape->m, tile->m), divide_up(shape->n, tile->n), plan),
		.tile_bytes = (int64_t)tile->m * tile->n * 4,
		.blocks = count_blocks(card, plan),
		.steps = divide_up(shape->k, 32),
		.alone = 40,
		.behind = plan->knobs[TILE] == 1 ? 20 : 8,
	};

	if (conv->type != 0)
		return whole(shape, &whole_tiles[0], card, plan);
	if (plan->knobs[WORKSPACE] == 1)
		return whole(shape, find_tile(whole_tiles, plan->knobs[TILE]), card, plan);
	tiling.most = tiling.steps >= 16 ? tiling.steps / 8 : 1;
	return split_cost(&tiling);
}

/* A product for each image: the gradients of a filter are added up afterwards. */
static int64_t product(const struct sim_conv *conv, const struct shape *shape)
{
	return conv->direction == SIM_CONV_FILTER ? conv->x.dims[0] * shape->m * shape->n * 4 : 0;
}

/* Do rows end at a multiple of 16 bytes, and are there tiles for half of the card? */
static bool fills(const struct sim_conv *conv, const struct shape *shape, const struct sim_conv_card *card)
{
	int64_t images = shape->transposes ? conv->x.dims[0] : 1, row = shape->pixels, tiles;

	if (conv->direction == SIM_CONV_FILTER)
		tiles = images * divide_up(shape->m, 128) * divide_up(shape->n, 128);
	else
		tiles = images * divide_up(shape->m / images, 128) * divide_up(shape->n, 128);
	if (shape->transposes && row * (conv->type == 0 ? 4 : 2) % 16)
		return false;
	return 2 * tiles >= card->processors;
}

/* By shape alone: the engines that are chosen most often. */
static int64_t alone(const struct sim_conv *conv, const struct sim_conv_card *card, const char **rule)
{
	struct shape shape = shape_of(conv);
	struct sim_conv_plan plan;
	bool plain = shape.taps == 1 && conv->groups == 1;

	for (int i = 0; i < conv->rank - 2; i++)
		plain = plain && conv->strides[i] == 1 && conv->pads[i] == 0;
	sim_conv_plan_clear(&plan);
	plan.knobs[CLUSTER_M] = plan.knobs[CLUSTER_N] = 1;
	plan.knobs[TILE] = 0;
	plan.knobs[WORKSPACE] = conv->direction != SIM_CONV_FILTER;
	*rule = "shape";
	if (conv->groups > 1 && conv->groups == conv->x.dims[1])
		return 0;
	if (plain && shape.transposes)
		return product(conv, &shape);
	if (plain && shape.pixels == 1)
		return 0;
	return copies(&shape) + (conv->direction == SIM_CONV_FILTER ? of_filter(conv, &shape, card, &plan)
	                                                            : of_image(conv, &shape, card, &plan));
}

static bool is_engine(const struct sim_conv *conv, int engine, int forward, int data, int filter)
{
	return engine == (conv->direction == SIM_CONV_FORWARD ? forward : conv->direction == SIM_CONV_DATA ? data : filter);
}

int64_t sim_cudnn_rule(const struct sim_conv *conv, const struct sim_conv_card *card, const struct sim_conv_plan *plan,
                       int64_t deviceless, const char **rule)
{
	struct shape shape = shape_of(conv);
	bool half = conv->type == 2 || conv->type == 9;
	bool clusters;

	if (deviceless < 0)
		return alone(conv, card, rule);
	*rule = "deviceless";
	if (!plan || card->capability != 90 || conv->rank != 4 || (conv->type != 0 && !half))
		return deviceless;
	clusters = plan->knobs[CLUSTER_M] > 0 && plan->knobs[CLUSTER_N] > 0;
	if (!clusters && plan->knobs[WORKSPACE] != SIM_CONV_NO_KNOB &&
	    is_engine(conv, plan->engine, GEMM_FORWARD, GEMM_DATA, GEMM_FILTER)) {
		/* With one pixel, or of a filter in NHWC, work is split, and how is not known. */
		if (shape.pixels == 1 || (!shape.transposes && conv->direction == SIM_CONV_FILTER))
			return deviceless;
		*rule = "gemm";
		return product(conv, &shape) +
		       (plan->knobs[WORKSPACE] && fills(conv, &shape, card) ? half ? GEMM_HALF : GEMM_FLOAT : 0);
	}
	if (!clusters || !(half ? is_engine(conv, plan->engine, HALF_FORWARD, HALF_DATA, HALF_FILTER)
	                        : is_engine(conv, plan->engine, FLOAT_FORWARD, FLOAT_DATA, FLOAT_FILTER)))
		return deviceless;
	*rule = "waves";
	return copies(&shape) + (conv->direction == SIM_CONV_FILTER ? of_filter(conv, &shape, card, plan)
	                                                            : of_image(conv, &shape, card, plan));
}
