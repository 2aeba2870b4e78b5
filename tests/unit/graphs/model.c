/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <stdlib.h>

#define STRIDE (ROW_BYTES / ROW_WORDS / sizeof(uint64_t))

static uint64_t layer(uint64_t value, uint64_t k, unsigned cluster)
{
	return value * 3 + k + cluster;
}

static void run_layer(unsigned grid, unsigned cluster, void **params)
{
	uint64_t *out = *(uint64_t **)params[0];
	const uint64_t *in = *(uint64_t **)params[1];
	uint64_t k = *(uint32_t *)params[2];

	for (size_t i = 0; i < grid; i++)
		out[i * STRIDE] = layer(in[i * STRIDE], k, cluster);
}

const struct fake_kernel model_layer = { run_layer, 3, { 8, 8, 4 } };

void model_init(struct model *model, const struct tare_graphs_options *options, uint64_t rows_max)
{
	*model = (struct model){ .rows_max = rows_max, .layers = 4 };
	if (tare_graphs_create(options, &model->graphs))
		abort();
	model->stream = fake_stream_new();
	model->input = calloc(rows_max, ROW_BYTES);
	for (size_t i = 0; i < rows_max * ROW_WORDS; i++)
		model->input[i * STRIDE] = i * 7 + 1;
}

void model_fini(struct model *model)
{
	tare_graphs_destroy(model->graphs);
	fake_stream_delete(model->stream);
	free(model->input);
}

/* Each layer needs its input and its output at once, and no more. */
static int enqueue(struct model *model, uint64_t rows, tare_graphs_address in, tare_graphs_address *output)
{
	tare_graphs_address from = in, to = 0;
	unsigned i;
	int rc;

	for (i = 0; i < model->layers; i++) {
		uint32_t k = i + 1;
		void *params[] = { &to, &from, &k };

		rc = tare_graphs_alloc(model->graphs, rows * ROW_BYTES, model->stream, &to);
		if (rc)
			return rc;
		fake_launch(&model_layer, (unsigned)(rows * ROW_WORDS), model->cluster, model->stream, params);
		if (from != in) {
			rc = tare_graphs_free(model->graphs, from);
			if (rc)
				return rc;
		}
		from = to;
	}
	if (output)
		*output = to;
	return 0;
}

int model_capture_from(struct model *model, uint64_t key, uint64_t rows, tare_graphs_address in,
                       const struct tare_graphs_capture *how, tare_graphs_address *output)
{
	int rc = tare_graphs_begin(model->graphs, key, model->stream, how);

	if (rc)
		return rc;
	rc = enqueue(model, rows, in, output);
	if (!rc)
		return tare_graphs_end(model->graphs);
	tare_graphs_abort(model->graphs);
	return rc;
}

int model_capture(struct model *model, uint64_t key, uint64_t rows, tare_graphs_address *output)
{
	return model_capture_from(model, key, rows, (uintptr_t)model->input, NULL, output);
}

int model_is_right(const struct model *model, uint64_t rows, unsigned layers, tare_graphs_address output)
{
	const uint64_t *out = (const uint64_t *)(uintptr_t)output;

	for (size_t i = 0; i < rows * ROW_WORDS; i++) {
		uint64_t value = model->input[i * STRIDE];

		for (unsigned at = 0; at < layers; at++)
			value = layer(value, at % model->layers + 1, model->cluster);
		if (out[i * STRIDE] != value)
			return 0;
	}
	return 1;
}
