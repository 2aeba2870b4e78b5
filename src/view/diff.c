/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two reports row by row. */
#include "view/diff.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/sat.h"
#include "view/diff_private.h"

#include <stdlib.h>
#include <string.h>

bool tare_diff_can(int by)
{
	return by < 0 || tare_by_infos[by].flags & TARE_BY_BYTES;
}

bool tare_diff_is_of_changes(int by)
{
	return by >= 0 && tare_by_infos[by].flags & TARE_BY_CHANGES;
}

void tare_diff_views(struct tare_str *out)
{
	for (int by = 0; by < TARE_BY_NR; by++)
		if (tare_diff_can(by))
			tare_str_addf(out, "%s%s", out->len ? ", " : "", tare_by_infos[by].name);
}

/* ---- rows ---- */

/* The path of the second report's row in words of the first. */
static const char *path_in_before(struct tare_diff *d, const struct tare_diff_item *item)
{
	const struct tare_diff_process *p = item->process < 0 ? NULL : &d->after.processes[item->process];
	const char *rest = p ? item->path + strlen(p->path) : NULL;
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

	if (!p)
		return item->elsewhere ? item->elsewhere : item->path;
	if (p->twin >= 0) {
		tare_str_addf(&path, "%s%s", d->before.processes[p->twin].path, rest);
	} else {
		/* Its pid may be that of another program in the first report. */
		for (size_t i = 0; i < d->before.process_nr; i++)
			if (!strcmp(d->before.processes[i].path, p->path))
				tare_str_add(&path, "after:");
		tare_str_add(&path, item->path);
	}
	return tare_arena_strdup(&d->arena, tare_str_text(&path));
}

static size_t parent_len(const char *path)
{
	const char *end = strrchr(path, '/');

	return end ? (size_t)(end - path) : 0;
}

static struct tare_diff_row *row_at(struct tare_diff *d, struct tare_strmap *map, int place, const char *path,
                                    bool is_tree)
{
	bool is_new = false;
	uint64_t *slot = tare_diff_slot(map, place, path, strlen(path), &is_new), *up;
	size_t len = is_tree ? parent_len(path) : 0;
	struct tare_diff_row *row;

	if (!is_new)
		return &d->rows[*slot];
	*slot = d->row_nr;
	row = &TARE_APPEND(d->rows, d->row_nr, d->row_cap);
	*row = (struct tare_diff_row){ .place = place, .path = path, .parent = -1, .is_leaf = true };
	up = len ? tare_diff_slot(map, place, path, len, NULL) : NULL;
	if (up) {
		row->parent = (int)*up;
		row->depth = d->rows[*up].depth + 1;
		d->rows[*up].is_leaf = false;
	}
	return row;
}

/* The labels, the account and the process of a row are those of the first report that has the row. */
static void name(struct tare_diff_row *row, const struct tare_diff_side *side, const struct tare_diff_item *item)
{
	if (row->label)
		return;
	row->label = item->label;
	row->short_label = item->short_label;
	row->account = item->account;
	row->call = item->call;
	row->process = item->process < 0 ? NULL : side->processes[item->process].name;
}

static void add_before(struct tare_diff *d, struct tare_strmap *map, const struct tare_diff_item *item)
{
	struct tare_diff_row *row = row_at(d, map, item->place, item->path, d->by < 0);

	name(row, &d->before, item);
	row->is_before = true;
	row->before = tare_sat_add(row->before, item->bytes);
	row->before_count = tare_sat_addu(row->before_count, item->count);
}

static void add_after(struct tare_diff *d, struct tare_strmap *map, const int *places,
                      const struct tare_diff_item *item)
{
	struct tare_diff_row *row = row_at(d, map, places[item->place], path_in_before(d, item), d->by < 0);

	name(row, &d->after, item);
	row->after_path = item->path;
	row->is_after = true;
	row->after = tare_sat_add(row->after, item->bytes);
	row->after_count = tare_sat_addu(row->after_count, item->count);
}

/*
 * One report may tell apart what the other has as one number, as a pool is told apart once its tensors are known. What of a row no row
 * below it has is a leaf of its own, so that leaves sum up on both sides.
 */
