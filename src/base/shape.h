/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_SHAPE_H
#define TARE_BASE_SHAPE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Structs as bytes and back, told by a table of their fields:
 *
 *     #define SELF struct point
 *     static const struct tare_shape_field point_fields[] = { TARE_INT(x), TARE_INT(y), TARE_FIELDS_END };
 *     const struct tare_shape point_shape = TARE_SHAPE(point, point_fields);
 *     #undef SELF
 *
 * The bytes begin with the tables that they were written by, so a reader with other tables finds fields by
 * name: one that it does not have is skipped, one that the bytes do not have stays 0. Integers may be of
 * another size. Bytes that make no sense are refused; nothing of them is used without a check.
 */
enum tare_shaped_kind {
	TARE_SHAPED_INT,    /* integers, enums, bools; `nr` of them in an array */
	TARE_SHAPED_STRUCT, /* structs that stand in this one, `nr` in an array */
	TARE_SHAPED_ITEM,   /* a pointer to a struct of its own, or NULL */
	TARE_SHAPED_LIST,   /* a pointer to as many structs as another field counts */
	TARE_SHAPED_INTS,   /* the same of integers */
	TARE_SHAPED_ITEMS,  /* the same of pointers to structs, each of which may be NULL */
	TARE_SHAPED_MAP,    /* struct tare_map of numbers; `nr` in an array */
	TARE_SHAPED_STRMAP, /* struct tare_strmap */
	TARE_SHAPED_TEXT,   /* const char *, or NULL; of the loader's arena */
	TARE_SHAPED_TEXTS,  /* a list of these */
	TARE_SHAPED_OTHER,  /* a pointer that the caller makes a number of, and finds again */
	TARE_SHAPED_LEFT,   /* not kept: 0 when it is loaded */
};

/* How many a list has where no field of its struct says it: the caller does. */
enum { TARE_COUNTED = UINT32_MAX };

/* `what` of a pointer that is not kept, but freed with its struct. */
enum { TARE_LEFT_FREED = 1 };

struct tare_shape;

struct tare_shape_field {
	const char *name;
	uint8_t kind;     /* enum tare_shaped_kind */
	bool is_signed;   /* INT, INTS */
	bool is_bool;     /* the same: 0 or 1 */
	uint8_t int_size; /* INT, INTS: of each */
	uint8_t what;     /* OTHER: for the caller; a list without a count: which number of the caller's */
	uint32_t offset, size, nr;
	uint32_t count_at, count_size, cap_at; /* of a list; cap_at 0: its capacity is not kept */
	const struct tare_shape *shape;
};

struct tare_shape {
	const char *name;
	uint32_t size;
	const struct tare_shape_field *fields; /* up to one without a name */
};

#define TARE_OF(field) (((SELF *)0)->field)
#define TARE_INT_TYPE(value)                                                                                           \
	.int_size = sizeof(value), .is_signed = (__typeof__(value))-1 < (__typeof__(value))1,                              \
	.is_bool = __builtin_types_compatible_p(__typeof__(value), bool)
#define TARE_ARRAY_NR(a, t) (sizeof(a) / sizeof(t))

#define TARE_SHAPED(field, k, ...)                                                                                     \
	{                                                                                                                  \
		.name = #field, .kind = TARE_SHAPED_##k, .offset = offsetof(SELF, field), .size = sizeof(TARE_OF(field)),      \
		__VA_ARGS__                                                                                                    \
	}
#define TARE_INT(field) TARE_SHAPED(field, INT, TARE_INT_TYPE(TARE_OF(field)), .nr = 1)
#define TARE_INT_ARRAY(field)                                                                                          \
	TARE_SHAPED(field, INT, TARE_INT_TYPE(TARE_OF(field)[0]), .nr = TARE_ARRAY_NR(TARE_OF(field), TARE_OF(field)[0]))
#define TARE_STRUCT(field, of) TARE_SHAPED(field, STRUCT, .shape = &of, .nr = 1)
#define TARE_STRUCT_ARRAY(field, of)                                                                                   \
	TARE_SHAPED(field, STRUCT, .shape = &of, .nr = TARE_ARRAY_NR(TARE_OF(field), TARE_OF(field)[0]))
#define TARE_ITEM(field, of) TARE_SHAPED(field, ITEM, .shape = &of)
#define TARE_COUNT_BY(count) .count_at = offsetof(SELF, count), .count_size = sizeof(TARE_OF(count))
#define TARE_LIST(field, of, count, cap)                                                                               \
	TARE_SHAPED(field, LIST, .shape = &of, TARE_COUNT_BY(count), .cap_at = offsetof(SELF, cap))
