/* SPDX-License-Identifier: Apache-2.0 */
/* Maps chunks of physical memory behind ranges of addresses that share them. */
#include "graphs/arena.h"

#include "graphs/error.h"

#include <stdlib.h>
#include <string.h>

/*
 * Mapping a chunk takes about 28 µs whatever its size, and a capture that must avoid another's
 * memory avoids whole chunks: so neither small nor huge.
 */
#define CHUNK_MAX (128ull << 20)
/* Captures per reservation, each as large as the device: few reservations, no address wasted. */
#define REGION_FACTOR 8
/* A later piece begins no chunk that is more than so many times as large as what is missing. */
#define TOO_LARGE 4

static uint64_t round_up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

static CUmemAllocationProp properties(const struct tare_gpu_arena *arena)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED };

	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = arena->device;
	return prop;
}

/* ---- chunks ---- */
static size_t free_slot(struct tare_gpu_arena *arena)
{
	struct tare_arena_chunk *more;
	size_t i;

	for (i = 0; i < arena->chunks_nr; i++)
		if (!arena->chunks[i].bytes)
			return i;
	more = realloc(arena->chunks, (arena->chunks_nr + 1) * sizeof(*more));
	if (!more)
		return SIZE_MAX;
	arena->chunks = more;
	memset(&arena->chunks[arena->chunks_nr], 0, sizeof(*more));
	return arena->chunks_nr++;
}

static int make_chunk(struct tare_gpu_arena *arena, uint64_t bytes, size_t *index)
{
	CUmemAllocationProp prop = properties(arena);
	CUmemGenericAllocationHandle handle;
	size_t slot = free_slot(arena);
	int rc;

	if (slot == SIZE_MAX)
		return tare_graphs_fail(TARE_GRAPHS_HOST_MEMORY, "arena: no host memory");
	if (arena->limit && arena->bytes + bytes > arena->limit)
		return tare_graphs_fail(TARE_GRAPHS_DEVICE_MEMORY,
		                        "arena: %llu bytes more pass its limit of %llu; raise limit_bytes",
		                        (unsigned long long)bytes, (unsigned long long)arena->limit);
	rc = tare_graphs_cuda(tare_cu.cuMemCreate(&handle, bytes, &prop, 0), "arena: cuMemCreate");
	if (rc)
		return rc;
	arena->chunks[slot] = (struct tare_arena_chunk){ .handle = handle, .bytes = bytes };
	arena->bytes += bytes;
	*index = slot;
	return 0;
}

static void drop_chunk(struct tare_gpu_arena *arena, struct tare_arena_chunk *chunk)
{
	tare_cu.cuMemRelease(chunk->handle);
	arena->bytes -= chunk->bytes;
	memset(chunk, 0, sizeof(*chunk));
}

void tare_arena_trim(struct tare_gpu_arena *arena)
{
	size_t i;

	for (i = 0; i < arena->chunks_nr; i++) {
		struct tare_arena_chunk *chunk = &arena->chunks[i];

		if (chunk->bytes && !chunk->mappings && !chunk->is_reserved)
			drop_chunk(arena, chunk);
	}
}

int tare_arena_init(struct tare_gpu_arena *arena, CUdevice device, uint64_t limit, uint64_t reserve)
{
	CUmemAllocationProp prop;
	size_t granularity = 0, total = 0, index;
	int rc;

	memset(arena, 0, sizeof(*arena));
	arena->device = device;
	prop = properties(arena);
	rc = tare_graphs_cuda(tare_cu.cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
	                      "arena: cuMemGetAllocationGranularity");
	if (!rc)
		rc = tare_graphs_cuda(tare_cu.cuDeviceTotalMem_v2(&total, device), "arena: cuDeviceTotalMem");
	if (rc)
		return rc;
	arena->granularity = granularity;
	arena->limit = limit;
	arena->largest = round_up(limit ? limit : total, granularity);
	for (reserve = round_up(reserve, granularity); reserve && !rc;) {
		uint64_t bytes = reserve < CHUNK_MAX ? reserve : CHUNK_MAX;

		rc = make_chunk(arena, bytes, &index);
		if (!rc)
			arena->chunks[index].is_reserved = true;
		reserve -= bytes;
	}
	if (rc)
		tare_arena_fini(arena);
	return rc;
}

void tare_arena_fini(struct tare_gpu_arena *arena)
{
	size_t i;

	for (i = 0; i < arena->chunks_nr; i++)
		if (arena->chunks[i].bytes)
			drop_chunk(arena, &arena->chunks[i]);
	for (i = 0; i < arena->regions_nr; i++)
		tare_cu.cuMemAddressFree(arena->regions[i].start, arena->regions[i].bytes);
	free(arena->chunks);
	free(arena->regions);
	memset(arena, 0, sizeof(*arena));
}

/* ---- addresses ---- */
static bool has_room(const struct tare_gpu_arena *arena, const struct tare_arena_region *region)
{
	return region->start + region->bytes - region->next >= arena->largest;
}

