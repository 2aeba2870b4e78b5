/* SPDX-License-Identifier: Apache-2.0 */
/* Structs as bytes: the tables of all shapes that are reached, then the fields one after another. */
#include "base/shape.h"

#include "base/array.h"
#include "base/shape_private.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

bool tare_shaped_has_shape(uint8_t kind)
{
	return kind == TARE_SHAPED_STRUCT || kind == TARE_SHAPED_ITEM || kind == TARE_SHAPED_LIST ||
	       kind == TARE_SHAPED_ITEMS;
}

size_t tare_shapes_add(struct tare_shapes *all, const struct tare_shape *shape)
{
	size_t at = 0;

	while (at < all->count && all->items[at] != shape)
		at++;
	if (at < all->count)
		return at;
	TARE_APPEND(all->items, all->count, all->cap) = shape;
	for (const struct tare_shape_field *f = shape->fields; f->name; f++)
		if (tare_shaped_has_shape(f->kind))
			tare_shapes_add(all, f->shape);
	return at;
}

static void put(struct tare_str *out, uint64_t v)
{
	char bytes[10];
	size_t n = 0;

	for (; v > 0x7f; v >>= 7)
		bytes[n++] = (char)(v | 0x80);
	bytes[n++] = (char)v;
	tare_str_add_n(out, bytes, n);
}

static void put_text(struct tare_str *out, const char *text)
{
	size_t len = strlen(text);

	put(out, len);
	tare_str_add_n(out, text, len);
}

static void put_int(struct tare_str *out, const struct tare_shape_field *f, const void *at)
{
	uint64_t v = 0;

	memcpy(&v, at, f->int_size); /* little endian, as every machine that we are built for */
	if (f->is_signed) {
		int shift = 64 - 8 * f->int_size;
		int64_t s = (int64_t)(v << shift) >> shift;

		v = (uint64_t)s << 1 ^ (s < 0 ? UINT64_MAX : 0);
	}
	put(out, v);
}

static void put_tables(struct tare_str *out, const struct tare_shapes *all)
{
	put(out, all->count);
	for (size_t i = 0; i < all->count; i++) {
		const struct tare_shape_field *f;
		size_t n = 0;

		for (f = all->items[i]->fields; f->name; f++)
			n += f->kind != TARE_SHAPED_LEFT;
		put_text(out, all->items[i]->name);
		put(out, n);
		for (f = all->items[i]->fields; f->name; f++) {
			if (f->kind == TARE_SHAPED_LEFT)
				continue;
			put_text(out, f->name);
			put(out, (uint64_t)f->kind << 1 | f->is_signed);
			if (tare_shaped_has_shape(f->kind))
				put(out, tare_shapes_add((struct tare_shapes *)all, f->shape));
		}
	}
}

struct saver {
	const struct tare_shape_world *world;
	struct tare_str *out;
};

static void save(const struct saver *s, const struct tare_shape *shape, const char *item);

size_t tare_shaped_count(const struct tare_shape_field *f, const struct tare_shape_world *world, const void *item)
{
	uint64_t n = 0;

	if (f->count_at == TARE_COUNTED)
		return world->count_of(world->arg, f->what, item);
	memcpy(&n, (const char *)item + f->count_at, f->count_size);
	return (size_t)n;
}

size_t tare_shaped_size(const struct tare_shape_field *f)
{
	if (f->kind == TARE_SHAPED_INTS)
		return f->int_size;
	return f->kind == TARE_SHAPED_LIST ? f->shape->size : sizeof(void *);
}

char *tare_shaped_make_list(const struct tare_shape_field *f, const struct tare_shape_world *world, char *item,
                            size_t n)
{
	size_t room = n;
	char *list;

	if (f->count_at == TARE_COUNTED) {
		room = world->count_of(world->arg, f->what, item);
		room = room > n ? room : n;
	} else {
		memcpy(item + f->count_at, &n, f->count_size);
	}
	if (f->count_at != TARE_COUNTED && f->cap_at)
		memcpy(item + f->cap_at, &n, sizeof(n));
	if (!room)
		return NULL;
	list = tare_xcalloc(room, tare_shaped_size(f));
	memcpy(item + f->offset, &list, sizeof(list));
	return list;
}

