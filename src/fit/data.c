/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps, parts and scales the cells that a law is fitted to. */
#include "fit/data.h"

#include "base/xalloc.h"
#include "fit/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to CELLS_FEW cells have one scale; from CELLS_MANY cells on each cell has its own. */
#define CELLS_FEW  8
#define CELLS_MANY 16

void tare_fit_data_scale(struct tare_fit_data *d, struct tare_arena *arena)
{
	TARE_FREED_HERE double *sizes = tare_xcalloc(d->row_count + 1, sizeof(*sizes));
	double share = (CELLS_MANY - (double)d->row_count) / (CELLS_MANY - CELLS_FEW), most = 0;

	for (size_t i = 0; i < d->row_count; i++) {
		sizes[i] = fabs(d->y[i]);
		most = sizes[i] > most ? sizes[i] : most;
	}
	d->least_scale = tare_num_quantile(sizes, d->row_count, 0.5) / 20;
	share = share > 1 ? 1 : share;
	if (d->least_scale < share * most)
		d->least_scale = share * most;
	if (!(d->least_scale > 0))
		d->least_scale = most > 0 ? most : 1;
	d->scale = tare_arena_alloc(arena, (d->row_count + 1) * sizeof(*d->scale));
	for (size_t i = 0; i < d->row_count; i++) {
		double size = fabs(d->y[i]);

		d->scale[i] = size > d->least_scale ? size : d->least_scale;
	}
}

void tare_fit_data_subset(const struct tare_fit_data *d, const bool *keep, struct tare_arena *arena,
                          struct tare_fit_data *out)
{
	size_t n = 0, p = d->param_count;

	for (size_t i = 0; i < d->row_count; i++)
		n += keep[i];
	*out = *d;
	out->row_count = n;
	out->x = tare_arena_alloc(arena, (n * p + 1) * sizeof(double));
	out->y = tare_arena_alloc(arena, (n + 1) * sizeof(double));
	out->weight = tare_arena_alloc(arena, (n + 1) * sizeof(double));
	out->scale = tare_arena_alloc(arena, (n + 1) * sizeof(double));
	n = 0;
	for (size_t i = 0; i < d->row_count; i++) {
		if (!keep[i])
			continue;
		memcpy(out->x + n * p, tare_fit_x(d, i), p * sizeof(double));
		out->y[n] = d->y[i];
		out->weight[n] = d->weight[i];
		out->scale[n++] = d->scale[i];
	}
}

static uint64_t hash(const struct tare_fit_data *d, uint32_t mask, size_t row)
{
	uint64_t h = 14695981039346656037ull;

	for (size_t p = 0; p < d->param_count; p++)
		if (mask >> p & 1) {
			uint64_t bits;

			memcpy(&bits, &tare_fit_x(d, row)[p], sizeof(bits));
			h = (h ^ bits) * 0x9e3779b97f4a7c15ull;
			h ^= h >> 29;
		}
	return h ? h : 1;
}

size_t tare_fit_data_group(const struct tare_fit_data *d, uint32_t mask, const size_t *rows, size_t count,
                           size_t *group)
{
	size_t room = 16, groups = 0;
	struct slot {
		uint64_t key;
		size_t group;
	} * slots;

	for (size_t i = 0; !mask && i < count; i++)
		group[i] = i;
	if (!mask)
		return count;
	while (room < 2 * count)
		room *= 2;
	slots = tare_xcalloc(room, sizeof(*slots));
	for (size_t i = 0; i < count; i++) {
		uint64_t key = hash(d, mask, rows[i]);
		size_t at = key & (room - 1);

		while (slots[at].key && slots[at].key != key)
			at = (at + 1) & (room - 1);
		if (!slots[at].key)
			slots[at] = (struct slot){ key, groups++ };
		group[i] = slots[at].group;
	}
	free(slots);
	return groups;
}

double tare_fit_data_step(const struct tare_fit_data *d)
{
	static const double steps[] = { 20971520, 2097152, 65536, 4096, 512 };

	for (size_t s = 0; s < sizeof(steps) / sizeof(*steps); s++) {
		size_t i;

		for (i = 0; i < d->row_count; i++) {
			double times = d->y[i] / steps[s];

			if (times < 0 || times > 1e15 || times != (double)(uint64_t)times)
				break;
		}
		if (d->row_count >= 3 && i == d->row_count)
			return steps[s];
	}
	return 0;
}
