/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pinned and registered memory takes of the device: the tables that map its pages. A table of 4 KiB is for 2 MiB of addresses, and
 * goes with the last range that has some of them; tables lie in pages of 2 MiB, of which the context comes with one that has room
 * for 400.
 *
 * Evidence: tests/gpu/mapping.sh on an H100 80GB HBM3, driver 580.159.04, 2026-11-28. Of 64 MiB each the 13th, 29th and 45th take 2 MiB; 512 MiB
 * eight times 0, 2, 2, 4, 4, 6, 6, 8, and freed in that order 8, 8, 8, 8, 6, 6, 4, 0, for neighbours share the table in which they meet; in
 * the other order at once. 1 GiB with any flag 2, 4 GiB 8, 2.25 GiB registered 4 (docs/measurements/simulated.md). One GPU: with more of
 * them it is assumed that only that of the caller's context maps it. Where host and GPU share a memory nothing is counted, as before.
 */
#include <search.h>
#include <stdlib.h>

#include "sim.h"

enum {
	TABLE_ROOM = 400,          /* in what a context comes with */
	TABLES = (2 << 20) / 4096, /* in a page of them */
	TABLE_SHIFT = 21,
};
#define PAGE_BYTES (UINT64_C(2) << 20)

struct table {
	uint64_t at;
	unsigned ranges;
	size_t page;
};

static int compare(const void *a, const void *b)
{
	uint64_t left = ((const struct table *)a)->at, right = ((const struct table *)b)->at;

	return left < right ? -1 : left > right;
}

/* The first page with room; page 0 is the context's own. */
static CUresult place(struct sim_context *context, size_t *page)
{
	struct sim_host_map *map = &context->host_map;
	size_t empty = 0;
	unsigned *more;

	if (!map->pages_nr) {
		map->pages = calloc(1, sizeof(*map->pages));
		if (!map->pages)
			return CUDA_ERROR_OUT_OF_MEMORY;
		map->pages_nr = 1;
	}
	for (size_t i = map->full; i < map->pages_nr; i++)
		if (map->pages[i] < (i ? TABLES : TABLE_ROOM) && (!i || map->pages[i])) {
			map->full = i;
			map->pages[i]++;
			*page = i;
			return CUDA_SUCCESS;
		} else if (i && !map->pages[i] && !empty) {
			empty = i;
		}
	if (!empty) {
		more = realloc(map->pages, (map->pages_nr + 1) * sizeof(*more));
		if (!more)
			return CUDA_ERROR_OUT_OF_MEMORY;
		map->pages = more;
		empty = map->pages_nr++;
		map->pages[empty] = 0;
	}
	if (sim_context_take(context, PAGE_BYTES) != CUDA_SUCCESS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	map->pages[empty] = 1;
	*page = empty;
	return CUDA_SUCCESS;
}

static CUresult map_one(struct sim_context *context, uint64_t at)
{
	struct table *table = malloc(sizeof(*table)), **found;

	if (!table)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*table = (struct table){ .at = at };
	found = tsearch(table, &context->host_map.tables, compare);
	if (found && *found == table && place(context, &table->page) != CUDA_SUCCESS) {
		tdelete(table, &context->host_map.tables, compare);
		found = NULL;
	}
	if (!found || *found != table)
		free(table);
	if (!found)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*found)->ranges++;
	return CUDA_SUCCESS;
}

static void unmap_one(struct sim_context *context, uint64_t at)
{
	struct sim_host_map *map = &context->host_map;
	struct table key = { .at = at }, *table, **found = tfind(&key, &map->tables, compare);

	if (!found || --(*found)->ranges)
		return;
	table = *found;
	tdelete(table, &map->tables, compare);
	if (!--map->pages[table->page] && table->page)
		sim_context_give(context, PAGE_BYTES);
	if (table->page < map->full)
		map->full = table->page;
	free(table);
}

CUresult sim_host_map(struct sim_context *context, uint64_t start, uint64_t size)
{
	uint64_t first = start >> TABLE_SHIFT, last = (start + size - 1) >> TABLE_SHIFT;

	if (sim.profile.integrated)
		return CUDA_SUCCESS;
	for (uint64_t at = first; at <= last; at++)
		if (map_one(context, at) != CUDA_SUCCESS) {
			while (at-- > first)
				unmap_one(context, at);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
	return CUDA_SUCCESS;
}

void sim_host_unmap(struct sim_context *context, uint64_t start, uint64_t size)
{
	uint64_t first = start >> TABLE_SHIFT, last = (start + size - 1) >> TABLE_SHIFT;

	if (sim.profile.integrated)
		return;
	for (uint64_t at = first; at <= last; at++)
		unmap_one(context, at);
}

/* The context is at its end, and with it all that was mapped. */
void sim_host_map_end(struct sim_context *context)
{
	free(context->host_map.pages);
	context->host_map = (struct sim_host_map){ 0 };
}
