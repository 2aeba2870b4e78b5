/* SPDX-License-Identifier: Apache-2.0 */
/* Frees all that a struct's table says it has. */
#include "base/shape_private.h"

#include <stdlib.h>

/* Is there anything to free in such a struct? Most lists have millions in which there is nothing. */
static bool owns(const struct tare_shape *shape)
{
	for (const struct tare_shape_field *f = shape->fields; f->name; f++) {
		switch ((enum tare_shaped_kind)f->kind) {
		case TARE_SHAPED_INT:
		case TARE_SHAPED_TEXT:
		case TARE_SHAPED_OTHER:
			break;
		case TARE_SHAPED_STRUCT:
		case TARE_SHAPED_LEFT:
			if (f->what == TARE_LEFT_FREED || (f->shape && owns(f->shape)))
				return true;
			break;
		default:
			return true;
		}
	}
	return false;
}

static void free_list(const struct tare_shape_field *f, const struct tare_shape_world *world, char *item, void *list)
{
	bool is_each = f->kind == TARE_SHAPED_ITEMS || (f->kind == TARE_SHAPED_LIST && owns(f->shape));
	size_t n = list && is_each ? tare_shaped_count(f, world, item) : 0;

	for (size_t i = 0; i < n; i++) {
		if (f->kind == TARE_SHAPED_LIST) {
			tare_shape_free(f->shape, (char *)list + i * f->shape->size, world);
		} else if (((void **)list)[i]) {
			tare_shape_free(f->shape, ((void **)list)[i], world);
			free(((void **)list)[i]);
		}
	}
	free(list);
}

static void free_field(const struct tare_shape_field *f, const struct tare_shape_world *world, char *item)
{
	void *at = item + f->offset;

	switch ((enum tare_shaped_kind)f->kind) {
	case TARE_SHAPED_INT:
	case TARE_SHAPED_TEXT:
	case TARE_SHAPED_OTHER:
		return;
	case TARE_SHAPED_STRUCT:
		for (uint32_t i = 0; i < f->nr; i++)
			tare_shape_free(f->shape, (char *)at + i * f->shape->size, world);
		return;
	case TARE_SHAPED_ITEM:
		if (*(void **)at)
			tare_shape_free(f->shape, *(void **)at, world);
		free(*(void **)at);
		return;
	case TARE_SHAPED_LIST:
	case TARE_SHAPED_INTS:
	case TARE_SHAPED_ITEMS:
	case TARE_SHAPED_TEXTS:
		free_list(f, world, item, *(void **)at);
		return;
	case TARE_SHAPED_MAP:
		for (uint32_t i = 0; i < f->nr; i++)
			tare_map_free((struct tare_map *)at + i);
		return;
	case TARE_SHAPED_STRMAP:
		tare_strmap_free(at);
		return;
	case TARE_SHAPED_LEFT:
		if (f->shape)
			tare_shape_free(f->shape, at, world);
		else if (f->what == TARE_LEFT_FREED)
			free(*(void **)at);
		return;
	}
}

void tare_shape_free(const struct tare_shape *shape, void *item, const struct tare_shape_world *world)
{
	for (const struct tare_shape_field *f = shape->fields; f->name; f++)
		free_field(f, world, item);
}
