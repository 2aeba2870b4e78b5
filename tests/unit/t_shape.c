/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shape.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum color { RED, GREEN = 7 };

struct leaf {
	int64_t a;
	uint8_t b;
	bool is_c;
	int scratch;
};

struct tree {
	int32_t below;
	uint64_t much;
	enum color color;
	struct leaf one, two[2];
	struct leaf *list;
	size_t list_nr, list_cap;
	struct leaf **items;
	int item_nr;
	struct leaf *own;
	int16_t *ints;
	size_t int_nr, int_cap;
	struct tare_map map;
	struct tare_strmap names;
	const char *text, *none;
	const void *other;
	int scratch;
	void *made;
	struct owner {
		void *made;
	} owner;
};

#define SELF struct leaf
static const struct tare_shape_field leaf_fields[] = { TARE_INT(a), TARE_INT(b), TARE_INT(is_c), TARE_LEFT(scratch),
	                                                   TARE_FIELDS_END };
#undef SELF
static const struct tare_shape leaf_shape = TARE_SHAPE(leaf, leaf_fields);

#define SELF struct owner
static const struct tare_shape_field owner_fields[] = { TARE_FREED(made), TARE_FIELDS_END };
#undef SELF
static const struct tare_shape owner_shape = TARE_SHAPE(owner, owner_fields);

#define SELF struct tree
static const struct tare_shape_field tree_fields[] = {
	TARE_INT(below),
	TARE_INT(much),
	TARE_INT(color),
	TARE_STRUCT(one, leaf_shape),
	TARE_STRUCT_ARRAY(two, leaf_shape),
	TARE_LIST(list, leaf_shape, list_nr, list_cap),
	TARE_ITEMS(items, leaf_shape, item_nr),
	TARE_ITEM(own, leaf_shape),
	TARE_INTS(ints, int_nr, int_cap),
	TARE_MAP(map),
	TARE_STRMAP(names),
	TARE_TEXT(text),
	TARE_TEXT(none),
	TARE_OTHER(other, 3),
	TARE_LEFT(scratch),
	TARE_FREED(made),
	TARE_FREED_STRUCT(owner, owner_shape),
	TARE_FIELDS_END,
};
#undef SELF
static const struct tare_shape tree_shape = TARE_SHAPE(tree, tree_fields);

static const char somewhere[4];

static uint64_t number_of(void *arg, int what, const void *pointer)
{
	(void)arg;
	CHECK_INT(what, 3);
	return pointer ? 1 + (uint64_t)((const char *)pointer - somewhere) : 0;
}

static bool find(void *arg, int what, uint64_t number, void *item, const void **pointer)
{
	(void)arg, (void)what, (void)item;
	if (number > sizeof(somewhere))
		return false;
	*pointer = number ? somewhere + number - 1 : NULL;
	return true;
}

static size_t count_of(void *arg, int what, const void *item)
{
	(void)arg, (void)what, (void)item;
	return 0;
}

static struct tare_arena arena;
static const struct tare_shape_world world = { NULL, number_of, find, count_of, &arena };

static void free_tree(struct tree *t)
{
	tare_shape_free(&tree_shape, t, &world);
	tare_arena_free(&arena);
	*t = (struct tree){ 0 };
}

/* `copy` may be NULL. */
static void save_one(struct tare_str *out, struct tree *copy)
{
	struct leaf list[2] = { { INT64_MIN, 255, true, 97 }, { -1, 0, false, 98 } };
	struct leaf *items[3] = { &list[1], NULL, &list[0] };
	int16_t ints[3] = { -32768, 0, 32767 };
	struct tree t = { .below = -5,
		              .much = UINT64_MAX,
		              .color = GREEN,
		              .one = { 1, 2, true, 96 },
		              .two = { { 3, 4, false, 0 }, { INT64_MAX, 6, true, 95 } },
		              .list = list,
		              .list_nr = 2,
		              .items = items,
		              .item_nr = 3,
		              .own = &list[0],
		              .ints = ints,
		              .int_nr = 3,
		              .text = "a text",
		              .other = somewhere + 2,
		              .scratch = 99 };

	*tare_map_put(&t.map, 0, NULL) = 4;
	*tare_map_put(&t.map, UINT64_MAX, NULL) = 5;
	*tare_strmap_put(&t.names, "name", NULL) = 6;
	tare_shape_save(&tree_shape, &t, &world, out);
	if (copy)
		tare_shape_copy(&tree_shape, &t, &world, copy, &world);
	tare_map_free(&t.map);
	tare_strmap_free(&t.names);
}

