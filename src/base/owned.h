/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a struct is freed: its fields say what memory is its own, and tools/free-owned.py makes the function that frees it of that. These
 * words stand before a field, and mean nothing to the compiler; what has none of them is not freed.
 *
 *     struct tare_list {
 *             TARE_OWNED char *title;
 *             TARE_OWNED struct tare_item *items;
 *             size_t count, cap;
 *             const char *of;
 *     };
 *     TARE_FREES(tare_list_free, tare_list);
 *
 * What is a variable's own is said where it is declared, too: TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
 *
 * A folder with such structs has the function in its library by a line in its meson.build: replay/meson.build has one.
 */
#ifndef TARE_BASE_OWNED_H
#define TARE_BASE_OWNED_H

#include <stdlib.h>
#include <string.h>

/*
 * A pointer, or a struct that stands in this one. What it points to is freed, too, if that has memory of its own or is a pointer, and is not
 * const: as many as the field says that is named like it (NAME_nr, NAME_count; of `items`: nr, count), one struct if there is no such field.
 */
#define TARE_OWNED
/* The same, as many as that field says. */
#define TARE_OWNED_MANY(field)
/* A pointer alone: what it points to is somebody else's. */
#define TARE_OWNED_LIST
/* What that function frees: the pointer, each of as many, or what stands in the struct. */
#define TARE_OWNED_BY(function)

/* The function `name`, which frees all of that and leaves the struct as zeros; not the struct itself. */
#define TARE_FREES(name, type) void name(struct type *what)

/*
 * Before a variable of a block, which has a value from there on: the function is called for it where the block is left, by whatever way;
 * TARE_FREED_HERE frees what a pointer points to.
 */
#define TARE_FREED_BY(function) __attribute__((cleanup(function)))
#define TARE_FREED_HERE         TARE_FREED_BY(tare_pointer_free)

static inline void tare_pointer_free(void *pointer)
{
	void *what;

	memcpy(&what, pointer, sizeof(what));
	free(what);
}

#endif
