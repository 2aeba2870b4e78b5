/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap over time by line. This is a second pass: the moments that an earlier history kept are given, and at each of them the buckets of
 * the heap are summed up by the place that asked. What of a moment is in no line that is large enough for a picture stays together.
 */
#include "ledger/history/history.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/xalloc.h"
#include "ledger/core/fold.h"

#include <stdlib.h>
#include <string.h>

enum { SHARE = 500 /* of the most in use: a place that has less than that is not told apart */ };

/* What a place had at a point; the point behind the last is the peak. */
struct amount {
	size_t point;
	uint32_t site;
	int64_t bytes;
};

/* Of a device that stands for the heap. */
struct tare_heap_lines {
	struct tare_memory_history_panel *panel;
	size_t next; /* the first point that is not taken yet */
	int64_t least;
	struct amount *items;
	size_t nr, cap;
};

/* The place of a panel's lines, or NULL: the device is no heap, or nobody asked. */
static struct tare_heap_lines *lines_of(const struct tare_history_part *p, const struct tare_device_fold *d)
{
	return d->index < p->heap_lines_nr && p->heap_lines[d->index].panel ? &p->heap_lines[d->index] : NULL;
}

void tare_heap_lines_begin(struct tare_history_part *p, const struct tare_fold *f)
{
	struct tare_memory_history *of = f->lines_of_heap;

	if (!of)
		return;
	p->heap_lines_nr = f->device_nr;
	p->heap_lines = tare_xcalloc((size_t)f->device_nr + 1, sizeof(*p->heap_lines));
	for (int i = 0; i < of->panel_nr; i++) {
		struct tare_memory_history_panel *panel = &of->panels[i];

		for (int d = 0; d < f->device_nr; d++) {
			struct tare_heap_lines *l = &p->heap_lines[d];

			if (!f->devices[d] || !(f->devices[d]->device->flags & TARE_DEVICE_HEAP) ||
			    panel->device != tare_fold_device_place(f, f->devices[d]))
				continue;
			l->panel = panel;
			for (size_t k = 0; k < panel->point_nr; k++)
				if (l->least < panel->points[k].used / SHARE)
					l->least = panel->points[k].used / SHARE;
		}
	}
}

int64_t tare_heap_lines_wait(const struct tare_history_part *p, const struct tare_device_fold *d)
{
	const struct tare_heap_lines *l = lines_of(p, d);

	return l && l->next < l->panel->point_nr ? l->panel->points[l->next].t_ns : INT64_MAX;
}

static bool is_heap(const struct tare_bucket *b)
{
	return b->account == TARE_ACCOUNT_HEAP || b->account == TARE_ACCOUNT_MAPPED;
}

/* `m`: a moment that is kept, or TARE_MOMENT_NR: now. */
static void take(struct tare_heap_lines *l, const struct tare_fold *f, const struct tare_device_fold *d, size_t point,
                 enum tare_moment m)
{
	TARE_FREED_HERE int64_t *sums = tare_xcalloc(f->site_nr + 1, sizeof(*sums));

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &f->buckets[i];

		if (is_heap(b))
			sums[b->site] += m == TARE_MOMENT_NR ? b->now.bytes : tare_fold_amount(f, b, m)->bytes;
	}
	for (uint32_t site = 1; site < f->site_nr; site++)
		if (sums[site] > l->least)
			TARE_APPEND(l->items, l->nr, l->cap) = (struct amount){ point, site, sums[site] };
}

void tare_heap_lines_advance(struct tare_history_part *p, const struct tare_fold *f, const struct tare_device_fold *d,
                             int64_t t)
{
	struct tare_heap_lines *l = lines_of(p, d);

	for (; l && l->next < l->panel->point_nr && l->panel->points[l->next].t_ns < t; l->next++)
		take(l, f, d, l->next, TARE_MOMENT_NR);
}

/* ---- when all is known ---- */

/* A line of the picture in the making: sites that are called the same are one. */
struct line {
	const char *label;
	int64_t most;
	int band;
};

struct lines {
	struct tare_map of_site; /* → 1 + its place … */
	struct tare_strmap of_label;
	struct line *items;
	size_t nr, cap;
};

