/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated cuDNN: recurrent networks, of which programs ask where in one block each weight lies. */
#include "simgpu/libs/cudnn_rnn.h"

#include "simgpu/libs/cudnn_tensor.h"

enum { NO_BIAS = 0, BIDIRECTIONAL = 1, TRAINING = 1, PADDED = 1 };

int cudnn_rnn_gates(const struct cudnn_rnn *rnn)
{
	return rnn->mode == CUDNN_RNN_LSTM ? 4 : rnn->mode == CUDNN_RNN_GRU ? 3 : 1;
}

SIM_EXPORT int cudnnSetDropoutDescriptor(struct sim_handle *descriptor, void *handle, float rate, void *states,
                                         size_t bytes, unsigned long long seed);
int cudnnSetDropoutDescriptor(struct sim_handle *descriptor, void *handle, float rate, void *states, size_t bytes,
                              unsigned long long seed)
{
	float *keeps = cudnn_more(descriptor, sizeof(*keeps));

	(void)handle, (void)states, (void)bytes, (void)seed;
	SIM_CALLED("");
	if (!keeps)
		return CUDNN_BAD_PARAMETER;
	*keeps = rate;
	return CUDNN_SUCCESS;
}

static bool drops_out(const struct sim_handle *descriptor)
{
	return descriptor && descriptor->more && *(const float *)descriptor->more > 0;
}

SIM_EXPORT int cudnnSetRNNDataDescriptor(struct sim_handle *descriptor, int type, int layout, int length, int batch,
                                         int input, const int *lengths, void *fill);
int cudnnSetRNNDataDescriptor(struct sim_handle *descriptor, int type, int layout, int length, int batch, int input,
                              const int *lengths, void *fill)
{
	struct cudnn_rnn_data *data = cudnn_more(descriptor, sizeof(*data));

	(void)type, (void)layout, (void)lengths, (void)fill;
	SIM_CALLED("");
	if (!data || length <= 0 || batch <= 0 || input <= 0)
		return CUDNN_BAD_PARAMETER;
	*data = (struct cudnn_rnn_data){ length, batch, input };
	return CUDNN_SUCCESS;
}

SIM_EXPORT int cudnnSetRNNDescriptor_v8(struct sim_handle *handle, int algorithm, int mode, int bias, int direction,
                                        int input_mode, int type, int precision, int math, int input, int hidden,
                                        int projected, int layers, struct sim_handle *dropout, unsigned int flags);
int cudnnSetRNNDescriptor_v8(struct sim_handle *handle, int algorithm, int mode, int bias, int direction,
                             int input_mode, int type, int precision, int math, int input, int hidden, int projected,
                             int layers, struct sim_handle *dropout, unsigned int flags)
{
	struct cudnn_rnn *rnn = cudnn_more(handle, sizeof(*rnn));

	(void)algorithm, (void)input_mode, (void)precision, (void)math;
	SIM_CALLED("");
	if (!rnn || input <= 0 || hidden <= 0 || layers <= 0)
		return CUDNN_BAD_PARAMETER;
	*rnn = (struct cudnn_rnn){ mode,
		                       bias,
		                       direction == BIDIRECTIONAL ? 2 : 1,
		                       type,
		                       input,
		                       hidden,
		                       projected && projected != hidden ? projected : 0,
		                       layers,
		                       drops_out(dropout),
		                       flags & PADDED };
	return CUDNN_SUCCESS;
}

/* One matrix of one layer (of one direction): its shape, where it begins and where its bias does, in elements. */
struct weight {
	int rows, columns;
	size_t at, bias_at, total;
};

/* All matrices, layer by layer: of each gate from the input, from the state before, then the projection; then all biases. */
static struct weight find(const struct cudnn_rnn *rnn, int layer, int which)
{
	struct weight weight = { 0, 0, 0, 0, 0 };
	int n = cudnn_rnn_gates(rnn), out = rnn->projected ? rnn->projected : rnn->hidden, i, j;
	size_t at = 0;

