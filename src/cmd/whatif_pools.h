/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_WHATIF_POOLS_H
#define TARE_CMD_WHATIF_POOLS_H

#include "base/owned.h"
#include "snapshot/snapshot.h"
#include "trace/event.h"

#include <stddef.h>

/* A pool that one or several graphs of PyTorch allocate from. */
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

#endif