static size_t place_of(struct lines *lines, const struct tare_fold *f, uint32_t site, struct tare_arena *memory)
{
	uint64_t *known = tare_map_put(&lines->of_site, site, NULL), *same;
	struct tare_ledger_line line = { 0 };
	bool is_new;

	if (*known)
		return (size_t)*known - 1;
	tare_fold_line_name(f, site, TARE_ACCOUNT_NONE, memory, &line);
	same = tare_strmap_put(&lines->of_label, line.short_label, &is_new);
	if (is_new) {
		*same = lines->nr;
		TARE_APPEND(lines->items, lines->nr, lines->cap) = (struct line){ .label = line.short_label };
	}
	*known = *same + 1;
	return (size_t)*same;
}

TARE_COMPARATOR_OF_POINTERS(by_most, struct line, TARE_FALLING(most) TARE_ALPHABETIC(label))

/* The band of what is in no line, at the bottom, then the lines, the largest first. */
static void order(struct lines *lines, struct tare_memory_history_panel *panel, struct tare_arena *memory)
{
	struct line **sorted = tare_xcalloc(lines->nr + 1, sizeof(*sorted));

	for (size_t i = 0; i < lines->nr; i++)
		sorted[i] = &lines->items[i];
	TARE_SORT(sorted, lines->nr, by_most);
	panel->bands = tare_arena_alloc(memory, (lines->nr + 1) * sizeof(*panel->bands));
	panel->bands[panel->band_nr++] =
		(struct tare_memory_history_band){ .key = TARE_HISTORY_SMALL, .label = "smaller ones" };
	for (size_t i = 0; i < lines->nr; i++) {
		sorted[i]->band = panel->band_nr;
		panel->bands[panel->band_nr++] =
			(struct tare_memory_history_band){ .key = sorted[i]->label, .label = sorted[i]->label };
	}
	free(sorted);
}

/* A state that did not last may have had less than what is there at the end of its instant: then no line is told apart. */
static void close_point(struct tare_memory_history_point *point, int64_t *bytes, int band_nr)
{
	int64_t rest = point->used;

	for (int i = 1; i < band_nr; i++)
		rest -= bytes[i];
	if (rest < 0) {
		memset(bytes, 0, (size_t)band_nr * sizeof(*bytes));
		rest = point->used;
	}
	bytes[0] = rest;
	point->bytes = bytes;
}

static void close_panel(struct tare_heap_lines *l, const struct tare_fold *f, struct tare_arena *memory)
{
	struct tare_memory_history_panel *panel = l->panel;
	struct lines lines = { 0 };
	size_t width;
	int64_t *cells, *sums;

	for (size_t i = 0; i < l->nr; i++)
		place_of(&lines, f, l->items[i].site, memory);
	sums = tare_xcalloc((panel->point_nr + 1) * (lines.nr + 1), sizeof(*sums));
	for (size_t i = 0; i < l->nr; i++) {
		size_t line = place_of(&lines, f, l->items[i].site, memory);
		int64_t *sum = &sums[l->items[i].point * lines.nr + line];

		*sum += l->items[i].bytes;
		if (lines.items[line].most < *sum)
			lines.items[line].most = *sum;
	}
	panel->band_nr = 0;
	order(&lines, panel, memory);
	width = (size_t)panel->band_nr;
	cells = tare_arena_alloc(memory, (panel->point_nr + 1) * width * sizeof(*cells));
	for (size_t i = 0; i <= panel->point_nr; i++) {
		for (size_t k = 0; k < lines.nr; k++)
			cells[i * width + (size_t)lines.items[k].band] = sums[i * lines.nr + k];
		close_point(i < panel->point_nr ? &panel->points[i] : &panel->peak, cells + i * width, panel->band_nr);
	}
	tare_map_free(&lines.of_site);
	tare_strmap_free(&lines.of_label);
	free(lines.items);
	free(sums);
}

void tare_heap_lines_close(struct tare_history_part *p, const struct tare_fold *f)
{
	for (int i = 0; i < p->heap_lines_nr; i++) {
		struct tare_heap_lines *l = &p->heap_lines[i];

		if (!l->panel)
			continue;
		tare_heap_lines_advance(p, f, f->devices[i], INT64_MAX);
		if (l->panel->has_peak)
			take(l, f, f->devices[i], l->panel->point_nr, TARE_MOMENT_PEAK);
		close_panel(l, f, f->lines_of_heap->memory);
	}
}

void tare_heap_lines_free(struct tare_history_part *p)
{
	for (int i = 0; i < p->heap_lines_nr; i++)
		free(p->heap_lines[i].items);
	free(p->heap_lines);
	p->heap_lines = NULL;
	p->heap_lines_nr = 0;
}
