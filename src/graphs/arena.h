/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Physical memory that many address ranges share.
 *
 * An arena is a set of chunks. A mapping is a range of addresses behind which chunks stand, each
 * chunk at most once per mapping; many mappings may have the same chunk. The driver maps whole
 * chunks only (no part, no offset), so a mapping is a list of chunks one after the other.
 *
 * Addresses come from large reservations, in order; they cost nothing until they are mapped.
 */
#ifndef TARE_GRAPHS_ARENA_H
#define TARE_GRAPHS_ARENA_H

#include "graphs/driver.h"

#include <stdbool.h>

struct tare_arena_chunk {
	CUmemGenericAllocationHandle handle;
	uint64_t bytes;  /* 0: this slot has no chunk */
	uint64_t writer; /* id of the capture that was replayed in this chunk last; 0: of none */
	unsigned mappings;
	bool is_reserved; /* the chunk stays when no mapping has it */
};

struct tare_arena_region {
	CUdeviceptr start;
	uint64_t bytes;
	CUdeviceptr next; /* addresses from here on are free */
	unsigned mappings;
};

struct tare_gpu_arena {
	CUdevice device;
	uint64_t granularity, limit, largest; /* largest: what one mapping may ever need */
	uint64_t bytes;                       /* sum of all chunks */
	struct tare_arena_chunk *chunks;
	size_t chunks_nr;
	struct tare_arena_region *regions;
	size_t regions_nr;
};

struct tare_gpu_mapping {
	struct tare_gpu_arena *arena;
	size_t region;
	CUdeviceptr base;
	uint64_t room;   /* addresses from base on, as long as this mapping is the region's last */
	uint64_t mapped; /* bytes that are mapped */
	size_t *chunks;  /* indices of chunks, in order of address */
	size_t chunks_nr;
	bool *avoided; /* by chunk index: this mapping must not use the chunk */
	size_t avoided_nr;
	unsigned refs;
};

/* limit 0: the arena has no limit. reserve: bytes of chunks that are made at once and stay. */
int tare_arena_init(struct tare_gpu_arena *arena, CUdevice device, uint64_t limit, uint64_t reserve);
/* Pre: all mappings are closed. */
void tare_arena_fini(struct tare_gpu_arena *arena);
/* Gives back chunks that nobody maps. */
void tare_arena_trim(struct tare_gpu_arena *arena);

/* A mapping without memory. Until it is settled, no other may be opened. */
int tare_mapping_open(struct tare_gpu_arena *arena, struct tare_gpu_mapping **out);
/* Calls `seen` for the chunks behind a range of the mapping, until it returns non-0. */
int tare_mapping_each(const struct tare_gpu_mapping *mapping, uint64_t offset, uint64_t bytes,
                      int (*seen)(size_t chunk, void *arg), void *arg);
bool tare_mapping_has(const struct tare_gpu_mapping *mapping, size_t chunk);
/* From the next growth or move on, the mapping does not use this chunk. */
int tare_mapping_avoid(struct tare_gpu_mapping *mapping, size_t chunk);
/* Maps at least so many bytes. On failure the mapping has the chunks that it had. */
int tare_mapping_grow(struct tare_gpu_mapping *mapping, uint64_t bytes);
/*
 * Maps at least so many bytes at the same addresses, in chunks that are not avoided. Contents are lost.
 */
int tare_mapping_move(struct tare_gpu_mapping *mapping, uint64_t bytes);
void tare_mapping_settle(struct tare_gpu_mapping *mapping);
/* The chunk behind an address; NULL: the address is not in this mapping. */
struct tare_arena_chunk *tare_mapping_chunk(const struct tare_gpu_mapping *mapping, CUdeviceptr address);
/* Drops a reference; the last one unmaps. Nothing on the device may use the mapping any more. */
void tare_mapping_close(struct tare_gpu_mapping *mapping);

#endif
