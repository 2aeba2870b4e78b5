/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated cuDNN: what recurrent networks take. A rule found in 2,642 networks on an H100 with cuDNN 9.19
 * (tests/gpu/rnn_answers.py), equal after rounding to 512 bytes, of the 2,633 without projection, in 2,623 reserves, 2,612
 * workspaces to infer and 2,315 to train; the others differ by less than 1 % but for 32, all but three of them by less
 * than 5 %. Projections (9 networks): the reserve is equal, workspaces are taken as without, up to 23 % off.
 *
 * Sizes are counted in states: one number for each cell of a layer and each sequence of the batch.
 */
#include "simgpu/libs/cudnn_rnn.h"

#include "simgpu/libs/cudnn_tensor.h"

enum {
	MULTIPLY = 8 << 20, /* for the products of matrices of a layer and direction */
	HEAD = 256,
	STEPS_AT_ONCE = 256,
};

/* In 64 bits: a program may ask about any numbers. */
struct counts {
	size_t layers, directions, hidden, batch, length, input, element, state;
};

static struct counts count(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data)
{
	struct counts n = { (size_t)rnn->layers,  (size_t)rnn->directions, (size_t)rnn->hidden,      (size_t)data->batch,
		                (size_t)data->length, (size_t)rnn->input,      cudnn_element(rnn->type), 0 };

	n.state = n.batch * n.hidden * n.element;
	return n;
}

static size_t round_up(size_t bytes)
{
	return (bytes + 31) / 32 * 32;
}

/* The weights, in another order. */
static size_t weights(const struct cudnn_rnn *rnn, const struct counts *n)
{
	size_t rows = n->directions * (size_t)cudnn_rnn_gates(rnn) * n->hidden;
	size_t columns = n->input + n->hidden;

	columns += (n->layers - 1) * (n->directions + 1) * n->hidden;
	return rows * columns * n->element;
}

/* States of a layer and direction, beside those of each step. */
static size_t states_to_infer(const struct cudnn_rnn *rnn)
{
	return (rnn->mode == CUDNN_RNN_LSTM ? 6 : rnn->mode == CUDNN_RNN_GRU ? 3 : 1) + (rnn->directions > 1 ? 2 : 0);
}

static size_t states_to_train(const struct cudnn_rnn *rnn)
{
	return (rnn->mode == CUDNN_RNN_LSTM ? 3 : 1) + (rnn->directions > 1 ? 2 : 0);
}

/* A batch that is packed first: its input, its results, its first and last states, in states and in bytes. */
static size_t packed_states(const struct cudnn_rnn *rnn, const struct counts *n)
{
	size_t kinds = rnn->mode == CUDNN_RNN_LSTM ? 2 : 1;

	return rnn->is_padded ? n->length * n->directions + 2 * kinds * n->layers * n->directions : 0;
}

static size_t packed_input(const struct cudnn_rnn *rnn, const struct counts *n)
{
	return rnn->is_padded ? n->length * n->batch * n->input * n->element : 0;
}

/* Gates of many steps at once; both directions also have their results apart. */
static size_t to_infer(const struct cudnn_rnn *rnn, const struct counts *n)
{
	size_t steps = n->directions == 1 && n->length > STEPS_AT_ONCE ? STEPS_AT_ONCE : n->length;
	size_t states =
		n->directions * (size_t)cudnn_rnn_gates(rnn) * steps + n->directions * n->layers * states_to_infer(rnn);

	if (n->directions > 1)
		states += 4 * n->length;
	else if (rnn->drops_out)
		states += n->length;
	return (states + packed_states(rnn, n)) * n->state + packed_input(rnn, n);
}

/* Gradients of the input and of results, step by step; one direction of many layers goes on with few of them. */
static size_t to_train(const struct cudnn_rnn *rnn, const struct counts *n)
{
	enum { STEPS_OF_A_LAYER = 10 };
	size_t widest = n->input > n->hidden ? n->input : n->hidden, steps = n->length;
	size_t inputs = (n->directions > 1 ? 4 : 1) * n->length * n->batch * widest * n->element;

	if (n->directions > 1)
		steps *= n->layers > 1 ? 4 : 2;
	else if (n->layers > 1 && steps > n->layers * STEPS_OF_A_LAYER)
		steps = n->layers * STEPS_OF_A_LAYER;
	return inputs + 2 * packed_input(rnn, n) +
	       (steps + n->directions * n->layers * states_to_train(rnn) + 2 * packed_states(rnn, n)) * n->state;
}

size_t cudnn_rnn_work(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data, bool is_training)
{
	struct counts n = count(rnn, data);
	size_t most = to_infer(rnn, &n), other = is_training ? to_train(rnn, &n) : 0;

	most = other > most ? other : most;
	return MULTIPLY * n.layers * n.directions + HEAD + weights(rnn, &n) + most + (rnn->is_padded ? 8 * n.batch : 0);
}

/* Of each step and layer the gates and states; the results of all layers but the last; which of those were dropped. */
size_t cudnn_rnn_reserve(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data)
{
	struct counts n = count(rnn, data);
	size_t kept = rnn->mode == CUDNN_RNN_LSTM ? 5 : rnn->mode == CUDNN_RNN_GRU ? 6 : 1;
	size_t results = n.directions * n.length * n.state, inner = n.layers - 1;
	size_t steps = n.directions * n.length * n.batch * n.element, cells = kept * n.hidden;
	size_t dropped = rnn->drops_out ? n.directions * n.directions * n.length * n.batch * n.hidden / 8 : 0;

	if (rnn->projected)
		cells += n.hidden + (size_t)rnn->projected;
	return round_up(n.layers * steps * cells) + inner * round_up(results) + inner * round_up(dropped) + HEAD;
}