static int reserve_region(struct tare_gpu_arena *arena, size_t *index)
{
	struct tare_arena_region *more;
	uint64_t bytes = arena->largest * REGION_FACTOR;
	CUdeviceptr start;
	CUresult result;

	more = realloc(arena->regions, (arena->regions_nr + 1) * sizeof(*more));
	if (!more)
		return tare_graphs_fail(TARE_GRAPHS_HOST_MEMORY, "arena: no host memory");
	arena->regions = more;
	for (;; bytes /= 2) {
		bytes = round_up(bytes, arena->granularity);
		result = tare_cu.cuMemAddressReserve(&start, bytes, 0, 0, 0);
		if (result == CUDA_SUCCESS || bytes < 2 * arena->largest)
			break;
	}
	if (result != CUDA_SUCCESS)
		return tare_graphs_cuda(result, "arena: cuMemAddressReserve");
	*index = arena->regions_nr++;
	more[*index] = (struct tare_arena_region){ .start = start, .bytes = bytes, .next = start };
	return 0;
}

static int find_region(struct tare_gpu_arena *arena, size_t *index)
{
	size_t i;

	for (i = 0; i < arena->regions_nr; i++) {
		struct tare_arena_region *region = &arena->regions[i];

		if (!region->mappings)
			region->next = region->start;
		if (has_room(arena, region)) {
			*index = i;
			return 0;
		}
	}
	return reserve_region(arena, index);
}

/* ---- mappings ---- */
int tare_mapping_open(struct tare_gpu_arena *arena, struct tare_gpu_mapping **out)
{
	struct tare_arena_region *region;
	struct tare_gpu_mapping *mapping;
	size_t index = 0;
	int rc = find_region(arena, &index);

	if (rc)
		return rc;
	mapping = calloc(1, sizeof(*mapping));
	if (!mapping)
		return tare_graphs_fail(TARE_GRAPHS_HOST_MEMORY, "arena: no host memory");
	region = &arena->regions[index];
	region->mappings++;
	mapping->arena = arena;
	mapping->region = index;
	mapping->base = region->next;
	mapping->room = region->start + region->bytes - region->next;
	mapping->refs = 1;
	*out = mapping;
	return 0;
}

int tare_mapping_avoid(struct tare_gpu_mapping *mapping, size_t chunk)
{
	size_t wanted = mapping->arena->chunks_nr;
	bool *more;

	if (mapping->avoided_nr < wanted) {
		more = realloc(mapping->avoided, wanted);
		if (!more)
			return tare_graphs_fail(TARE_GRAPHS_HOST_MEMORY, "arena: no host memory");
		memset(more + mapping->avoided_nr, 0, wanted - mapping->avoided_nr);
		mapping->avoided = more;
		mapping->avoided_nr = wanted;
	}
	mapping->avoided[chunk] = true;
	return 0;
}

int tare_mapping_each(const struct tare_gpu_mapping *mapping, uint64_t offset, uint64_t bytes,
                      int (*seen)(size_t chunk, void *arg), void *arg)
{
	uint64_t at = 0;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < mapping->chunks_nr && at < offset + bytes; i++) {
		uint64_t end = at + mapping->arena->chunks[mapping->chunks[i]].bytes;

		if (end > offset)
			rc = seen(mapping->chunks[i], arg);
		at = end;
	}
	return rc;
}

bool tare_mapping_has(const struct tare_gpu_mapping *mapping, size_t index)
{
	size_t i;

	for (i = 0; i < mapping->chunks_nr; i++)
		if (mapping->chunks[i] == index)
			return true;
	return false;
}

static bool is_usable(const struct tare_gpu_mapping *mapping, size_t index)
{
	if (!mapping->arena->chunks[index].bytes || tare_mapping_has(mapping, index))
		return false;
	return index >= mapping->avoided_nr || !mapping->avoided[index];
}

/* The smallest chunk that covers what is missing; else the largest. SIZE_MAX: no chunk is free. */
static size_t best_chunk(const struct tare_gpu_mapping *mapping, uint64_t missing)
{
	const struct tare_arena_chunk *chunks = mapping->arena->chunks;
	size_t i, best = SIZE_MAX;

	for (i = 0; i < mapping->arena->chunks_nr; i++) {
		bool is_enough = chunks[i].bytes >= missing, had_enough, is_smaller, is_larger;

		if (!is_usable(mapping, i))
			continue;
		if (best == SIZE_MAX) {
			best = i;
			continue;
		}
		had_enough = chunks[best].bytes >= missing;
		is_smaller = chunks[i].bytes < chunks[best].bytes;
		is_larger = chunks[i].bytes > chunks[best].bytes;
		if (is_enough ? !had_enough || is_smaller : !had_enough && is_larger)
			best = i;
	}
	return best;
}

