/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the driver, memory that several handles or processes share, and contexts. */
#ifndef TARE_LEDGER_OBJECT_STATE_H
#define TARE_LEDGER_OBJECT_STATE_H

#include "base/map.h"
#include "ledger/core/bucket_state.h"
#include "ledger/saved.h"

struct tare_object_live {
	uint64_t handle, asked, granted;
	int process; /* -1: a free slot */
	int device, context, bucket;
	int prev, next; /* in its context */
	int graph;      /* row of the graph it is an exec of or was allocated for, -1: none */
	uint8_t class;
};

/* References of one process to memory: by handles, and by mappings. */
struct tare_refs {
	uint32_t handles, mappings;
};

/* Memory of cuMemCreate, or an allocation that was shared, of the process that made it. */
struct tare_physical {
	uint64_t handle;   /* of an allocation that was shared: its address */
	int64_t bytes;     /* of the device */
	uint64_t identity; /* under which it was exported; 0: it was not */
	int64_t exported_ns;
	int process, device, bucket;
	struct tare_refs refs; /* of that process */
	int holder;            /* import in whose row it is, once it is lent; -1: of nobody known */
	bool is_live, is_lent; /* lent: its own process let go, and another holds it */
	bool is_allocation;    /* booked as one, as long as it is not lent */
};

/* The same in a process that imported it. */
struct tare_import {
	uint64_t handle, identity;
	int64_t bytes; /* 0: not known yet */
	int64_t begin_ns;
	int process, device;
	struct tare_refs refs;
	int origin;               /* physical; -1: not known */
	bool is_live, is_address; /* opened by legacy IPC: `handle` is where */
};

struct tare_mapping {
	uint64_t at, bytes;
	uint64_t ref; /* vmm.c */
	int process;
	int graph; /* row of the capture that it was made in, -1: none */
};

/* Addresses at which something was mapped, and which their process keeps: asleep.c. */
struct tare_asleep {
	uint64_t at, bytes;
	int process, device;
};

/* One context, from its making to its end. Handle 0 stands for "no context" and never ends. */
struct tare_context {
	uint64_t handle;
	int process, device;
	int number; /* of created ones, from 1 */
	bool is_primary, is_live;
	int64_t local_held;                      /* local memory the driver holds for it; -1: not asked yet */
	int64_t heap_wanted;                     /* size of its device heap that was asked for and not taken yet */
	int bucket_of[TARE_BUCKET_NR];           /* -1: none yet */
	struct tare_map parts;                   /* (account, owner, site) → bucket, where there is more than one */
	int buckets, objects;                    /* lists */
	TARE_SAVED_ONE struct tare_facts *facts; /* NULL: none yet */
	uint64_t exec_nodes, exec_nodes_high;    /* of its executable graphs: now, and the most */
};

#endif
