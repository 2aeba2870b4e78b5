/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs the processes, the GPUs and the lines of source of the second report with those of the first. */
#include "view/diff_private.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static bool is_same(const struct tare_diff_process *a, const struct tare_diff_process *b, bool with_path)
{
	return !strcmp(a->name, b->name) && a->rank == b->rank && (!with_path || !strcmp(a->path, b->path));
}

static void pair(struct tare_diff_side *a, struct tare_diff_side *b, bool with_path)
{
	for (size_t i = 0; i < a->process_nr; i++)
		for (size_t k = 0; k < b->process_nr && a->processes[i].twin < 0; k++)
			if (b->processes[k].twin < 0 && is_same(&a->processes[i], &b->processes[k], with_path)) {
				a->processes[i].twin = (int)k;
				b->processes[k].twin = (int)i;
			}
}

/* The only process that has no twin; NULL: no process is without a twin, or several are. */
static struct tare_diff_process *only_one(struct tare_diff_side *s)
{
	struct tare_diff_process *found = NULL;

	for (size_t i = 0; i < s->process_nr; i++) {
		if (s->processes[i].twin >= 0)
			continue;
		if (found)
			return NULL;
		found = &s->processes[i];
	}
	return found;
}

void tare_diff_pair_processes(struct tare_diff_side *a, struct tare_diff_side *b)
{
	struct tare_diff_process *x, *y;

	pair(a, b, true);
	pair(a, b, false);
	x = only_one(a);
	y = only_one(b);
	if (x && y) {
		x->twin = (int)(y - b->processes);
		y->twin = (int)(x - a->processes);
	}
}

/* ---- GPUs ---- */

static bool is_same_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static bool is_twin(const struct tare_diff_place *a, const struct tare_diff_place *b, bool by_uuid)
{
	return by_uuid ? a->index >= 0 && b->index >= 0 && is_same_text(a->uuid, b->uuid) : a->index == b->index;
}

/* What the first report has of it, and nobody in the second has taken yet; NULL: nothing. */
static struct tare_diff_total *total_of(struct tare_diff *d, const struct tare_diff_place *place, bool by_uuid)
{
	for (size_t i = 0; i < d->before.place_nr; i++)
		if (!d->totals[i].is_after && is_twin(d->totals[i].place, place, by_uuid))
			return &d->totals[i];
	return NULL;
}

static struct tare_diff_total *add_total(struct tare_diff *d, const struct tare_diff_place *place)
{
	return TARE_ADD(d->totals, d->total_nr, d->total_cap, (struct tare_diff_total){ .place = place });
}

static void take(struct tare_diff *d, struct tare_diff_total *t, size_t i, int *places)
{
	t->is_after = true;
	t->in_after = &d->after.places[i];
	places[i] = (int)(t - d->totals);
}

/*
 * A GPU is the one with the same UUID; where there is none, the one with the same number that is not another's by its UUID. One that has
 * neither is new.
 */
int *tare_diff_pair_places(struct tare_diff *d)
{
	int *places = tare_xcalloc(d->after.place_nr + 1, sizeof(*places));

	for (size_t i = 0; i < d->after.place_nr; i++)
		places[i] = -1;
	for (size_t i = 0; i < d->before.place_nr; i++)
		add_total(d, &d->before.places[i])->is_before = true;
	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < d->after.place_nr; i++) {
			const struct tare_diff_place *place = &d->after.places[i];
			struct tare_diff_total *t;

			if (places[i] >= 0)
				continue;
			t = pass < 2 ? total_of(d, place, pass == 0) : add_total(d, place);
			if (t)
				take(d, t, i, places);
		}
	return places;
}

/* ---- lines ---- */

uint64_t *tare_diff_slot(struct tare_strmap *map, int place, const char *path, size_t len, bool *is_new)
{
	TARE_FREED_BY(tare_str_free) struct tare_str key = { 0 };

	tare_str_addf(&key, "%d ", place);
	tare_str_add_n(&key, path, len);
	return is_new ? tare_strmap_put(map, tare_str_text(&key), is_new) : tare_strmap_get(map, tare_str_text(&key));
}

/* Names of lines and stacks without folders, by place: which item of a report has it, if only one has. */
enum { SEVERAL = UINT32_MAX }; /* else 1 + its number */

static void index_bare(const struct tare_diff_side *s, const int *places, struct tare_strmap *out)
{
	for (size_t i = 0; i < s->item_nr; i++) {
		const struct tare_diff_item *item = &s->items[i];
		int place = places ? places[item->place] : item->place;
		bool is_new = false;
		uint64_t *slot;

		if (!item->bare)
			continue;
		slot = tare_diff_slot(out, place, item->bare, strlen(item->bare), &is_new);
		*slot = is_new ? i + 1 : SEVERAL;
	}
}

void tare_diff_pair_lines(struct tare_diff *d, const int *places)
{
	TARE_FREED_BY(tare_strmap_free) struct tare_strmap before = { 0 }, after = { 0 }, paths = { 0 };
	bool is_new;

	index_bare(&d->before, NULL, &before);
	index_bare(&d->after, places, &after);
	for (size_t i = 0; i < d->before.item_nr && before.count; i++)
		tare_diff_slot(&paths, d->before.items[i].place, d->before.items[i].path, strlen(d->before.items[i].path),
		               &is_new);
	for (size_t i = 0; i < d->after.item_nr && before.count; i++) {
		struct tare_diff_item *item = &d->after.items[i];
		int place = places[item->place];
		uint64_t *mine, *other;

		if (!item->bare || tare_diff_slot(&paths, place, item->path, strlen(item->path), NULL))
			continue;
		mine = tare_diff_slot(&after, place, item->bare, strlen(item->bare), NULL);
		other = tare_diff_slot(&before, place, item->bare, strlen(item->bare), NULL);
		if (*mine != SEVERAL && other && *other != SEVERAL)
			item->elsewhere = d->before.items[*other - 1].path;
	}
}
