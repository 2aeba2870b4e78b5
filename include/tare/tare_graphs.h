/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtare_graphs: CUDA graphs for any number of sizes, for the device memory of the largest.
 *
 *     struct tare_graphs *graphs;
 *     CUdeviceptr scratch;
 *
 *     tare_graphs_create(NULL, &graphs);
 *     for (size = 1; size <= 128; size++) {
 *             tare_graphs_begin(graphs, size, stream, NULL);
 *             tare_graphs_alloc(graphs, size * ROW, stream, &scratch);
 *             ... enqueue on stream: kernels, copies, library calls ...
 *             tare_graphs_free(graphs, scratch);
 *             tare_graphs_end(graphs);
 *     }
 *     tare_graphs_launch(graphs, 17, stream);
 *     tare_graphs_destroy(graphs);
 *
 * Every capture gets addresses of its own, but all captures share one set of physical memory, the
 * arena. So the arena is as large as the largest capture needs, whatever the order of captures. The
 * graphs stay on the host as templates; few executable graphs are retargeted before a launch.
 *
 * What follows from sharing: replaying one key overwrites what another key left in the arena.
 * Outputs are read before the next replay of another key, copied out, or written to memory of the
 * caller's. tare_graphs_check() says whether an address still holds what its key wrote.
 *
 * Calls are thread-safe. Replays of one arena never overlap; use several arenas to run several
 * streams at once. docs/GRAPHS.md tells the whole story, with what frameworks forbid.
 *
 * Needs libcuda.so.1 of CUDA 12.0 or younger; nothing of the CUDA toolkit. The types below are
 * those of cuda.h, which may be included before or after; a cudaStream_t is a CUstream.
 */
#ifndef TARE_GRAPHS_H
#define TARE_GRAPHS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct CUstream_st *CUstream;
typedef struct CUgraph_st *CUgraph;
typedef unsigned long long tare_graphs_address; /* a CUdeviceptr */

/* Every function that can fail returns 0 or one of these; tare_graphs_error() has the sentence. */
#define TARE_GRAPHS_RESULTS(X)                                                                                         \
	X(-2, ARGUMENT, "an argument makes no sense")                                                                      \
	X(-3, DRIVER, "a CUDA call failed")                                                                                \
	X(-4, NO_DRIVER, "no CUDA driver, or one that is too old")                                                         \
	X(-5, DEVICE_MEMORY, "not enough device memory, or the limit of the arena is reached")                             \
	X(-6, HOST_MEMORY, "not enough host memory")                                                                       \
	X(-7, CAPTURE, "the stream did something that cannot be captured")                                                 \
	X(-8, NO_KEY, "nothing was captured for this key")                                                                 \
	X(-9, BUSY, "another replay of this arena is still running")                                                       \
	X(-10, STALE, "the memory was overwritten by another key's replay")                                                \
	X(-11, ORDER, "the call does not fit what was called before")                                                      \
	X(-12, UNSUPPORTED, "this graph cannot be shared")

enum tare_graphs_result {
	TARE_GRAPHS_OK = 0,
#define X(CODE, NAME, SENTENCE) TARE_GRAPHS_##NAME = CODE,
	TARE_GRAPHS_RESULTS(X)
#undef X
};

/* Why the last call of this thread that failed did so: subject, cause, next step. Never NULL. */
const char *tare_graphs_error(void);
/* "STALE" for TARE_GRAPHS_STALE; "OK" for 0. */
const char *tare_graphs_result_name(int result);

struct tare_graphs; /* an arena, its captures and its executable graphs */

enum tare_graphs_flags {
	/* A launch that would overlap a replay on another stream fails with BUSY, not waits. */
	TARE_GRAPHS_REFUSE_OVERLAP = 1,
	/*
	 * All captures have the same addresses, not only the same memory. Captures of nearly equal
	 * sizes then differ in few nodes, which makes switching cheaper; but addresses no longer
	 * say whose they are, so tare_graphs_check() answers UNSUPPORTED, and one key's graph must
	 * not read what another key's wrote. Not for frameworks that keep books by pointer.
	 */
	TARE_GRAPHS_ONE_RANGE = 2,
};

