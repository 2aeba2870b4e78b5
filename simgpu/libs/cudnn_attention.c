/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated cuDNN: the workspace of attention, for which the real library has no plan without a device.
 *
 * 384 shapes forward and back, in half precision, on an H100 with cuDNN 9.19 (tests/gpu/attention_answers.py): each plan
 * takes 256 bytes; the gradients of fewer heads of keys and values than of queries are first those of all heads. What
 * the gradients take besides, the program (cudnn-frontend in PyTorch) asks for itself.
 */
#include "simgpu/libs/cudnn.h"

enum { OWN = 256, ELEMENT = 2, RANK = 4, ALL_HEADS = 2 /* gradients: of keys, of values */ };
enum { FORWARD_PRODUCTS = 2, GRADIENT_PRODUCTS = 5 };

/* Batch, heads, rows, columns of the matrices that an operation has as this attribute. NULL: it has none. */
static const int64_t *shape(const struct cudnn_descriptor *operation, int name)
{
	enum { DIMENSIONS = 902 };
	const struct cudnn_attribute *has = cudnn_attribute(operation, name);

	if (!has || has->type != CUDNN_DESCRIPTOR || has->count != 1)
		return NULL;
	operation = *(const struct cudnn_descriptor *const *)has->values;
	has = operation ? cudnn_attribute(operation, DIMENSIONS) : NULL;
	return has && has->type == CUDNN_INT64 && has->count == RANK ? has->values : NULL;
}

/* The gradients of queries with more heads than the keys that they are multiplied with; 0: they have as many. */
static int64_t all_heads(const struct cudnn_descriptor *product)
{
	enum { LEFT = 1520, RIGHT = 1521 };
	const int64_t *queries = shape(product, LEFT), *keys = shape(product, RIGHT);

	if (!queries || !keys || queries[1] <= keys[1] || queries[3] != keys[2])
		return 0;
	return ALL_HEADS * queries[0] * queries[1] * keys[2] * keys[3] * ELEMENT;
}

int64_t cudnn_attention(const struct cudnn_descriptor *graph)
{
	enum { OPERATIONS = 801 };
	const struct cudnn_attribute *of = cudnn_attribute(graph, OPERATIONS);
	int64_t i, more = 0;
	int products = 0;

	for (i = 0; of && of->type == CUDNN_DESCRIPTOR && i < of->count; i++) {
		const struct cudnn_descriptor *operation = ((struct cudnn_descriptor *const *)of->values)[i];

		if (operation && operation->kind == CUDNN_ATTEND)
			products += FORWARD_PRODUCTS;
		if (operation && operation->kind == CUDNN_ATTEND_BACK)
			products += GRADIENT_PRODUCTS;
		if (!operation || operation->kind != CUDNN_MULTIPLY)
			continue;
		products++;
		if (!more)
			more = all_heads(operation);
	}
	if (products < FORWARD_PRODUCTS)
		return -1;
	return OWN + (products >= GRADIENT_PRODUCTS ? more : 0);
}
