/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which object holds an address, and when. The log says of an object when it was seen first, and nothing of its end: an
 * object is taken to be there until another one is seen at one of its addresses.
 */
#include "trace/recording_private.h"

#include "base/comparator.h"
#include "base/sorted.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

struct numbered {
	struct tare_object object;
	int number; /* in the order of the log, which is that of time within a lane only */
};

TARE_COMPARATOR(by_age, struct numbered, TARE_RISING(object.stamp) TARE_RISING(number))

TARE_COMPARATOR(by_begin, struct tare_object, TARE_RISING(begin) TARE_RISING(stamp))

/* Objects that are loaded at some time, which do not overlap. */
struct loaded {
	struct tare_object *objects;
	struct tare_sorted begins;
	struct tare_map place_of; /* begin → place in `objects` */
};

/* The last one that has an address of `o`. */
static struct tare_object *last_in_place_of(const struct loaded *l, const struct tare_object *o)
{
	struct tare_object *found;
	uint64_t begin;

	if (!tare_sorted_last_up_to(&l->begins, o->end - 1, &begin))
		return NULL;
	found = &l->objects[*tare_map_get(&l->place_of, begin)];
	return found->end > o->begin ? found : NULL;
}

static bool is_same(const struct tare_object *a, const struct tare_object *b)
{
	return a->begin == b->begin && a->end == b->end && a->base == b->base && a->identity == b->identity &&
	       strcmp(a->path, b->path) == 0;
}

/* False: it was there already. */
static bool load(struct loaded *l, size_t place)
{
	const struct tare_object *o = &l->objects[place];
	struct tare_object *older;

	while ((older = last_in_place_of(l, o))) {
		if (is_same(older, o))
			return false;
		older->until = o->stamp ? o->stamp : 1;
		tare_sorted_remove(&l->begins, older->begin);
	}
	tare_sorted_add(&l->begins, o->begin);
	*tare_map_put(&l->place_of, o->begin, NULL) = place;
	return true;
}

void tare_recording_settle_objects(struct tare_rprocess *p)
{
	size_t n = (size_t)p->public.object_nr, kept = 0;
	TARE_FREED_HERE struct numbered *all = tare_xcalloc(n + 1, sizeof(*all));
	struct loaded l = { .objects = p->objects };
	uint64_t reach = 0;

	for (size_t i = 0; i < n; i++)
		all[i] = (struct numbered){ p->objects[i], (int)i };
	TARE_SORT(all, n, by_age);
	for (size_t i = 0; i < n; i++) {
		p->objects[kept] = all[i].object;
		kept += load(&l, kept);
	}
	TARE_SORT(p->objects, kept, by_begin);
	for (size_t i = 0; i < kept; i++) {
		reach = p->objects[i].end > reach ? p->objects[i].end : reach;
		p->objects[i].reach = reach;
	}
	p->public.object_nr = (int)kept;
	p->public.objects = p->objects;
	tare_sorted_free(&l.begins);
	tare_map_free(&l.place_of);
}

/* FNV-1a; never 0. */
uint32_t tare_object_identity(const char *path, const uint64_t build_id[2])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
	for (int i = 0; i < 2; i++)
		hash = (hash ^ build_id[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(hash >> 32) | 1;
}
