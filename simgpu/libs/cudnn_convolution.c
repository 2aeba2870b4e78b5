/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated cuDNN: a convolution in one line. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/libs/cudnn.h"

struct line {
	char text[1024];
	size_t length;
};

static void add(struct line *line, const char *text)
{
	size_t n = strlen(text);

	if (line->length + n < sizeof(line->text)) {
		memcpy(line->text + line->length, text, n + 1);
		line->length += n;
	}
}

static void add_number(struct line *line, int64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, number);
	add(line, text);
}

static void add_numbers(struct line *line, const struct cudnn_attribute *attribute)
{
	int64_t i;

	for (i = 0; attribute && i < attribute->count; i++) {
		if (i)
			add(line, ",");
		add_number(line, ((const int64_t *)attribute->values)[i]);
	}
}

static void add_type(struct line *line, const struct cudnn_attribute *attribute)
{
	add_number(line, attribute ? *(const int *)attribute->values : -1);
}

static const struct cudnn_descriptor *other(const struct cudnn_descriptor *descriptor, int name)
{
	const struct cudnn_attribute *attribute = cudnn_attribute(descriptor, name);

	return attribute && attribute->type == CUDNN_DESCRIPTOR && attribute->count == 1
	           ? *(const struct cudnn_descriptor *const *)attribute->values
	           : NULL;
}

static void add_tensor(struct line *line, const struct cudnn_descriptor *tensor)
{
	enum { DATA_TYPE = 901, DIMENSIONS = 902, STRIDES = 903 };

	add(line, " ");
	if (!tensor)
		return;
	add_type(line, cudnn_attribute(tensor, DATA_TYPE));
	add(line, ":");
	add_numbers(line, cudnn_attribute(tensor, DIMENSIONS));
	add(line, "/");
	add_numbers(line, cudnn_attribute(tensor, STRIDES));
}

char *cudnn_convolution(const struct cudnn_descriptor *operation)
{
	/* The first attribute of each operation; the same follow: alpha, beta, convolution, filter, image, result. */
	enum { FORWARD = 700, DATA = 706, FILTER = 712 };
	enum { TYPE = 100, DILATIONS = 102, STRIDES = 103, PADDINGS = 105 };
	static const int firsts[] = { FORWARD, FILTER, DATA };
	static const char *const names[] = { "fwd", "bwd_filter", "bwd_data" };
	int which = operation->kind - CUDNN_CONVOLVE, first = firsts[which], i;
	const struct cudnn_descriptor *convolution = other(operation, first + 2);
	struct line line = { "", 0 };

	if (!convolution)
		return NULL;
	add(&line, names[which]);
	for (i = 3; i < 6; i++)
		add_tensor(&line, other(operation, first + i));
	add(&line, " ");
	add_numbers(&line, cudnn_attribute(convolution, PADDINGS));
	add(&line, " ");
	add_numbers(&line, cudnn_attribute(convolution, STRIDES));
	add(&line, " ");
	add_numbers(&line, cudnn_attribute(convolution, DILATIONS));
	add(&line, " ");
	add_type(&line, cudnn_attribute(convolution, TYPE));
	return strdup(line.text);
}