/*
 * The next chunk of a mapping: one that the arena has already, else a new one of just the size that is
 * missing, so the arena grows only where all of its chunks are not enough. A later piece is the exception:
 * what a piece keeps takes its chunks away from all pieces after it, so a later piece does not begin a chunk
 * that is far too large.
 */
static int next_chunk(struct tare_gpu_mapping *mapping, uint64_t missing, size_t *index)
{
	struct tare_gpu_arena *arena = mapping->arena;
	uint64_t wanted = missing < CHUNK_MAX ? round_up(missing, arena->granularity) : CHUNK_MAX;
	size_t best = best_chunk(mapping, wanted);
	int rc;

	if (best != SIZE_MAX && (!mapping->avoided || arena->chunks[best].bytes <= wanted * TOO_LARGE)) {
		*index = best;
		return 0;
	}
	rc = make_chunk(arena, wanted, index);
	/* The new chunk may stand in the slot of an earlier one that was avoided. */
	if (!rc && *index < mapping->avoided_nr)
		mapping->avoided[*index] = false;
	return rc;
}

static int add_chunk(struct tare_gpu_mapping *mapping, size_t index)
{
	struct tare_arena_chunk *chunk = &mapping->arena->chunks[index];
	size_t *more;
	int rc;

	if (mapping->mapped + chunk->bytes > mapping->room)
		return tare_graphs_fail(TARE_GRAPHS_DEVICE_MEMORY,
		                        "arena: a capture needs more addresses than the device has memory");
	more = realloc(mapping->chunks, (mapping->chunks_nr + 1) * sizeof(*more));
	if (!more)
		return tare_graphs_fail(TARE_GRAPHS_HOST_MEMORY, "arena: no host memory");
	mapping->chunks = more;
	rc = tare_graphs_cuda(tare_cu.cuMemMap(mapping->base + mapping->mapped, chunk->bytes, 0, chunk->handle, 0),
	                      "arena: cuMemMap");
	if (rc)
		return rc;
	more[mapping->chunks_nr++] = index;
	mapping->mapped += chunk->bytes;
	chunk->mappings++;
	return 0;
}

/* Unmaps all chunks from position `first` on. */
static void shrink(struct tare_gpu_mapping *mapping, size_t first)
{
	while (mapping->chunks_nr > first) {
		struct tare_arena_chunk *chunk = &mapping->arena->chunks[mapping->chunks[mapping->chunks_nr - 1]];

		tare_cu.cuMemUnmap(mapping->base + mapping->mapped - chunk->bytes, chunk->bytes);
		mapping->mapped -= chunk->bytes;
		mapping->chunks_nr--;
		chunk->mappings--;
	}
}

int tare_mapping_grow(struct tare_gpu_mapping *mapping, uint64_t bytes)
{
	CUmemAccessDesc access = { .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	uint64_t had = mapping->mapped;
	size_t had_chunks = mapping->chunks_nr, index;
	int rc = 0;

	if (bytes <= had)
		return 0;
	while (!rc && mapping->mapped < bytes) {
		rc = next_chunk(mapping, bytes - mapping->mapped, &index);
		if (!rc)
			rc = add_chunk(mapping, index);
	}
	access.location = properties(mapping->arena).location;
	if (!rc)
		rc = tare_graphs_cuda(tare_cu.cuMemSetAccess(mapping->base + had, mapping->mapped - had, &access, 1),
		                      "arena: cuMemSetAccess");
	if (rc) {
		shrink(mapping, had_chunks);
		tare_arena_trim(mapping->arena);
	}
	return rc;
}

int tare_mapping_move(struct tare_gpu_mapping *mapping, uint64_t bytes)
{
	shrink(mapping, 0);
	return tare_mapping_grow(mapping, bytes);
}

void tare_mapping_settle(struct tare_gpu_mapping *mapping)
{
	mapping->arena->regions[mapping->region].next = mapping->base + mapping->mapped;
	mapping->room = mapping->mapped;
	free(mapping->avoided);
	mapping->avoided = NULL;
	mapping->avoided_nr = 0;
}

struct tare_arena_chunk *tare_mapping_chunk(const struct tare_gpu_mapping *mapping, CUdeviceptr address)
{
	CUdeviceptr at = mapping->base;
	size_t i;

	if (address < at || address - at >= mapping->mapped)
		return NULL;
	for (i = 0; i < mapping->chunks_nr; i++) {
		struct tare_arena_chunk *chunk = &mapping->arena->chunks[mapping->chunks[i]];

		if (address - at < chunk->bytes)
			return chunk;
		at += chunk->bytes;
	}
	return NULL;
}

void tare_mapping_close(struct tare_gpu_mapping *mapping)
{
	struct tare_arena_region *region;

	if (!mapping || --mapping->refs)
		return;
	region = &mapping->arena->regions[mapping->region];
	if (region->next == mapping->base + mapping->mapped)
		region->next = mapping->base;
	region->mappings--;
	shrink(mapping, 0);
	free(mapping->avoided);
	free(mapping->chunks);
	free(mapping);
}
