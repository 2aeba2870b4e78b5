/* SPDX-License-Identifier: Apache-2.0 */
/* A struct with all that its table says it has, once more: as saving and loading it, without bytes in between. */
#include "base/shape_private.h"

#include "base/xalloc.h"

#include <string.h>

struct copier {
	const struct tare_shape_world *from, *to;
};

static void copy(const struct copier *c, const struct tare_shape *shape, const char *from, char *to);

/* Which bytes of a struct are not kept. */
enum { LEFT_MOST = 8 };
struct left {
	uint32_t nr, at[LEFT_MOST], size[LEFT_MOST];
};

/* Its bytes, `at` of them in a larger struct, are all there is of it, but for those that are not kept. */
static bool is_flat(const struct tare_shape *shape, uint32_t at, struct left *left)
{
	for (const struct tare_shape_field *f = shape->fields; f->name; f++) {
		switch ((enum tare_shaped_kind)f->kind) {
		case TARE_SHAPED_STRUCT:
			for (uint32_t i = 0; i < f->nr; i++)
				if (!is_flat(f->shape, at + f->offset + i * f->shape->size, left))
					return false;
			break;
		case TARE_SHAPED_LEFT:
			if (left->nr == LEFT_MOST)
				return false;
			left->at[left->nr] = at + f->offset;
			left->size[left->nr++] = f->size;
			break;
		case TARE_SHAPED_INT:
		case TARE_SHAPED_TEXT:
		case TARE_SHAPED_OTHER:
			break;
		default:
			return false;
		}
	}
	return true;
}

/* False: they are not flat. */
static bool copy_flat_items(const struct tare_shape_field *f, const char *from, char *to, size_t n)
{
	struct left left = { 0 };
	size_t size = tare_shaped_size(f);

	if (f->kind != TARE_SHAPED_INTS && f->kind != TARE_SHAPED_TEXTS &&
	    (f->kind != TARE_SHAPED_LIST || !is_flat(f->shape, 0, &left)))
		return false;
	memcpy(to, from, n * size);
	for (uint32_t k = 0; k < left.nr; k++)
		for (size_t i = 0; i < n; i++)
			memset(to + i * size + left.at[k], 0, left.size[k]);
	return true;
}

static void *copy_bytes(const void *from, size_t n, size_t size)
{
	return n ? memcpy(tare_xmalloc(n * size), from, n * size) : NULL;
}

static void copy_map(const struct tare_map *from, struct tare_map *to)
{
	*to = *from;
	to->slots = copy_bytes(from->slots, from->cap ? from->cap + 1 : 0, sizeof(*from->slots));
}

static void copy_strmap(const struct tare_strmap *from, struct tare_strmap *to)
{
	*to = *from;
	to->slots = copy_bytes(from->slots, from->cap, sizeof(*from->slots));
	for (size_t i = 0; i < to->cap; i++)
		if (to->slots[i].key)
			to->slots[i].key = tare_xstrdup(to->slots[i].key);
}

static void *copy_item(const struct copier *c, const struct tare_shape *shape, const void *from)
{
	void *to = from ? tare_xcalloc(1, shape->size) : NULL;

	if (to)
		copy(c, shape, from, to);
	return to;
}

static void copy_items(const struct copier *c, const struct tare_shape_field *f, const char *from, char *to, size_t n)
{
	if (copy_flat_items(f, from, to, n))
		return;
	for (size_t i = 0; i < n; i++) {
		if (f->kind == TARE_SHAPED_LIST)
			copy(c, f->shape, from + i * f->shape->size, to + i * f->shape->size);
		else
			((void **)(void *)to)[i] = copy_item(c, f->shape, ((const void *const *)(const void *)from)[i]);
	}
}

static void copy_list(const struct copier *c, const struct tare_shape_field *f, const char *from, char *to)
{
	const char *list = *(const char *const *)(const void *)(from + f->offset);
	size_t n = list ? tare_shaped_count(f, c->from, from) : 0;
	char *made = tare_shaped_make_list(f, c->to, to, n);

	if (n)
		copy_items(c, f, list, made, n);
}

static void copy_field(const struct copier *c, const struct tare_shape_field *f, const char *from, char *to)
{
	const char *own = from + f->offset;
	char *at = to + f->offset;
	void *item;

	switch ((enum tare_shaped_kind)f->kind) {
	case TARE_SHAPED_INT:
		memcpy(at, own, (size_t)f->nr * f->int_size);
		return;
	case TARE_SHAPED_STRUCT:
		for (uint32_t i = 0; i < f->nr; i++)
			copy(c, f->shape, own + i * f->shape->size, at + i * f->shape->size);
		return;
	case TARE_SHAPED_ITEM:
		item = copy_item(c, f->shape, *(const void *const *)(const void *)own);
		memcpy(at, &item, sizeof(item));
		return;
	case TARE_SHAPED_LIST:
	case TARE_SHAPED_INTS:
	case TARE_SHAPED_ITEMS:
	case TARE_SHAPED_TEXTS:
		copy_list(c, f, from, to);
		return;
	case TARE_SHAPED_MAP:
		for (uint32_t i = 0; i < f->nr; i++)
			copy_map((const struct tare_map *)(const void *)own + i, (struct tare_map *)(void *)at + i);
		return;
	case TARE_SHAPED_STRMAP:
		copy_strmap((const struct tare_strmap *)(const void *)own, (struct tare_strmap *)(void *)at);
		return;
	case TARE_SHAPED_TEXT:
	case TARE_SHAPED_OTHER:
		*(const void **)(void *)at = *(const void *const *)(const void *)own;
		return;
	case TARE_SHAPED_LEFT:
		return;
	}
}

static void copy(const struct copier *c, const struct tare_shape *shape, const char *from, char *to)
{
	for (const struct tare_shape_field *f = shape->fields; f->name; f++)
		copy_field(c, f, from, to);
}

void tare_shape_copy(const struct tare_shape *shape, const void *from, const struct tare_shape_world *from_world,
                     void *to, const struct tare_shape_world *to_world)
{
	struct copier c = { from_world, to_world };

	copy(&c, shape, from, to);
}
