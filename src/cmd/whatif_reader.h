/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_WHATIF_READER_H
#define TARE_CMD_WHATIF_READER_H

#include "base/owned.h"
#include "replay/trace.h"
#include "snapshot/snapshot.h"
#include "trace/event.h"
#include "trace/recording.h"

#include <stddef.h>

/* whatif_pools.c: a pool that one or several graphs of PyTorch allocate from. */
struct tare_whatif_pool {
	int process;
	uint64_t object;        /* the graph that it is the own pool of; 0: none */
	uint64_t first, second; /* as the program may name it; 0, 0: nobody told */
};

/* A capture that is under way. */
struct tare_whatif_capture {
	int process;
	uint32_t tid;
	size_t pool; /* 1 + place in pools */
};

struct tare_whatif_pools {
	TARE_OWNED struct tare_whatif_pool *items;
	size_t count, cap;
	TARE_OWNED struct tare_whatif_capture *captures;
	size_t capture_count, capture_cap;
};

TARE_FREES(tare_whatif_pools_free, tare_whatif_pools);
/* A capture begins or ends, or a graph tells the id of its pool. */
void tare_whatif_pools_event(struct tare_whatif_pools *p, const struct tare_event *e);
/* The number of the pool from which a thread allocates now; 0: the default pool. */
uint32_t tare_whatif_pools_of(const struct tare_whatif_pools *p, int process, uint32_t tid);

static inline struct tare_snapshot_pool tare_whatif_pool_id(uint32_t number)
{
	return (struct tare_snapshot_pool){ number, 0 };
}

/* Reads a recording into the trace of an allocator that `tare whatif` replays: what whatif_recording.c and whatif_pools.c share. */
/* What the driver gave the allocator, by address: a segment, or a piece of an expandable one. */
struct tare_whatif_given {
	uint64_t address, size;
	uint32_t pool;
	bool is_expandable, is_small;
	bool has_stream;
	uint64_t stream; /* of all blocks in it: the recorder asks at the first one */
};

struct tare_whatif_waiting {
	enum tare_snapshot_action action; /* SEGMENT_MAP or SEGMENT_UNMAP */
	uint64_t address, size;           /* 0: nothing waits */
	uint32_t pool;
};

/* Of one process on one GPU. */
struct tare_whatif_allocator {
	uint32_t device;                     /* of the trace */
	TARE_OWNED struct tare_map blocks;   /* address → size */
	TARE_OWNED struct tare_map given_at; /* address → place in `given` */
	TARE_OWNED struct tare_whatif_given *given;
	size_t given_nr, given_cap;
	TARE_OWNED struct tare_trace_ranges ranges; /* what it has now; serial: place in `given` */
	struct tare_whatif_waiting waits;           /* PyTorch maps a range piece by piece, and tells of it at once */
};

struct tare_whatif_reader {
	struct tare_trace *t;
	struct tare_recording *recording;
	TARE_OWNED_MANY(count) struct tare_whatif_allocator *allocators;
	size_t count, cap;
	TARE_OWNED struct tare_whatif_pools pools;
	TARE_OWNED struct tare_map streams; /* process and thread → stream */
	TARE_OWNED struct tare_map lines;   /* process and Python stack → number of the line */
	uint64_t most;                      /* events that are still read */
	uint64_t split;                     /* of struct tare_whatif_reading */
	struct tare_err *err;
	int rc;
};

TARE_FREES(tare_whatif_reader_free, tare_whatif_reader);

/* What the allocator has at the end: its segments, and the blocks and holes in them. */
void tare_whatif_end(struct tare_whatif_reader *r, struct tare_whatif_allocator *a);

#endif