	for (i = 0; i < rnn->layers * rnn->directions; i++) {
		int in = i < rnn->directions ? rnn->input : out * rnn->directions; /* of the first layer */

		for (j = 0; j < 2 * n + (rnn->projected ? 1 : 0); j++) {
			bool is_projection = j == 2 * n;
			int rows = is_projection ? rnn->projected : rnn->hidden;
			int columns = is_projection ? rnn->hidden : (j < n ? in : out);

			if (i == layer && j == which) {
				weight.rows = rows;
				weight.columns = columns;
				weight.at = at;
			}
			at += (size_t)rows * (size_t)columns;
		}
	}
	weight.bias_at = at + ((size_t)layer * 2 * (size_t)n + (size_t)which) * (size_t)rnn->hidden;
	weight.total = at;
	if (rnn->bias != NO_BIAS)
		weight.total += (size_t)rnn->layers * (size_t)rnn->directions * 2 * (size_t)n * (size_t)rnn->hidden;
	return weight;
}

SIM_EXPORT int cudnnGetRNNWeightSpaceSize(void *handle, struct sim_handle *descriptor, size_t *bytes);
int cudnnGetRNNWeightSpaceSize(void *handle, struct sim_handle *descriptor, size_t *bytes)
{
	const struct cudnn_rnn *rnn = descriptor ? descriptor->more : NULL;

	(void)handle;
	if (!rnn || !bytes)
		return CUDNN_BAD_PARAMETER;
	*bytes = find(rnn, 0, 0).total * cudnn_element(rnn->type);
	return CUDNN_SUCCESS;
}

SIM_EXPORT int cudnnGetRNNWeightParams(void *handle, struct sim_handle *descriptor, int layer, size_t bytes,
                                       const void *weights, int which, struct sim_handle *matrix, void **matrix_at,
                                       struct sim_handle *bias, void **bias_at);
int cudnnGetRNNWeightParams(void *handle, struct sim_handle *descriptor, int layer, size_t bytes, const void *weights,
                            int which, struct sim_handle *matrix, void **matrix_at, struct sim_handle *bias,
                            void **bias_at)
{
	const struct cudnn_rnn *rnn = descriptor ? descriptor->more : NULL;
	struct cudnn_tensor none, *m = &none, *b = &none;
	struct weight weight;
	void *nowhere;

	(void)handle, (void)bytes;
	if (!rnn || layer < 0 || which < 0)
		return CUDNN_BAD_PARAMETER;
	/* A program asks for the matrix, for the bias or for both. */
	if (matrix && !(m = cudnn_more(matrix, sizeof(*m))))
		return CUDNN_NO_MEMORY;
	if (bias && !(b = cudnn_more(bias, sizeof(*b))))
		return CUDNN_NO_MEMORY;
	matrix_at = matrix_at ? matrix_at : &nowhere;
	bias_at = bias_at ? bias_at : &nowhere;
	weight = find(rnn, layer, which);
	*matrix_at = NULL;
	*bias_at = NULL;
	m->dimensions = b->dimensions = 0;
	if (!weight.rows)
		return CUDNN_SUCCESS; /* there is no such matrix */
	*m = (struct cudnn_tensor){
		rnn->type, 0, 3, { 1, weight.rows, weight.columns }, { weight.rows * weight.columns, weight.columns, 1 }
	};
	*matrix_at = (char *)weights + weight.at * cudnn_element(rnn->type);
	if (rnn->bias == NO_BIAS || which >= 2 * cudnn_rnn_gates(rnn))
		return CUDNN_SUCCESS;
	*b = (struct cudnn_tensor){ rnn->type, 0, 3, { 1, weight.rows, 1 }, { weight.rows, 1, 1 } };
	*bias_at = (char *)weights + weight.bias_at * cudnn_element(rnn->type);
	return CUDNN_SUCCESS;
}

/* Assumed: nobody documents how much; a megabyte each. */
SIM_EXPORT int cudnnGetRNNTempSpaceSizes(void *handle, struct sim_handle *descriptor, int mode,
                                         struct sim_handle *input, size_t *work, size_t *reserve);
int cudnnGetRNNTempSpaceSizes(void *handle, struct sim_handle *descriptor, int mode, struct sim_handle *input,
                              size_t *work, size_t *reserve)
{
	const struct cudnn_rnn *rnn = descriptor ? descriptor->more : NULL;
	const struct cudnn_rnn_data *data = input ? input->more : NULL;

	(void)handle;
	SIM_CALLED("");
	if (!rnn || !data)
		return CUDNN_BAD_PARAMETER;
	if (work)
		*work = cudnn_rnn_work(rnn, data, mode == TRAINING);
	if (reserve)
		*reserve = mode == TRAINING ? cudnn_rnn_reserve(rnn, data) : 0;
	return CUDNN_SUCCESS;
}