TEST(a_copy_has_what_was_saved)
{
	struct tare_str bytes = { 0 }, again = { 0 };
	struct tree t = { 0 };

	save_one(&bytes, &t);
	tare_shape_save(&tree_shape, &t, &world, &again);
	CHECK_INT((int64_t)again.len, (int64_t)bytes.len);
	CHECK(!memcmp(again.data, bytes.data, bytes.len));
	CHECK_INT(t.scratch + t.one.scratch + t.two[1].scratch, 0);
	CHECK_INT(t.list[0].scratch + t.list[1].scratch + t.items[0]->scratch, 0);
	CHECK(!t.made && !t.owner.made);
	t.made = malloc(8); /* freed with the rest, which LeakSanitizer sees */
	t.owner.made = malloc(8);
	tare_str_free(&bytes);
	tare_str_free(&again);
	free_tree(&t);
}

TEST(every_kind_of_field_comes_back)
{
	struct tare_str bytes = { 0 };
	struct tree t = { 0 };

	save_one(&bytes, NULL);
	CHECK(tare_shape_load(&tree_shape, &t, &world, bytes.data, bytes.len));
	CHECK_INT(t.below, -5);
	CHECK(t.much == UINT64_MAX);
	CHECK_INT(t.color, GREEN);
	CHECK_INT(t.one.a, 1);
	CHECK_INT(t.two[1].a, INT64_MAX);
	CHECK(t.two[1].is_c);
	CHECK_INT((int64_t)t.list_nr, 2);
	CHECK_INT((int64_t)t.list_cap, 2);
	CHECK_INT(t.list[0].a, INT64_MIN);
	CHECK_INT(t.list[0].b, 255);
	CHECK_INT(t.item_nr, 3);
	CHECK_INT(t.items[0]->a, -1);
	CHECK(!t.items[1]);
	CHECK(t.own->is_c);
	CHECK_INT(t.ints[0], -32768);
	CHECK_INT(t.ints[2], 32767);
	CHECK_INT((int64_t)*tare_map_get(&t.map, 0), 4);
	CHECK_INT((int64_t)*tare_map_get(&t.map, UINT64_MAX), 5);
	CHECK_INT((int64_t)t.map.count, 2);
	CHECK_INT((int64_t)*tare_strmap_get(&t.names, "name"), 6);
	CHECK_STR(t.text, "a text");
	CHECK(!t.none);
	CHECK(t.other == somewhere + 2);
	CHECK_INT(t.scratch, 0);
	free_tree(&t);
	tare_str_free(&bytes);
}

/* A later version has moved fields, dropped some, added one, and made one wider and one narrower. */
struct later {
	int64_t below;
	uint64_t new_one;
	struct leaf one;
	uint32_t much;
	const char *text;
};

#define SELF struct later
static const struct tare_shape_field later_fields[] = { TARE_INT(new_one), TARE_STRUCT(one, leaf_shape),
	                                                    TARE_INT(below), TARE_TEXT(text), TARE_FIELDS_END };
static const struct tare_shape_field narrow_fields[] = { TARE_INT(much), TARE_FIELDS_END };
#undef SELF
static const struct tare_shape later_shape = { "tree", sizeof(struct later), later_fields };
static const struct tare_shape narrow_shape = { "tree", sizeof(struct later), narrow_fields };

TEST(fields_are_found_by_name)
{
	struct tare_str bytes = { 0 };
	struct later t = { 0 };

	save_one(&bytes, NULL);
	CHECK(tare_shape_load(&later_shape, &t, &world, bytes.data, bytes.len));
	CHECK_INT(t.below, -5);
	CHECK_INT((int64_t)t.new_one, 0);
	CHECK_INT(t.one.a, 1);
	CHECK_STR(t.text, "a text");
	t = (struct later){ 0 };
	CHECK(!tare_shape_load(&narrow_shape, &t, &world, bytes.data, bytes.len));
	tare_arena_free(&arena);
	tare_str_free(&bytes);
}

/* Whatever is wrong with them: every cut, every byte with every bit turned. */
TEST(damaged_bytes_are_refused_or_loaded)
{
	struct tare_str bytes = { 0 };
	struct tree t = { 0 };
	int refused = 0;

	save_one(&bytes, NULL);
	for (size_t n = 0; n < bytes.len; n++) {
		CHECK(!tare_shape_load(&tree_shape, &t, &world, bytes.data, n));
		free_tree(&t);
	}
	for (size_t i = 0; i < bytes.len * 8; i++) {
		bytes.data[i / 8] ^= (char)(1 << i % 8);
		refused += !tare_shape_load(&tree_shape, &t, &world, bytes.data, bytes.len);
		free_tree(&t);
		bytes.data[i / 8] ^= (char)(1 << i % 8);
	}
	CHECK(refused > 100);
	tare_str_free(&bytes);
}
