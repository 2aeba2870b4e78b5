/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that tare_shape_save() wrote become structs again. Their own tables say what follows what; ours say where
 * it goes. Every number is checked before it is used: the bytes may be damaged.
 */
#include "base/shape.h"

#include "base/owned.h"
#include "base/shape_private.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, TABLE_MAX = 4096 };

/* A field as the bytes have it, and ours of that name; NULL: there is none, it is read and forgotten. */
struct from_field {
	uint8_t kind;
	bool is_signed;
	size_t shape; /* place in the loader's */
	const struct tare_shape_field *own;
};

struct from_shape {
	const struct tare_shape *own; /* NULL: there is none */
	struct from_field *fields;
	size_t count;
};

struct loader {
	const struct tare_shape_world *world;
	const uint8_t *at, *end;
	struct from_shape *shapes;
	size_t shape_nr;
	bool is_bad;
	int depth;
};

static size_t left(const struct loader *l)
{
	return (size_t)(l->end - l->at);
}

static uint64_t get_long(struct loader *l)
{
	uint64_t v = 0;

	for (int shift = 0; l->at < l->end && shift < 64; shift += 7) {
		uint8_t byte = *l->at++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	l->is_bad = true;
	l->at = l->end;
	return 0;
}

/* Most numbers are small. */
static inline uint64_t get(struct loader *l)
{
	if (l->at < l->end && !(*l->at & 0x80))
		return *l->at++;
	return get_long(l);
}

/* As many things of at least a byte each as there can still be. */
static size_t get_count(struct loader *l)
{
	uint64_t n = get(l);

	if (n <= left(l))
		return (size_t)n;
	l->is_bad = true;
	return 0;
}

/* NULL: it is damaged. */
static const char *get_text(struct loader *l, size_t *len)
{
	const char *text;

	*len = get_count(l);
	text = (const char *)l->at;
	l->at += *len;
	return l->is_bad ? NULL : text;
}

/* ---- tables ---- */

static bool is_called(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && !memcmp(name, text, len);
}

static const struct tare_shape *shape_called(const struct tare_shapes *all, const char *text, size_t len)
{
	for (size_t i = 0; text && i < all->count; i++)
		if (is_called(all->items[i]->name, text, len))
			return all->items[i];
	return NULL;
}

static const struct tare_shape_field *field_called(const struct tare_shape *shape, const char *text, size_t len)
{
	for (const struct tare_shape_field *f = shape ? shape->fields : NULL; f && text && f->name; f++)
		if (is_called(f->name, text, len))
			return f;
	return NULL;
}

static void get_field(struct loader *l, const struct tare_shape *own, struct from_field *f)
{
	size_t len;
	const char *name = get_text(l, &len);
	uint64_t kind = get(l);

	f->kind = (uint8_t)(kind >> 1);
	f->is_signed = kind & 1;
	f->own = field_called(own, name, len);
	if (kind >> 1 >= TARE_SHAPED_LEFT)
		l->is_bad = true;
	if (f->own && f->own->kind != f->kind)
		f->own = NULL;
	if (tare_shaped_has_shape(f->kind))
		f->shape = (size_t)get(l);
	if (f->shape >= l->shape_nr)
		l->is_bad = true;
}

static void get_tables(struct loader *l, const struct tare_shapes *own)
{
	l->shape_nr = get_count(l);
	if (l->is_bad || !l->shape_nr || l->shape_nr > TABLE_MAX) {
		l->is_bad = true;
		l->shape_nr = 0;
		return;
	}
	l->shapes = tare_xcalloc(l->shape_nr, sizeof(*l->shapes));
	for (size_t i = 0; i < l->shape_nr && !l->is_bad; i++) {
		size_t len;
		const char *name = get_text(l, &len);
		const struct tare_shape *shape = shape_called(own, name, len);

		l->shapes[i].own = shape;
		l->shapes[i].count = get_count(l);
		if (l->is_bad || l->shapes[i].count > TABLE_MAX)
			l->is_bad = true;
		else
			l->shapes[i].fields = tare_xcalloc(l->shapes[i].count + 1, sizeof(struct from_field));
		for (size_t k = 0; k < l->shapes[i].count && !l->is_bad; k++)
			get_field(l, shape, &l->shapes[i].fields[k]);
	}
}

/* A field of ours takes only structs of the shape that it has. */
static void check_shapes(struct loader *l, const struct tare_shape *root)
{
	if (!l->is_bad && l->shapes[0].own != root)
		l->is_bad = true;
	for (size_t i = 0; i < l->shape_nr && !l->is_bad; i++)
		for (size_t k = 0; k < l->shapes[i].count; k++) {
			struct from_field *f = &l->shapes[i].fields[k];

			if (f->own && tare_shaped_has_shape(f->kind) && l->shapes[f->shape].own != f->own->shape)
				f->own = NULL;
		}
}

/* ---- values ---- */

static void load(struct loader *l, size_t from, char *item);

/* A number as the bytes have it, into a field of perhaps another size. */
static void get_int(struct loader *l, const struct from_field *from, char *to)
{
	const struct tare_shape_field *f = from->own;
	uint64_t v = get(l), fits;
	bool is_negative = from->is_signed && v & 1;
	int bits;

	if (!f)
		return;
	if (from->is_signed)
		v = v >> 1 ^ (0 - (v & 1));
	bits = f->is_bool ? 1 : 8 * f->int_size - f->is_signed;
	fits = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	if (is_negative ? !f->is_signed || ~v > fits : v > fits)
		l->is_bad = true;
	else
		memcpy(to, &v, f->int_size);
}

static void load_ints(struct loader *l, const struct from_field *from, char *to, size_t nr)
{
	struct from_field forgotten = { .kind = from->kind, .is_signed = from->is_signed };
	size_t n = get_count(l);

	for (size_t i = 0; i < n && !l->is_bad; i++)
		if (from->own && i < nr)
			get_int(l, from, to + i * from->own->int_size);
		else
			get_int(l, &forgotten, NULL);
}

static void load_structs(struct loader *l, const struct from_field *from, char *to)
{
	size_t n = get_count(l);

	for (size_t i = 0; i < n && !l->is_bad; i++)
		load(l, from->shape, from->own && i < from->own->nr ? to + i * from->own->shape->size : NULL);
}

static void *load_item(struct loader *l, const struct from_field *from)
{
	char *item = NULL;

	if (!get(l) || l->is_bad)
		return NULL;
	if (from->own)
		item = tare_xcalloc(1, from->own->shape->size);
	load(l, from->shape, item);
	return item;
}

static const char *load_text(struct loader *l, bool is_wanted)
{
	const char *text;
	size_t len;

	if (!get(l) || l->is_bad)
		return NULL;
	text = get_text(l, &len);
	return text && is_wanted ? tare_arena_strndup(l->world->arena, text, len) : NULL;
}

static void load_one(struct loader *l, const struct from_field *from, char *to)
{
	switch (from->kind) {
	case TARE_SHAPED_INTS:
		get_int(l, from, to);
		return;
	case TARE_SHAPED_LIST:
		load(l, from->shape, to);
		return;
	case TARE_SHAPED_ITEMS: {
		void *item = load_item(l, from);

		if (to)
			memcpy(to, &item, sizeof(item));
		return;
	}
	default: {
		const char *text = load_text(l, to != NULL);

		if (to)
			memcpy(to, &text, sizeof(text));
		return;
	}
	}
}

static void load_list(struct loader *l, const struct from_field *from, char *item)
{
	const struct tare_shape_field *f = item ? from->own : NULL;
	struct from_field forgotten = *from;
	size_t n = get_count(l);
	char *list;

	/* Every field of every struct takes a byte at least. */
	if (from->kind == TARE_SHAPED_LIST &&
	    n > left(l) / (l->shapes[from->shape].count ? l->shapes[from->shape].count : 1))
		l->is_bad = true;
	if (f && f->count_at != TARE_COUNTED && f->count_size < sizeof(n) && n > INT32_MAX)
		l->is_bad = true;
	if (l->is_bad)
		return;
	list = f ? tare_shaped_make_list(f, l->world, item, n) : NULL;
	forgotten.own = NULL;
	for (size_t i = 0; i < n && !l->is_bad; i++)
		if (list && from->kind == TARE_SHAPED_INTS && l->at < l->end && !*l->at)
			l->at++; /* most of long ones, and so they are already */
		else if (list)
			load_one(l, from, list + i * tare_shaped_size(f));
		else
			load_one(l, &forgotten, NULL);
}

static void load_map(struct loader *l, struct tare_map *m)
{
	size_t n = get_count(l);

	for (size_t i = 0; i < n && !l->is_bad; i++) {
		uint64_t key = get(l), value = get(l);

		if (m && !l->is_bad)
			*tare_map_put(m, key, NULL) = value;
	}
}

static void load_maps(struct loader *l, const struct from_field *from, char *at)
{
	size_t n = get_count(l);

	for (size_t i = 0; i < n && !l->is_bad; i++)
		load_map(l, at && i < from->own->nr ? &((struct tare_map *)(void *)at)[i] : NULL);
}

static void load_strmap(struct loader *l, struct tare_strmap *m)
{
	size_t n = get_count(l);

	for (size_t i = 0; i < n && !l->is_bad; i++) {
		size_t len;
		const char *text = get_text(l, &len);
		uint64_t value = get(l);
		TARE_FREED_HERE char *key = text && m ? tare_xstrndup(text, len) : NULL;

		if (key && !l->is_bad)
			*tare_strmap_put(m, key, NULL) = value;
	}
}

static void load_other(struct loader *l, const struct from_field *from, char *item)
{
	uint64_t number = get(l);
	const void *found = NULL;

	if (!item || !from->own || l->is_bad)
		return;
	if (!l->world->find(l->world->arg, from->own->what, number, item, &found))
		l->is_bad = true;
	memcpy(item + from->own->offset, &found, sizeof(found));
}

static void load_field(struct loader *l, const struct from_field *from, char *item)
{
	char *at = item && from->own ? item + from->own->offset : NULL;
	struct from_field forgotten;
	const char *text;
	void *own;

	if (!at) {
		forgotten = *from;
		forgotten.own = NULL;
		from = &forgotten;
	}
	switch ((enum tare_shaped_kind)from->kind) {
	case TARE_SHAPED_INT:
		load_ints(l, from, at, at ? from->own->nr : 0);
		return;
	case TARE_SHAPED_STRUCT:
		load_structs(l, from, at);
		return;
	case TARE_SHAPED_ITEM:
		own = load_item(l, from);
		if (at)
			memcpy(at, &own, sizeof(own));
		return;
	case TARE_SHAPED_LIST:
	case TARE_SHAPED_INTS:
	case TARE_SHAPED_ITEMS:
	case TARE_SHAPED_TEXTS:
		load_list(l, from, at ? item : NULL);
		return;
	case TARE_SHAPED_MAP:
		load_maps(l, from, at);
		return;
	case TARE_SHAPED_STRMAP:
		load_strmap(l, (struct tare_strmap *)(void *)at);
		return;
	case TARE_SHAPED_TEXT:
		text = load_text(l, at != NULL);
		if (at)
			memcpy(at, &text, sizeof(text));
		return;
	case TARE_SHAPED_OTHER:
		load_other(l, from, at ? item : NULL);
		return;
	case TARE_SHAPED_LEFT:
		return;
	}
}

/* `item` NULL: what is read is forgotten. */
static void load(struct loader *l, size_t shape, char *item)
{
	const struct from_shape *s = &l->shapes[shape];

	if (++l->depth > DEPTH_MAX)
		l->is_bad = true;
	for (size_t i = 0; i < s->count && !l->is_bad; i++)
		load_field(l, &s->fields[i], item);
	l->depth--;
}

bool tare_shape_load(const struct tare_shape *shape, void *item, const struct tare_shape_world *world,
                     const void *bytes, size_t size)
{
	struct loader l = { .world = world, .at = bytes, .end = (const uint8_t *)bytes + size };
	struct tare_shapes own = { 0 };

	tare_shapes_add(&own, shape);
	get_tables(&l, &own);
	check_shapes(&l, shape);
	if (!l.is_bad)
		load(&l, 0, item);
	for (size_t i = 0; i < l.shape_nr; i++)
		free(l.shapes[i].fields);
	free(l.shapes);
	free(own.items);
	return !l.is_bad && l.at == l.end;
}
