/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where memory of cuMemAlloc comes to lie, as measured on an H200 (docs/measurements/simulated.md): addresses come in regions of
 * whole 32 MiB, each below the one before; an allocation goes into the first hole, from low addresses on, that has room for it,
 * and only where none has is there another region.
 * It matters: where two blocks of PyTorch's cache fit equally well, it takes the one of the lower address.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim.h"

#define MIB    (UINT64_C(1) << 20)
#define REGION (32 * MIB)
/* What the driver leaves of two regions of its own when a process begins. */
#define FIRST_FREE  (30 * MIB)
#define SECOND_FREE (8 * MIB)
/* With the first code of kernels the driver takes a page, and then a region, of which this is left: as in six programs on PyTorch. */
#define CODE_BESIDE (2 * MIB)
#define CODE_REGION (448 * MIB)
#define CODE_FREE   (26 * MIB)
#define CODE_END    (434 * MIB)

struct span {
	uint64_t start, size;
};
/* In order of address. */
struct spans {
	struct span *rows;
	size_t count, room;
};

static struct spans regions, holes; /* a hole lies in one region */

static bool spans_insert(struct spans *spans, size_t at, struct span span)
{
	if (spans->count == spans->room) {
		size_t room = spans->room ? 2 * spans->room : 64;
		struct span *more = realloc(spans->rows, room * sizeof(*more));

		if (!more)
			return false;
		spans->rows = more;
		spans->room = room;
	}
	memmove(spans->rows + at + 1, spans->rows + at, (spans->count - at) * sizeof(span));
	spans->rows[at] = span;
	spans->count++;
	return true;
}

static void spans_remove(struct spans *spans, size_t at)
{
	spans->count--;
	memmove(spans->rows + at, spans->rows + at + 1, (spans->count - at) * sizeof(*spans->rows));
}

/* How many begin before an address. */
static size_t spans_before(const struct spans *spans, uint64_t address)
{
	size_t low = 0, high = spans->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans->rows[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How often a place below all regions is asked for, each time further down, before any other place will do. */
#define TRIES 16

static void *reserve_near(uint64_t wanted, uint64_t size)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *found = mmap((void *)(uintptr_t)wanted, size, PROT_NONE, flags, -1, 0);

	return found == MAP_FAILED ? NULL : found;
}

/* Whole regions of addresses wherever there are; 0: there are none. */
static uint64_t reserve_anywhere(uint64_t size)
{
	void *found = reserve_near(0, size + REGION);
	uint64_t at = (uint64_t)(uintptr_t)found, aligned = sim_round_up(at, REGION);

	if (!found)
		return 0;
	if (aligned > at)
		munmap(found, aligned - at);
	if (at + REGION > aligned)
		munmap((void *)(uintptr_t)(aligned + size), at + REGION - aligned);
	return aligned;
}

/* Address space of nobody, below all that there is if possible; 0: there is none. */
static uint64_t reserve(uint64_t size)
{
	uint64_t wanted = regions.count ? regions.rows[0].start : 0, down = size;
	int i;

	/* Something else may lie there: further down then, in steps that grow. */
	for (i = 0; i < TRIES && wanted > down; i++, down += size + (REGION << i)) {
		void *found = reserve_near(wanted - down, size);

		if ((uintptr_t)found == wanted - down)
			return wanted - down;
		if (found)
			munmap(found, size);
	}
	return reserve_anywhere(size);
}

/* A region, and which part of it is free. */
static bool region_add(uint64_t start, uint64_t size, uint64_t free, uint64_t end)
{
	size_t at = spans_before(&regions, start);

	if (!spans_insert(&regions, at, (struct span){ start, size }))
		return false;
	if (spans_insert(&holes, spans_before(&holes, start), (struct span){ start + free, end - free }))
		return true;
	spans_remove(&regions, at);
	return false;
}

static bool region_new(uint64_t size)
{
	uint64_t start = reserve(size);

	if (!start || region_add(start, size, 0, size))
		return start != 0;
	munmap((void *)(uintptr_t)start, size);
	return false;
}

static void begin(void)
{
	uint64_t start;

	if (regions.count || !(start = reserve(2 * REGION)))
		return;
	region_add(start, REGION, FIRST_FREE, REGION);
	region_add(start + REGION, REGION, SECOND_FREE, REGION);
}

/* Of the first hole that has room; 0: none has. */
static uint64_t take_from_hole(uint64_t size)
{
	size_t i;

	for (i = 0; i < holes.count; i++) {
		struct span *hole = &holes.rows[i];
		uint64_t start = hole->start;

		if (hole->size < size)
			continue;
		hole->start += size;
		hole->size -= size;
		if (!hole->size)
			spans_remove(&holes, i);
		return start;
	}
	return 0;
}

void sim_place_code(void)
{
	static bool has_code;
	uint64_t start;

	if (has_code)
		return;
	has_code = true;
	begin();
	take_from_hole(CODE_BESIDE);
	start = reserve(CODE_REGION);
	if (start && !region_add(start, CODE_REGION, CODE_FREE, CODE_END))
		munmap((void *)(uintptr_t)start, CODE_REGION);
}

uint64_t sim_place_take(uint64_t size)
{
	uint64_t start, region = sim_round_up(size, REGION);

	if (!size || region < size)
		return 0;
	begin();
	start = take_from_hole(size);
	if (!start && region_new(region))
		start = take_from_hole(size);
	return start;
}

/* A region without an allocation goes, but of those that the driver has parts of, for these are never free as a whole. */
static void give_region(size_t hole)
{
	struct span span = holes.rows[hole];
	size_t region = spans_before(&regions, span.start + 1) - 1;

	if (regions.rows[region].start != span.start || regions.rows[region].size != span.size)
		return;
	spans_remove(&holes, hole);
	spans_remove(&regions, region);
	munmap((void *)(uintptr_t)span.start, span.size);
}

void sim_place_give(uint64_t start, uint64_t size)
{
	size_t at = spans_before(&holes, start);
	uint64_t region = regions.rows[spans_before(&regions, start + 1) - 1].start;
	uint64_t end = region + regions.rows[spans_before(&regions, start + 1) - 1].size;
	struct span *before = at ? &holes.rows[at - 1] : NULL;
	struct span *behind = at < holes.count ? &holes.rows[at] : NULL;

	/* Nobody's again, and reserved. */
	mmap((void *)(uintptr_t)start, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	if (before && before->start >= region && before->start + before->size == start) {
		before->size += size;
		if (behind && behind->start < end && before->start + before->size == behind->start) {
			before->size += behind->size;
			spans_remove(&holes, at);
		}
		at--;
	} else if (behind && behind->start < end && start + size == behind->start) {
		behind->start = start;
		behind->size += size;
	} else if (!spans_insert(&holes, at, (struct span){ start, size })) {
		return;
	}
	give_region(at);
}
