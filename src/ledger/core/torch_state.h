/* SPDX-License-Identifier: Apache-2.0 */
/* What PyTorch says: segments, the streams that they are on, blocks that wait, and what tensors are. */
#ifndef TARE_LEDGER_TORCH_STATE_H
#define TARE_LEDGER_TORCH_STATE_H

#include "base/map.h"
#include "ledger/build.h"

/* A stream of PyTorch, as it was said. */
struct tare_on_stream {
	uint64_t id;
	uint16_t ids; /* enum tare_stream_ids */
	bool is_known;
};

/* What the last STREAM record of a thread said. */
struct tare_thread_stream {
	struct tare_on_stream on;
	uint32_t tid;
	int device;
};

/* What PyTorch's allocator took from the driver, and how much of it is in blocks. */
struct tare_segment {
	uint64_t at, size, owner;
	struct tare_on_stream on;
	uint32_t other_stream_blocks; /* blocks that were said to be on another stream */
	int64_t live;
	int context, process;
	int graph;    /* row of the capture that it was taken in, -1: none */
	bool is_held; /* a graph of that capture's pool is still there */
	bool is_expandable;
	bool is_trial;                   /* rule "trial" */
	int partly;                      /* its bucket of that account; 0: not looked for yet */
	uint32_t moment[TARE_MOMENT_NR]; /* of the device, when it became this */
};

struct tare_segments { /* by address */
	struct tare_segment *items;
	size_t count, cap;
};

/* What was one at a moment, and is not any more; as of blocks. */
struct tare_kept_segments {
	struct tare_segment *items;
	size_t count, cap;
	uint32_t moment;
};

/* A block that was handed out, or taken back (no bytes). */
struct tare_block {
	uint64_t address;
	int64_t bytes, t, born_ns;
	int process;
	uint32_t site, tid;
	uint16_t flags;           /* enum tare_tensor_flag */
	uint32_t module;          /* 1 + place of what it was handed out for, 0: none */
	struct tare_on_stream on; /* handed out */
	int look;   /* 0: a block; else no block: 1 + what a part is to look at once the calls before are settled */
	int looker; /* which part: enum tare_looker */
};

/* One thing that a look through a program's objects found. */
struct tare_scan_entry {
	uint64_t at, of;
	uint32_t name, shape; /* texts of the fold */
	uint8_t role, flags;
};

struct tare_scan_entries { /* since the last SCAN record */
	struct tare_scan_entry *items;
	size_t count, cap;
	uint32_t scans;
};

/* A module of the program (torch.nn.Module). */
struct tare_module {
	uint64_t at;
	uint32_t class, name; /* texts of the fold, 0: not known; name: in its parent */
	uint32_t parent;      /* 1 + place, 0: none */
	uint32_t order;       /* among those of its parent */
	uint32_t agreed;      /* without a parent: scans that found that name, less those that found another since */
	bool
		is_one_of_several; /* without a parent, it had parameters while another one had some: its name is told with those */
	bool is_told;          /* the scan that is under way found the module */
	bool is_found;         /* some scan found it */
};

struct tare_modules { /* of a process */
	struct tare_module *items;
	size_t count, cap;
	struct tare_map of_address; /* → 1 + place of the module that is there now */
	struct tare_map of_thread;  /* → 1 + place of the module for which the thread is handed out blocks */
};

#endif
