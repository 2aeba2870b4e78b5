/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the simulated cuDNN: recurrent networks as programs describe them. */
#ifndef TARE_SIM_CUDNN_RNN_H
#define TARE_SIM_CUDNN_RNN_H

#include <stdbool.h>
#include <stddef.h>

enum { CUDNN_RNN_LSTM = 2, CUDNN_RNN_GRU = 3 };

struct cudnn_rnn {
	int mode, bias, directions, type, input, hidden, projected, layers;
	bool drops_out;
	bool is_padded; /* sequences come as they are, each as long as the longest */
};

/* What a network is run over. */
struct cudnn_rnn_data {
	int length, batch, input;
};

/* Matrices of a cell, each from the input and from the state before. */
int cudnn_rnn_gates(const struct cudnn_rnn *rnn);
size_t cudnn_rnn_work(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data, bool is_training);
/* What a forward pass leaves for the backward pass. */
size_t cudnn_rnn_reserve(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data);

#endif