/* As many structs as `count` says, without a capacity. */
#define TARE_ROW(field, of, count) TARE_SHAPED(field, LIST, .shape = &of, TARE_COUNT_BY(count))
#define TARE_INTS(field, count, cap)                                                                                   \
	TARE_SHAPED(field, INTS, TARE_INT_TYPE(*TARE_OF(field)), TARE_COUNT_BY(count), .cap_at = offsetof(SELF, cap))
#define TARE_TEXTS(field, count, cap)   TARE_SHAPED(field, TEXTS, TARE_COUNT_BY(count), .cap_at = offsetof(SELF, cap))
#define TARE_LIST_OF(field, of, number) TARE_SHAPED(field, LIST, .shape = &of, .count_at = TARE_COUNTED, .what = number)
#define TARE_INTS_OF(field, number)                                                                                    \
	TARE_SHAPED(field, INTS, TARE_INT_TYPE(*TARE_OF(field)), .count_at = TARE_COUNTED, .what = number)
/* As many pointers as `count` says, with a capacity or without. */
#define TARE_ITEMS(field, of, count) TARE_SHAPED(field, ITEMS, .shape = &of, TARE_COUNT_BY(count))
#define TARE_ITEMS_IN(field, of, count, cap)                                                                           \
	TARE_SHAPED(field, ITEMS, .shape = &of, TARE_COUNT_BY(count), .cap_at = offsetof(SELF, cap))
#define TARE_MAP(field)       TARE_SHAPED(field, MAP, .nr = 1)
#define TARE_MAP_ARRAY(field) TARE_SHAPED(field, MAP, .nr = TARE_ARRAY_NR(TARE_OF(field), TARE_OF(field)[0]))
/* A struct whose layout never changes, of 8-byte words. */
#define TARE_WORDS(field)       TARE_SHAPED(field, INT, .int_size = 8, .nr = sizeof(TARE_OF(field)) / 8)
#define TARE_STRMAP(field)      TARE_SHAPED(field, STRMAP, )
#define TARE_TEXT(field)        TARE_SHAPED(field, TEXT, )
#define TARE_OTHER(field, code) TARE_SHAPED(field, OTHER, .what = code)
#define TARE_LEFT(field)        TARE_SHAPED(field, LEFT, )
/* What is not kept, but freed with its struct: a pointer, and a struct that stands in this one. */
#define TARE_FREED(field)            TARE_SHAPED(field, LEFT, .what = TARE_LEFT_FREED)
#define TARE_FREED_STRUCT(field, of) TARE_SHAPED(field, LEFT, .shape = &of)
#define TARE_FIELDS_END                                                                                                \
	{                                                                                                                  \
		.name = NULL                                                                                                   \
	}
#define TARE_SHAPE(type, table)                                                                                        \
	{                                                                                                                  \
#type, sizeof(struct type), table                                                                              \
	}

/* What only the caller knows. `item`: the struct whose field it is. */
struct tare_shape_world {
	void *arg;
	uint64_t (*number_of)(void *arg, int what, const void *pointer);
	bool (*find)(void *arg, int what, uint64_t number, void *item, const void **pointer);
	/* Of lists without a count: as many as there are in `item` now, and as many as it shall have when loaded. */
	size_t (*count_of)(void *arg, int what, const void *item);
	struct tare_arena *arena; /* for texts that are loaded */
};

void tare_shape_save(const struct tare_shape *shape, const void *item, const struct tare_shape_world *world,
                     struct tare_str *out);

/*
 * Into `item`, which is all zeros. False: the bytes make no sense; what was loaded by then is in `item`, to be
 * freed as if it had been built.
 */
bool tare_shape_load(const struct tare_shape *shape, void *item, const struct tare_shape_world *world,
                     const void *bytes, size_t size);

/*
 * Into `to`, which is all zeros: what loading the bytes of `from` makes of it. Texts and what only the caller knows are the same
 * ones in both. Of the worlds only count_of() is asked: how many there are, and how many there shall be.
 */
void tare_shape_copy(const struct tare_shape *shape, const void *from, const struct tare_shape_world *from_world,
                     void *to, const struct tare_shape_world *to_world);

/* What is in `item`, not `item` itself: no field is set to 0. Of the world only count_of() is asked. */
void tare_shape_free(const struct tare_shape *shape, void *item, const struct tare_shape_world *world);

#endif
