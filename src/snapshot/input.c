/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of a snapshot by a window. */
#include "snapshot/input.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

void tare_input_open(struct tare_snapshot_input *in, const struct tare_snapshot_source *source)
{
	*in = (struct tare_snapshot_input){ .source = source };
	in->window = tare_xmalloc(TARE_INPUT_WINDOW);
	in->at = in->end = in->begin = in->window;
}

void tare_input_open_bytes(struct tare_snapshot_input *in, const void *bytes, size_t size)
{
	*in = (struct tare_snapshot_input){ 0 };
	in->at = in->begin = bytes;
	in->end = in->begin + size;
}

void tare_input_close(struct tare_snapshot_input *in)
{
	free(in->window);
	in->window = NULL;
}

bool tare_input_refill(struct tare_snapshot_input *in, size_t size)
{
	size_t left = (size_t)(in->end - in->at);
	unsigned char *to;

	if (!in->source || in->failure)
		return false;
	memmove(in->window, in->at, left);
	in->before += (uint64_t)(in->at - in->begin);
	in->at = in->window;
	to = in->window + left;
	while (left < size) {
		int64_t n = in->source->read(in->source->arg, to, TARE_INPUT_WINDOW - left);

		if (n < 0)
			in->failure = (int)-n;
		if (n <= 0)
			break;
		to += n;
		left += (size_t)n;
	}
	in->end = to;
	return left >= size;
}

bool tare_input_skip(struct tare_snapshot_input *in, uint64_t size)
{
	while (size) {
		uint64_t left = (uint64_t)(in->end - in->at), part = left < size ? left : size;

		in->at += part;
		size -= part;
		if (size && !tare_input_refill(in, 1))
			return false;
	}
	return true;
}
