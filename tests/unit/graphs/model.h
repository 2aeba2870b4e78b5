/* SPDX-License-Identifier: Apache-2.0 */
/* A small program to capture: a chain of layers over rows, with an answer that can be checked. */
#ifndef GRAPHS_MODEL_H
#define GRAPHS_MODEL_H

#include "fake_cuda.h"
#include "tare/tare_graphs.h"

#define ROW_BYTES (64ull << 10)
#define ROW_WORDS 4 /* one per 16 KiB: pages are dear where every capture has its own */

/* out[i] = in[i] * 3 + k + cluster; its grid is the number of words. */
extern const struct fake_kernel model_layer;

struct model {
	struct tare_graphs *graphs;
	CUstream stream;
	uint64_t *input; /* memory of the program */
	uint64_t rows_max;
	unsigned layers;
	unsigned cluster; /* of every layer */
};

void model_init(struct model *model, const struct tare_graphs_options *options, uint64_t rows_max);
void model_fini(struct model *model);

/* Captures `rows` rows under the key; the answer's address in *output where that is not NULL. */
int model_capture(struct model *model, uint64_t key, uint64_t rows, tare_graphs_address *output);
/* The same, from `in` on, after the key *after. */
int model_capture_from(struct model *model, uint64_t key, uint64_t rows, tare_graphs_address in,
                       const struct tare_graphs_capture *how, tare_graphs_address *output);
/* Is this what `layers` layers make of the input? */
int model_is_right(const struct model *model, uint64_t rows, unsigned layers, tare_graphs_address output);

#endif
