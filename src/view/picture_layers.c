/* SPDX-License-Identifier: Apache-2.0 */
/* Which bands a reader can tell apart: the largest; the small ones become one. */
#include "view/picture_private.h"

#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { LAYERS_MAX = 9, SHARE = 150 }; /* smaller than 1/SHARE of the most: one of the small ones */

/* Colours that an account has wherever nobody else of the same panel has it already. */
static const struct {
	const char *key;
	int slot;
} preferred[] = {
	{ "tensors", 0 },    { "cached", 0 },  { "partly", 1 },       { "held", 7 },      { "allocations", 5 },
	{ "context", 6 },    { "code", 2 },    { "local", 3 },        { "vmm", 4 },       { "pools", 1 },
	{ "idle", 1 },       { "managed", 7 }, { "parameter", 6 },    { "gradient", 2 },  { "optimizer state", 7 },
	{ "activation", 0 }, { "input", 4 },   { "temporary", 3 },    { "workspace", 1 }, { "buffer/state", 5 },
	{ "trial", 3 },      { "execs", 4 },   { "preallocated", 6 }, { "streams", 5 },
};

static int slot_of(const struct tare_layer *l)
{
	for (size_t i = 0; i < sizeof(preferred) / sizeof(preferred[0]); i++)
		if (!strcmp(preferred[i].key, l->key))
			return preferred[i].slot;
	return 0;
}

/* Two elastic bands, or two others, never have the same colour as long as there are enough. */
static void colour(struct tare_plot *p)
{
	bool taken[2][TARE_PICTURE_SLOTS] = { 0 };

	for (int i = p->layer_nr - 1; i >= 0; i--) {
		struct tare_layer *l = &p->layers[i];
		bool *of = taken[l->is_elastic];

		if (l->member_nr > 1 || l->is_unexplained || !strcmp(l->key, "other")) {
			l->slot = TARE_PICTURE_GREY;
			continue;
		}
		l->slot = slot_of(l);
		for (int k = 0; of[l->slot] && k < TARE_PICTURE_SLOTS; k++)
			l->slot = (l->slot + 1) % TARE_PICTURE_SLOTS;
		of[l->slot] = true;
	}
}

static int64_t most_of(const struct tare_memory_history_panel *panel, int band)
{
	int64_t most = panel->has_peak ? llabs(panel->peak.bytes[band]) : 0;

	for (size_t i = 0; i < panel->point_nr; i++)
		if (most < llabs(panel->points[i].bytes[band]))
			most = llabs(panel->points[i].bytes[band]);
	return most;
}

TARE_FALLING_SCALAR_COMPARATOR(by_size, int64_t)

/* What a band must have had at some moment to be drawn on its own. */
static int64_t least_of(const struct tare_plot *p, const int64_t *most)
{
	TARE_FREED_HERE int64_t *sorted = tare_xcalloc((size_t)p->panel->band_nr + 1, sizeof(*sorted));
	int64_t least = 0, largest = 0;

	memcpy(sorted, most, (size_t)p->panel->band_nr * sizeof(*sorted));
	TARE_SORT(sorted, p->panel->band_nr, by_size);
	if (p->panel->band_nr > LAYERS_MAX)
		least = sorted[LAYERS_MAX - 2];
	for (size_t i = 0; i < p->panel->point_nr; i++)
		if (largest < p->panel->points[i].used)
			largest = p->panel->points[i].used;
	return least > largest / SHARE ? least : largest / SHARE;
}

static void add(struct tare_layer *l, int band)
{
	l->members = tare_xrealloc(l->members, (size_t)l->member_nr + 1, sizeof(*l->members));
	l->members[l->member_nr++] = band;
}

static bool is_small(const struct tare_memory_history_band *band)
{
	return !strcmp(band->key, TARE_HISTORY_SMALL);
}

void tare_layers_build(struct tare_plot *p)
{
	const struct tare_memory_history_panel *panel = p->panel;
	int64_t *most = tare_xcalloc((size_t)panel->band_nr + 1, sizeof(*most)), least;
	struct tare_layer small = { .key = TARE_HISTORY_SMALL, .label = "smaller ones" };

	for (int i = 0; i < panel->band_nr; i++)
		most[i] = most_of(panel, i);
	least = least_of(p, most);
	p->layers = tare_xcalloc((size_t)panel->band_nr + 1, sizeof(*p->layers));
	for (int i = 0; i < panel->band_nr; i++) {
		small.has_more |= is_small(&panel->bands[i]);
		if (most[i] < least || is_small(&panel->bands[i]))
			add(&small, i);
	}
	if (small.member_nr > 1) /* at the bottom, where they move nobody else */
		p->layers[p->layer_nr++] = small;
	for (int i = 0; i < panel->band_nr; i++) {
		struct tare_layer *l = &p->layers[p->layer_nr];

		if ((most[i] < least || is_small(&panel->bands[i])) && small.member_nr > 1)
			continue;
		*l = (struct tare_layer){ .key = panel->bands[i].key,
			                      .label = panel->bands[i].label,
			                      .is_elastic = panel->bands[i].elastic,
			                      .is_unexplained = panel->bands[i].is_unexplained };
		add(l, i);
		p->layer_nr++;
	}
	if (small.member_nr <= 1)
		free(small.members);
	free(most);
	colour(p);
}

void tare_layers_free(struct tare_plot *p)
{
	for (int i = 0; i < p->layer_nr; i++)
		free(p->layers[i].members);
	free(p->layers);
}

int64_t tare_layer_bytes(const struct tare_layer *l, const struct tare_memory_history_point *point)
{
	int64_t bytes = 0;

	for (int i = 0; i < l->member_nr; i++)
		bytes += point->bytes[l->members[i]];
	return bytes;
}

int64_t tare_layers_reach(const struct tare_plot *p, const struct tare_memory_history_point *point, int layers)
{
	int64_t reach = 0;

	for (int i = 0; i < layers; i++)
		reach += tare_layer_bytes(&p->layers[i], point);
	return reach < 0 ? 0 : reach > point->used ? point->used : reach;
}
