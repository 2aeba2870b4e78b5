/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A history in which live tensors are split by category, made from a history without the split: each point keeps its
 * sums, so a picture by category and a picture by account agree at every moment.
 */
#include "ledger/history/history.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* Bands in the making: those of the earlier history, and where its tensors were, what of them is of no category, and the categories. */
struct cut {
	struct tare_arena *memory;
	const struct tare_memory_history_panel *from;
	const struct tare_kinds *kinds;
	struct tare_memory_history_band *bands;
	int *of; /* of each: the band of `from`, -1: it is cut from tensors */
	int band_nr;
	int rest;       /* the band of what is of no category; the categories follow. -1: there are no tensors */
	int64_t *cells; /* of a point */
};

static bool is_tensors(const struct tare_memory_history_band *b)
{
	return !strcmp(b->key, "tensors");
}

static void add_band(struct cut *c, const char *key, const char *label, int of)
{
	if (of >= 0)
		c->bands[c->band_nr] = c->from->bands[of];
	else
		c->bands[c->band_nr] = (struct tare_memory_history_band){ .key = key, .label = label };
	c->of[c->band_nr++] = of;
}

static void add_categories(struct cut *c)
{
	c->rest = c->band_nr;
	add_band(c, "tensors", "live tensors", -1);
	for (int i = 0; i < TARE_CATEGORY_NR; i++) {
		const char *name = tare_category_name((enum tare_category)i);

		add_band(c, name, name, -1);
	}
}

static void list_bands(struct cut *c)
{
	size_t room = (size_t)c->from->band_nr + 1 + TARE_CATEGORY_NR;

	c->bands = tare_arena_alloc(c->memory, room * sizeof(*c->bands));
	c->of = tare_xcalloc(room, sizeof(*c->of));
	c->cells = tare_xcalloc(room, sizeof(*c->cells));
	c->rest = -1;
	for (int i = 0; i < c->from->band_nr; i++) {
		if (!is_tensors(&c->from->bands[i]))
			add_band(c, NULL, NULL, i);
		else if (c->rest < 0)
			add_categories(c);
	}
}

/* Blocks of which more is known than there is were told wrongly: then all is of none. */
static void cut_tensors(struct cut *c, size_t point)
{
	int64_t sum = 0, *rest = &c->cells[c->rest];

	for (int i = 0; i < TARE_CATEGORY_NR; i++)
		sum += tare_kinds_at(c->kinds, (enum tare_category)i, point);
	if (sum > *rest)
		return;
	*rest -= sum;
	for (int i = 0; i < TARE_CATEGORY_NR; i++)
		rest[1 + i] = tare_kinds_at(c->kinds, (enum tare_category)i, point);
}

static struct tare_memory_history_point cut_point(struct cut *c, const struct tare_memory_history_point *from,
                                                  size_t point)
{
	struct tare_memory_history_point out = *from;
	size_t size = (size_t)c->band_nr * sizeof(*c->cells);
	int64_t *bytes = tare_arena_alloc(c->memory, size + 1);

	for (int i = 0; i < c->band_nr; i++)
		c->cells[i] = c->of[i] < 0 ? 0 : from->bytes[c->of[i]];
	for (int i = 0; c->rest >= 0 && i < c->from->band_nr; i++)
		if (is_tensors(&c->from->bands[i]))
			c->cells[c->rest] += from->bytes[i];
	if (c->rest >= 0 && c->kinds)
		cut_tensors(c, point);
	memcpy(bytes, c->cells, size);
	out.bytes = bytes;
	return out;
}

static bool is_empty(const struct tare_memory_history_panel *p, int band)
{
	for (size_t i = 0; i < p->point_nr; i++)
		if (p->points[i].bytes[band])
			return false;
	return !p->has_peak || !p->peak.bytes[band];
}

static void leave_out(struct tare_memory_history_point *point, const bool *empty, int nr)
{
	int64_t *bytes = (int64_t *)(uintptr_t)point->bytes;
	int kept = 0;

	for (int i = 0; i < nr; i++)
		if (!empty[i])
			bytes[kept++] = bytes[i];
}

static void leave_out_empty(struct tare_memory_history_panel *p)
{
	TARE_FREED_HERE bool *empty = tare_xcalloc((size_t)p->band_nr + 1, sizeof(*empty));
	int kept = 0;

	for (int i = 0; i < p->band_nr; i++)
		empty[i] = is_empty(p, i);
	for (size_t i = 0; i < p->point_nr; i++)
		leave_out(&p->points[i], empty, p->band_nr);
	if (p->has_peak)
		leave_out(&p->peak, empty, p->band_nr);
	for (int i = 0; i < p->band_nr; i++)
		if (!empty[i])
			p->bands[kept++] = p->bands[i];
	p->band_nr = kept;
}

static void cut_panel(struct tare_arena *memory, const struct tare_memory_history_panel *from,
                      const struct tare_kinds *kinds, struct tare_memory_history_panel *out)
{
	struct cut c = { .memory = memory, .from = from, .kinds = kinds };
	size_t size = from->bound_nr * sizeof(*from->bounds);

	list_bands(&c);
	*out = *from;
	out->bands = c.bands;
	out->band_nr = c.band_nr;
	out->points = tare_arena_alloc(memory, from->point_nr * sizeof(*out->points) + 1);
	for (size_t i = 0; i < from->point_nr; i++)
		out->points[i] = cut_point(&c, &from->points[i], i);
	if (from->has_peak)
		out->peak = cut_point(&c, &from->peak, from->point_nr);
	leave_out_empty(out);
	out->bounds = tare_arena_alloc(memory, size + 1);
	if (size)
		memcpy(out->bounds, from->bounds, size);
	free(c.of);
	free(c.cells);
}

/* NULL: nothing is known of blocks there. */
static const struct tare_kinds *kinds_of(const struct tare_fold *f, const struct tare_memory_history_panel *panel)
{
	if (f->host.kinds.panel == panel)
		return &f->host.kinds;
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i] && f->devices[i]->kinds.panel == panel)
			return &f->devices[i]->kinds;
	return NULL;
}

void tare_history_by_category(const struct tare_history_part *p, const struct tare_fold *f,
                              struct tare_memory_history *out)
{
	const struct tare_memory_history *from = f->history_by_category;
	struct tare_arena *memory = tare_xcalloc(1, sizeof(*memory));

	*out = *from;
	out->memory = memory;
	out->panels = tare_arena_alloc(memory, (size_t)from->panel_nr * sizeof(*out->panels) + 1);
	for (int i = 0; i < from->panel_nr; i++)
		cut_panel(memory, &from->panels[i], kinds_of(f, &from->panels[i]), &out->panels[i]);
	out->span_nr = 0;
	tare_history_spans(p, out);
}
