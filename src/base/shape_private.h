/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by shape.c, which writes, shape_load.c, shape_copy.c and shape_free.c. */
#ifndef TARE_BASE_SHAPE_PRIVATE_H
#define TARE_BASE_SHAPE_PRIVATE_H

#include "base/shape.h"

struct tare_shapes {
	const struct tare_shape **items;
	size_t count, cap;
};

/* Adds a shape and those that it reaches, each once; returns its place. */
size_t tare_shapes_add(struct tare_shapes *all, const struct tare_shape *shape);

bool tare_shaped_has_shape(uint8_t kind);
size_t tare_shaped_count(const struct tare_shape_field *f, const struct tare_shape_world *world, const void *item);
/* Bytes of one item of a list. */
size_t tare_shaped_size(const struct tare_shape_field *f);
/*
 * Where the field's items are kept, with room for at least n; its count and capacity are set. Where only the caller knows the count there may
 * be room for more. NULL: for none.
 */
char *tare_shaped_make_list(const struct tare_shape_field *f, const struct tare_shape_world *world, char *item,
                            size_t n);

#endif
