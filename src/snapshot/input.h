/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SNAPSHOT_INPUT_H
#define TARE_SNAPSHOT_INPUT_H

#include "snapshot/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a file, a window at a time. */
#define TARE_INPUT_WINDOW (1u << 18)

struct tare_snapshot_input {
	const struct tare_snapshot_source *source; /* NULL: all is in the window */
	const unsigned char *at, *end;
	unsigned char *window;
	uint64_t before; /* bytes that have left the window */
	const unsigned char *begin;
	int failure; /* errno of a read */
};

/* `source` stays the caller's. */
void tare_input_open(struct tare_snapshot_input *in, const struct tare_snapshot_source *source);
void tare_input_open_bytes(struct tare_snapshot_input *in, const void *bytes, size_t size);
void tare_input_close(struct tare_snapshot_input *in);

/* False: the input has not so many left. At most TARE_INPUT_WINDOW / 2. */
bool tare_input_refill(struct tare_snapshot_input *in, size_t size);
/* False: it ended before. */
bool tare_input_skip(struct tare_snapshot_input *in, uint64_t size);

static inline bool tare_input_has(struct tare_snapshot_input *in, size_t size)
{
	return (size_t)(in->end - in->at) >= size || tare_input_refill(in, size);
}

static inline uint64_t tare_input_offset(const struct tare_snapshot_input *in)
{
	return in->before + (uint64_t)(in->at - in->begin);
}

#endif
