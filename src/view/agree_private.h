/* SPDX-License-Identifier: Apache-2.0 */
/* What one view says of one memory at one instant: rows, and bytes of each. Only agree*.c use this. */
#ifndef TARE_VIEW_AGREE_PRIVATE_H
#define TARE_VIEW_AGREE_PRIVATE_H

#include "base/arena.h"
#include "view/by.h"

struct tare_said_row {
	const char *row;
	int64_t bytes;
};

struct tare_said {
	const char *view; /* as people call it */
	struct tare_said_row *items;
	size_t count, cap;
};

/* Rows of one name are one. The name is kept by reference. */
void tare_said_add(struct tare_said *f, const char *row, int64_t bytes);

/*
 * agree_data.c: what a report by `by` prints as JSON and as CSV of a device (-1: of tensors on the CPU, by category only), row by row.
 * The rows' names are the arena's.
 */
void tare_said_json(struct tare_said *f, struct tare_arena *memory, const struct tare_by_ask *ask, int device);
void tare_said_csv(struct tare_said *f, struct tare_arena *memory, const struct tare_by_ask *ask, int device);

#endif
