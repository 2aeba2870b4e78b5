/* SPDX-License-Identifier: Apache-2.0 */
/* A convolution and its line: read, completed, written. */
#include "simgpu/libs/conv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const directions[] = { "fwd", "bwd_data", "bwd_filter" };

/* "1,2,3" → numbers; how many, 0 if there are none or more than there is room for. */
static int read_numbers(const char **at, int64_t *numbers)
{
	int count = 0;

	for (;;) {
		char *end;
		int64_t number = strtoll(*at, &end, 10);

		if (end == *at || count == SIM_CONV_RANK)
			return 0;
		numbers[count++] = number;
		*at = end;
		if (**at != ',')
			return count;
		++*at;
	}
}

static bool skip(const char **at, char expected)
{
	if (**at != expected)
		return false;
	++*at;
	return true;
}

static bool read_tensor(const char **at, int *type, int *rank, struct sim_conv_tensor *tensor)
{
	char *end;

	*type = (int)strtol(*at, &end, 10);
	if (end == *at || *end != ':')
		return false;
	*at = end + 1;
	*rank = read_numbers(at, tensor->dims);
	return skip(at, '/') && read_numbers(at, tensor->strides) == *rank && skip(at, ' ');
}

static bool read_direction(const char **at, enum sim_conv_direction *direction)
{
	for (int i = 0; i < 3; i++) {
		size_t n = strlen(directions[i]);

		if (!strncmp(*at, directions[i], n) && (*at)[n] == ' ') {
			*at += n + 1;
			*direction = (enum sim_conv_direction)i;
			return true;
		}
	}
	return false;
}

/* Are channels the innermost of a tensor? -1: its dimensions do not tell. */
static int is_channels_last(const struct sim_conv_tensor *tensor, int rank)
{
	int64_t pixels = 1;

	for (int i = 2; i < rank; i++)
		pixels *= tensor->dims[i];
	if (tensor->dims[1] == 1 || pixels == 1)
		return -1;
	return tensor->strides[1] == 1;
}

/* Works out groups and channels_last. False: these are no convolution. */
static bool conv_complete(struct sim_conv *conv)
{
	const struct sim_conv_tensor *tensors[] = { &conv->x, &conv->y, &conv->w };
	int last = -1;

	if (conv->rank < 3 || conv->rank > SIM_CONV_RANK)
		return false;
	for (int i = 0; i < 3; i++)
		for (int dim = 0; dim < conv->rank; dim++)
			if (tensors[i]->dims[dim] < 1 || tensors[i]->dims[dim] > INT32_MAX)
				return false;
	if (conv->x.dims[1] % conv->w.dims[1] || conv->y.dims[1] != conv->w.dims[0] || conv->x.dims[0] != conv->y.dims[0])
		return false;
	conv->groups = conv->x.dims[1] / conv->w.dims[1];
	for (int i = 0; i < 3 && last < 0; i++)
		last = is_channels_last(tensors[i], conv->rank);
	conv->channels_last = last == 1;
	return true;
}

bool sim_conv_parse(const char *line, struct sim_conv *conv)
{
	const char *at = line;
	int types[3], ranks[3], spatial;
	char *end;

	memset(conv, 0, sizeof(*conv));
	if (!read_direction(&at, &conv->direction) || !read_tensor(&at, &types[0], &ranks[0], &conv->w) ||
	    !read_tensor(&at, &types[1], &ranks[1], &conv->x) || !read_tensor(&at, &types[2], &ranks[2], &conv->y))
		return false;
	if (ranks[0] != ranks[1] || ranks[1] != ranks[2] || types[0] != types[1] || types[1] != types[2] || ranks[0] < 3)
		return false;
	conv->rank = ranks[0];
	conv->type = types[0];
	spatial = conv->rank - 2;
	if (read_numbers(&at, conv->pads) != spatial || !skip(&at, ' ') || read_numbers(&at, conv->strides) != spatial ||
	    !skip(&at, ' ') || read_numbers(&at, conv->dilations) != spatial || !skip(&at, ' '))
		return false;
	conv->compute = (int)strtol(at, &end, 10);
	if (end == at || (*end && *end != ' ' && *end != '\n'))
		return false;
	return conv_complete(conv);
}

struct writer {
	char *text;
	size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void add(struct writer *writer, const char *format, ...)
{
	size_t room = writer->size > writer->length ? writer->size - writer->length : 0;
	va_list values;

	va_start(values, format);
	writer->length += (size_t)vsnprintf(room ? writer->text + writer->length : NULL, room, format, values);
	va_end(values);
}

static void add_numbers(struct writer *writer, const int64_t *numbers, int count)
{
	for (int i = 0; i < count; i++)
		add(writer, i ? ",%" PRId64 : "%" PRId64, numbers[i]);
}

/* Dimensions from the innermost outwards, as PyTorch lays tensors out. */
static int order(int rank, bool channels_last, int *dims)
{
	int count = 0;

	if (channels_last)
		dims[count++] = 1;
	for (int dim = rank - 1; dim > 1; dim--)
		dims[count++] = dim;
	if (!channels_last)
		dims[count++] = 1;
	dims[count++] = 0;
	return count;
}

static void add_tensor(struct writer *writer, const struct sim_conv *conv, const struct sim_conv_tensor *tensor)
{
	int64_t strides[SIM_CONV_RANK], inside = 1;
	int dims[SIM_CONV_RANK], count = order(conv->rank, conv->channels_last, dims);

	for (int i = 0; i < count; i++) {
		int64_t size = tensor->dims[dims[i]];

		strides[dims[i]] = size == 1 ? inside : tensor->strides[dims[i]];
		inside *= size;
	}
	add(writer, " %d:", conv->type);
	add_numbers(writer, tensor->dims, conv->rank);
	add(writer, "/");
	add_numbers(writer, strides, conv->rank);
}

size_t sim_conv_key(const struct sim_conv *conv, char *key, size_t size)
{
	struct writer writer = { key, size, 0 };
	int spatial = conv->rank - 2;

	add(&writer, "%s", directions[conv->direction]);
	add_tensor(&writer, conv, &conv->w);
	add_tensor(&writer, conv, &conv->x);
	add_tensor(&writer, conv, &conv->y);
	add(&writer, " ");
	add_numbers(&writer, conv->pads, spatial);
	add(&writer, " ");
	add_numbers(&writer, conv->strides, spatial);
	add(&writer, " ");
	add_numbers(&writer, conv->dilations, spatial);
	add(&writer, " %d", conv->compute);
	return writer.length < size ? writer.length : 0;
}