static void add_rest(struct tare_diff *d, struct tare_strmap *map)
{
	size_t count = d->row_nr;
	TARE_FREED_HERE int64_t *before = tare_xcalloc(count + 1, sizeof(*before));
	TARE_FREED_HERE int64_t *after = tare_xcalloc(count + 1, sizeof(*after));

	for (size_t i = 0; i < count; i++) {
		const struct tare_diff_row *row = &d->rows[i];

		if (row->parent < 0)
			continue;
		before[row->parent] = tare_sat_add(before[row->parent], row->before);
		after[row->parent] = tare_sat_add(after[row->parent], row->after);
	}
	for (size_t i = 0; i < count; i++) {
		struct tare_diff_row up = d->rows[i], *row;
		struct tare_str path = { 0 };

		if (up.is_leaf || (up.before == before[i] && up.after == after[i]))
			continue;
		tare_str_addf(&path, "%s/rest", up.path);
		row = row_at(d, map, up.place, tare_arena_strdup(&d->arena, tare_str_text(&path)), true);
		tare_str_free(&path);
		row->label = row->short_label = "not told apart";
		row->account = up.account;
		row->before = tare_sat_sub(up.before, before[i]);
		row->after = tare_sat_sub(up.after, after[i]);
		row->is_before = row->before != 0;
		row->is_after = row->after != 0;
	}
}

/* What is used where a counter says it, else what the leaves sum to. */
static void sum_up(struct tare_diff *d, const int *places)
{
	for (size_t i = 0; i < d->row_nr; i++) {
		struct tare_diff_total *t = &d->totals[d->rows[i].place];

		if (!d->rows[i].is_leaf)
			continue;
		t->before = tare_sat_add(t->before, d->rows[i].before);
		t->after = tare_sat_add(t->after, d->rows[i].after);
	}
	for (size_t i = 0; i < d->before.place_nr; i++)
		if (d->before.places[i].is_counted)
			d->totals[i].before = d->before.places[i].used;
	for (size_t i = 0; i < d->after.place_nr; i++)
		if (d->after.places[i].is_counted)
			d->totals[places[i]].after = d->after.places[i].used;
}

/* What is still there counts, and not how it came to that. */
TARE_COMPARATOR(by_what_stays, struct tare_diff_row,
                TARE_RISING(place) TARE_FALLING(after) TARE_FALLING(before) TARE_ALPHABETIC(path))

TARE_COMPARATOR(by_change, struct tare_diff_row,
                TARE_FALLING_BY(tare_sat_abs(tare_sat_sub(it->after, it->before))) TARE_RISING(place)
                    TARE_ALPHABETIC(path))

/* In order of the change, or of what stays; `parent` goes with the row. */
static void sort(struct tare_diff *d)
{
	TARE_FREED_HERE int *new_place = tare_xcalloc(d->row_nr + 1, sizeof(*new_place));

	for (size_t i = 0; i < d->row_nr; i++)
		d->rows[i].number = (int)i;
	if (d->row_nr)
		TARE_SORT(d->rows, d->row_nr, d->by == TARE_BY_RESIDUE ? by_what_stays : by_change);
	for (size_t i = 0; i < d->row_nr; i++)
		new_place[d->rows[i].number] = (int)i;
	for (size_t i = 0; i < d->row_nr; i++)
		if (d->rows[i].parent >= 0)
			d->rows[i].parent = new_place[d->rows[i].parent];
}

void tare_diff_build(struct tare_diff *d)
{
	TARE_FREED_BY(tare_strmap_free) struct tare_strmap map = { 0 };
	int *places;

	tare_diff_pair_processes(&d->before, &d->after);
	places = tare_diff_pair_places(d);
	tare_diff_pair_lines(d, places);
	for (size_t i = 0; i < d->before.item_nr; i++)
		add_before(d, &map, &d->before.items[i]);
	for (size_t i = 0; i < d->after.item_nr; i++)
		add_after(d, &map, places, &d->after.items[i]);
	if (d->by < 0)
		add_rest(d, &map);
	if (!tare_diff_is_of_changes(d->by)) {
		sum_up(d, places);
		sort(d);
	}
	free(places);
}