static void save_map(const struct saver *s, const struct tare_map *m)
{
	const struct tare_map_slot *slot;

	put(s->out, m->count);
	for (size_t at = 0; (slot = tare_map_next(m, &at));) {
		put(s->out, slot->key);
		put(s->out, slot->value);
	}
}

static void save_strmap(const struct saver *s, const struct tare_strmap *m)
{
	const struct tare_strmap_slot *slot;

	put(s->out, m->count);
	for (size_t at = 0; (slot = tare_strmap_next(m, &at));) {
		put_text(s->out, slot->key);
		put(s->out, slot->value);
	}
}

static void save_text(const struct saver *s, const char *text)
{
	put(s->out, text != NULL);
	if (text)
		put_text(s->out, text);
}

static void save_item(const struct saver *s, const struct tare_shape *shape, const char *item)
{
	put(s->out, item != NULL);
	if (item)
		save(s, shape, item);
}

/* `list`: what the pointer of a list points to; no items where it is NULL. */
static void save_list(const struct saver *s, const struct tare_shape_field *f, const char *list, size_t count)
{
	count = list ? count : 0;
	put(s->out, count);
	for (size_t i = 0; i < count; i++) {
		if (f->kind == TARE_SHAPED_INTS)
			put_int(s->out, f, list + i * f->int_size);
		else if (f->kind == TARE_SHAPED_LIST)
			save(s, f->shape, list + i * f->shape->size);
		else if (f->kind == TARE_SHAPED_ITEMS)
			save_item(s, f->shape, ((const char *const *)(const void *)list)[i]);
		else
			save_text(s, ((const char *const *)(const void *)list)[i]);
	}
}

static void save_field(const struct saver *s, const struct tare_shape_field *f, const char *item)
{
	const char *at = item + f->offset;

	switch ((enum tare_shaped_kind)f->kind) {
	case TARE_SHAPED_INT:
		put(s->out, f->nr);
		for (uint32_t i = 0; i < f->nr; i++)
			put_int(s->out, f, at + i * f->int_size);
		return;
	case TARE_SHAPED_STRUCT:
		put(s->out, f->nr);
		for (uint32_t i = 0; i < f->nr; i++)
			save(s, f->shape, at + i * f->shape->size);
		return;
	case TARE_SHAPED_ITEM:
		save_item(s, f->shape, *(const char *const *)(const void *)at);
		return;
	case TARE_SHAPED_LIST:
	case TARE_SHAPED_INTS:
	case TARE_SHAPED_ITEMS:
	case TARE_SHAPED_TEXTS:
		save_list(s, f, *(const char *const *)(const void *)at, tare_shaped_count(f, s->world, item));
		return;
	case TARE_SHAPED_MAP:
		put(s->out, f->nr);
		for (uint32_t i = 0; i < f->nr; i++)
			save_map(s, &((const struct tare_map *)(const void *)at)[i]);
		return;
	case TARE_SHAPED_STRMAP:
		save_strmap(s, (const struct tare_strmap *)(const void *)at);
		return;
	case TARE_SHAPED_TEXT:
		save_text(s, *(const char *const *)(const void *)at);
		return;
	case TARE_SHAPED_OTHER:
		put(s->out, s->world->number_of(s->world->arg, f->what, *(const void *const *)(const void *)at));
		return;
	case TARE_SHAPED_LEFT:
		return;
	}
}

static void save(const struct saver *s, const struct tare_shape *shape, const char *item)
{
	for (const struct tare_shape_field *f = shape->fields; f->name; f++)
		save_field(s, f, item);
}

void tare_shape_save(const struct tare_shape *shape, const void *item, const struct tare_shape_world *world,
                     struct tare_str *out)
{
	struct tare_shapes all = { 0 };
	struct saver s = { world, out };

	tare_shapes_add(&all, shape);
	put_tables(out, &all);
	save(&s, shape, item);
	free(all.items);
}