struct tare_graphs_options {
	size_t size;              /* sizeof(struct tare_graphs_options) */
	unsigned flags;           /* enum tare_graphs_flags */
	unsigned execs_per_group; /* 0: 1. More keep that many keys launchable without a switch */
	uint64_t limit_bytes;     /* the arena never becomes larger; 0: no limit */
	uint64_t reserve_bytes;   /* the arena is at least this large from the start */
	/*
	 * So many executable graphs at a time, over all groups: the one that was used longest ago is
	 * destroyed before another is made, and made again when its turn comes. With many topologies
	 * that saves their device memory and costs an instantiation where a launch needs another
	 * topology. 0: no limit. Graphs with memory nodes are neither counted nor destroyed.
	 */
	uint64_t execs_max;
	/*
	 * The path of libcudadevrt.a, which comes with each toolkit and with PyTorch: then the card
	 * switches, by one small kernel in front of the graph, instead of the host node by node
	 * (CUDA 12.4; graphs of kernels alone). Functions, blocks and shared memory then tell
	 * groups apart, so there may be more of them. NULL: the host switches. Not with execs_max.
	 */
	const char *device_runtime;
};

/* For the current context. options may be NULL. */
int tare_graphs_create(const struct tare_graphs_options *options, struct tare_graphs **out);
/* Waits for what runs, then gives everything back. NULL is fine. */
void tare_graphs_destroy(struct tare_graphs *graphs);

/* ---- capture: one at a time per arena; launches of earlier keys go on meanwhile ---- */

enum tare_graphs_capture_flags {
	/*
	 * Nothing is captured: the work runs at once, in the arena. What it allocates and frees is
	 * written down, and the next capture of this key gets addresses planned with that knowledge.
	 */
	TARE_GRAPHS_REHEARSE = 1,
	/* The caller begins and ends the stream capture; tare_graphs_adopt() takes the graph. */
	TARE_GRAPHS_FOREIGN = 2,
	/*
	 * The caller says by tare_graphs_reads() whose memory this graph is given. Without it every
	 * parameter of every node is looked at; then a stale pointer among bytes that a kernel never
	 * reads counts as reading.
	 */
	TARE_GRAPHS_DECLARED = 4,
};

struct tare_graphs_capture {
	size_t size;    /* sizeof(struct tare_graphs_capture) */
	unsigned flags; /* enum tare_graphs_capture_flags */
	/*
	 * This capture is a later part of what the key `*after` and those before it began (a model
	 * captured in pieces): it may read their memory, and gets none of it. NULL: a new sequence.
	 */
	const uint64_t *after;
};

/* how may be NULL. A key that exists already is replaced when the capture ends well. */
int tare_graphs_begin(struct tare_graphs *graphs, uint64_t key, CUstream stream, const struct tare_graphs_capture *how);
/*
 * Memory of the open capture. It may be used by this graph only, from here to tare_graphs_free(),
 * on any stream of the capture; freed memory is handed out again to the same `stream` only.
 * What is never freed is the capture's until its end: its outputs.
 */
int tare_graphs_alloc(struct tare_graphs *graphs, size_t bytes, CUstream stream, tare_graphs_address *address);
int tare_graphs_free(struct tare_graphs *graphs, tare_graphs_address address);
/*
 * What must last beyond the capture, for its reader or a later piece: by default all that was not
 * freed. After a call of this only what such calls name.
 */
int tare_graphs_keep(struct tare_graphs *graphs, tare_graphs_address address, size_t bytes);
/* The open capture is given memory that this key keeps, so it gets none of it, and launches only
 * while it is intact. */
int tare_graphs_reads(struct tare_graphs *graphs, uint64_t key);
/* On failure the capture is gone, as after tare_graphs_abort(), and all other keys still launch. */
int tare_graphs_end(struct tare_graphs *graphs);
/* Ends a FOREIGN capture with a copy of `graph`; the caller's stays as it is and the caller's. */
int tare_graphs_adopt(struct tare_graphs *graphs, CUgraph graph);
void tare_graphs_abort(struct tare_graphs *graphs);

/* ---- replay ---- */

int tare_graphs_launch(struct tare_graphs *graphs, uint64_t key, CUstream stream);
/*
 * Switches to the key now, so that its launch in this stream has nothing left to do but to launch: for a
 * program that knows the next key while another one still runs. What runs is not changed by it.
 */
int tare_graphs_prepare(struct tare_graphs *graphs, uint64_t key, CUstream stream);
/* 0: what the key's last replay wrote at this address of the arena is still there. Else STALE. */
int tare_graphs_check(struct tare_graphs *graphs, tare_graphs_address address);
/* Gives up a key, and memory that only it needed. */
int tare_graphs_drop(struct tare_graphs *graphs, uint64_t key);

/* ---- statistics ---- */

#define TARE_GRAPHS_STATS(X)                                                                                           \
	X(captures, "keys that can be launched")                                                                           \
	X(arena_bytes, "device memory of the arena")                                                                       \
	X(largest_bytes, "what the neediest capture uses of it")                                                           \
	X(sum_bytes, "what all captures would use without sharing")                                                        \
	X(address_bytes, "addresses mapped to the arena")                                                                  \
	X(groups, "topologies; each has its own executable graphs")                                                        \
	X(groups_refused, "groups made because the driver refused an update")                                              \
	X(execs, "executable graphs")                                                                                      \
	X(exec_nodes, "nodes in them")                                                                                     \
	X(exec_bytes, "device memory weighed around their creation; 0 is less than one 2 MiB step")                        \
	X(template_nodes, "nodes of templates, on the host")                                                               \
	X(template_bytes, "host memory of our copies of node parameters")                                                  \
	X(launches, "replays")                                                                                             \
	X(repeats, "launches that needed no switch")                                                                       \
	X(updates, "switches by cuGraphExecUpdate")                                                                        \
	X(update_ns, "time spent in them")                                                                                 \
	X(node_switches, "switches node by node")                                                                          \
	X(node_switch_nodes, "nodes set by them")                                                                          \
	X(node_switch_ns, "time spent in them")                                                                            \
	X(failed_updates, "switches the driver refused or that failed")                                                    \
	X(waits, "launches that were ordered after one on another stream")                                                 \
	X(refusals, "launches refused: BUSY or STALE")                                                                     \
	X(moves, "captures moved because they read another's memory")                                                      \
	X(planned, "captures whose allocations followed a rehearsal")                                                      \
	X(device_switches, "switches by the card: device_runtime")                                                         \
	X(prepared, "switches ahead of the launch, by tare_graphs_prepare()")                                              \
	X(remade, "launches that had to make an executable graph: execs_max, or a refused switch")

struct tare_graphs_stats {
#define X(NAME, HELP) uint64_t NAME;
	TARE_GRAPHS_STATS(X)
#undef X
};

/* Fills at most `size` bytes, so that an older caller stays safe. */
int tare_graphs_stats(struct tare_graphs *graphs, struct tare_graphs_stats *stats, size_t size);
/* The name of field i, NULL after the last: for bindings. */
const char *tare_graphs_stat_name(size_t i);

/* One row per key or per group; returns how many there are, whatever room was given. */
struct tare_graphs_key_info {
	uint64_t key, bytes, nodes, group; /* group: index of the rows below */
	uint64_t address, address_bytes;   /* what is mapped for it */
};
struct tare_graphs_group_info {
	uint64_t nodes, keys, execs, exec_bytes;
	/* 1: same topology as another group, but the driver refused to update */
	uint64_t is_refused;
};
size_t tare_graphs_list_keys(struct tare_graphs *graphs, struct tare_graphs_key_info *rows, size_t room);
size_t tare_graphs_list_groups(struct tare_graphs *graphs, struct tare_graphs_group_info *rows, size_t room);

/*
 * For PyTorch's CUDAPluggableAllocator and others of this shape: memory of the FOREIGN capture that
 * is open on the device. NULL where there is none. The second does nothing: a capture's memory goes
 * with its key.
 */
void *tare_graphs_pool_alloc(size_t bytes, int device, CUstream stream);
void tare_graphs_pool_free(void *address, size_t bytes, int device, CUstream stream);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
