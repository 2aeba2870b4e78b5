/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated driver: what its parts know of each other.
 *
 * Every entry point of the two tables (cuda_api.def, sim_extra.def) is generated in sim_entry.c. It
 * takes the lock of the process, applies the script and calls a body, sim_body_SYMBOL(), which is
 * in the file of its subject. So bodies run one at a time and may use everything here freely.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim_abi.h"
#include "sim_profile.h"
#include "sim_script.h"
#include "sim_state.h"
#include "sim_twin.h"

/* ---- entry points ---- */
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) SIM_##symbol,
enum sim_api {
#include "recorder/cuda/cuda_api.def"
#include "sim_extra.def"
	SIM_API_NR
};
#undef CU_API

#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets)                                          \
	__attribute__((visibility("default"))) CUresult symbol params;                                                     \
	CUresult sim_body_##symbol params;
#include "recorder/cuda/cuda_api.def"
#include "sim_extra.def"
#undef CU_API

struct sim_api_row {
	const char *symbol, *name;
	int version;
	bool ptsz;
	bool is_weighty; /* Tare hooks it: it may change memory */
	void *function;
};

void sim_gate_begin(void); /* when the library is loaded */
/* A device does not follow into a child of fork: its copy of our state is the parent's. */
bool sim_is_forked(void);
/* For what is no call of the driver. False: there is nothing to look at, and the lock is not held. */
bool sim_look(void);
/* Bodies that call into the program let go of the lock meanwhile. */
void sim_unlock(void);
void sim_relock(void);

/* ---- objects behind handles ---- */
enum sim_kind {
	SIM_CONTEXT,
	SIM_MODULE,
	SIM_LIBRARY,
	SIM_FUNCTION,
	SIM_KERNEL,
	SIM_STREAM,
	SIM_EVENT,
	SIM_ARRAY,
	SIM_MIPMAP,
	SIM_GRAPH,
	SIM_NODE,
	SIM_EXEC,
	SIM_POOL,
	SIM_POOL_IMPORT,
	SIM_PHYSICAL,
	SIM_EXTERNAL,
	SIM_GREEN,
	SIM_LINK,
	SIM_USER, /* of graphs */
	SIM_DESCRIPTION,
	SIM_LISTENER,
};

struct sim_context;

struct sim_object {
	enum sim_kind kind;
	struct sim_context *context;            /* dies with it; NULL: lives as long as the process */
	struct sim_object *next, **link;        /* objects of the context */
	void (*end)(struct sim_object *object); /* of one that ends with its context; NULL: it is only deleted */
};

/* `size` bytes of zero that begin with a struct sim_object. NULL: no memory. */
void *sim_object_new(enum sim_kind kind, struct sim_context *context, size_t size);
/* The object behind a handle, NULL where the handle is not one of a living object of this kind. */
void *sim_object_get(const void *handle, enum sim_kind kind);
void sim_object_delete(void *object);
/* All objects of a kind, in no order; `after` NULL: the first. NULL: no more. */
struct sim_object *sim_object_next(const struct sim_object *after, enum sim_kind kind);
/* All objects of a context, each by its own function. */
void sim_object_delete_all(struct sim_context *context);

/* ---- the process and its devices ---- */
struct sim_pool;

struct sim_device {
	int physical; /* index of NVML; CUDA_VISIBLE_DEVICES may number them otherwise */
	struct sim_context *primary;
	unsigned primary_refs, primary_flags;
	struct sim_pool *default_pool, *pool;
};

struct sim {
	const struct sim_api_row *api; /* SIM_API_NR rows */
	struct tare_profile profile;
	struct sim_script script;
	struct sim_shared *shared;
	struct sim_slot *slot;
	struct sim_device devices[SIM_DEVICES];
	int devices_nr;
	bool is_initialized;
	const void *caller; /* where the call under way returns to */
	bool is_per_thread; /* the call under way: NULL stands for the stream of its thread */
};
extern struct sim sim;

bool sim_is_device(CUdevice device);

struct sim_generation {
	unsigned compute;         /* 90: from 9.0 on */
	unsigned shared_of_sm;    /* bytes */
	unsigned shared_of_block; /* of one that asked for more than the usual */
	unsigned blocks_of_sm;
};
const struct sim_generation *sim_generation(void);

/* Memory of a device: OUT_OF_MEMORY when it is not there. */
CUresult sim_take(int device, uint64_t bytes);
void sim_give(int device, uint64_t bytes);

static inline uint64_t sim_round_up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

/* ---- address ranges ---- */
enum sim_range_kind {
	SIM_RANGE_HEAP,
	SIM_RANGE_MANAGED,
	SIM_RANGE_HOST,
	SIM_RANGE_REGISTERED,
	SIM_RANGE_POOL,
	SIM_RANGE_MAPPED,
	SIM_RANGE_GLOBAL,
	SIM_RANGE_IPC,
	SIM_RANGE_EXTERNAL,
	SIM_RANGE_POOL_IMPORT,
	SIM_RANGE_GRAPH, /* memory nodes */
};

struct sim_range {
	uint64_t start, size; /* as asked for */
	enum sim_range_kind kind;
	int device;
	struct sim_context *context; /* dies with it; NULL: does not */
	void *owner;                 /* POOL: its pool, MAPPED: its physical memory */
	struct sim_block *block;     /* HEAP: its shared page, NULL: it has its own */
	uint64_t span;               /* address space it occupies */
	uint64_t offset;             /* of its memory in sim_backing_fd() */
	uint64_t charged;
	uint64_t id;
	unsigned flags;
	bool is_shared;         /* another process may have it: it was exported */
	unsigned char *touched; /* MANAGED: one per page */
};

/* NULL: no memory. */
struct sim_range *sim_range_add(enum sim_range_kind kind, uint64_t start, uint64_t size);
void sim_range_remove(struct sim_range *range);
struct sim_range *sim_range_at(uint64_t address);    /* the one that holds this address */
struct sim_range *sim_range_exactly(uint64_t start); /* the one that begins there */
/* Some range of a context, some range of an owner; NULL: none is left. */
struct sim_range *sim_range_of(const struct sim_context *context);
struct sim_range *sim_range_owned(const void *owner);

/* Of memory by cuMemCreate: its file. `offset` is in it, and becomes that in the file. */
int sim_physical_file(const void *physical, uint64_t *offset);
bool sim_physical_is_shared(const void *physical); /* another process may have it */

/* ---- memory behind addresses: one file per process, so that another process can map a part ---- */
int sim_backing_fd(void);
bool sim_backing_extend(uint64_t size, uint64_t *offset); /* more of it */
void sim_backing_punch(uint64_t offset, uint64_t size);   /* nobody needs this part any more */
/* Address space without memory, aligned to a page of the device. 0: none. */
uint64_t sim_backing_reserve(uint64_t size);
/* Of it that which cuMemAlloc hands out (sim_place.c), in multiples of a page. 0: there is no room. */
uint64_t sim_place_take(uint64_t size);
void sim_place_give(uint64_t start, uint64_t size);
void sim_place_code(void); /* code of kernels comes to the device */
/* Address space with memory, and back; `at`: where it was reserved. */
uint64_t sim_backing_map_at(uint64_t at, uint64_t size, uint64_t *offset);
/* Both of them together, and back. */
uint64_t sim_backing_map(uint64_t size, uint64_t *offset);
void sim_backing_unmap(uint64_t address, uint64_t size, uint64_t offset);
/* The offset of what lies `distance` behind one that was mapped at `offset`. */
uint64_t sim_backing_part(uint64_t offset, uint64_t distance);
bool sim_backing_is_shareable(uint64_t offset);

/* ---- memory out of shared pages ---- */
struct sim_block;

/* What sim_heap.c hands out: addresses for cuMemAlloc, and room without addresses for arrays. */
struct sim_piece {
	struct sim_block *block; /* NULL: pages of its own */
	uint64_t start, span, offset;
};

CUresult sim_heap_take(struct sim_context *context, struct sim_block **heap, uint64_t size, struct sim_piece *piece);
void sim_heap_give(struct sim_context *context, struct sim_piece *piece);
CUresult sim_heap_alloc(struct sim_context *context, uint64_t size, struct sim_range **range);
void sim_heap_free(struct sim_range *range);

/* ---- contexts ---- */
/* Memory that is held for later, in steps, once it was needed. */
struct sim_hoard {
	uint64_t used, room;
};

/* Tables that map pinned memory: simgpu/sim_host_map.c. */
struct sim_host_map {
	void *tables;          /* a tree of them */
	unsigned *pages;       /* tables in each page of them */
	size_t pages_nr, full; /* no page before `full` has room */
};

/* A stream as sim_pending.c sees it: the last piece of work in it, and the one that was last told to be not done. */
struct sim_line {
	uint64_t piece, told;
};

struct sim_context {
	struct sim_object object;
	struct sim_object *objects;
	struct sim_block *heap, *array_heap; /* shared pages of small allocations */
	int device;
	unsigned flags;
	uint64_t peers; /* bit d: may access device d */
	uint64_t id;
	bool is_primary, is_alive;
	uint64_t bytes; /* taken from the device for this context */
	uint64_t limits[16];
	uint64_t local; /* bytes per thread that local memory has room for */
	uint64_t code;
	bool has_runtime, has_malloc; /* code that kernels with printf or malloc need */
	unsigned printf_images;       /* loaded ones with printf */
	bool printf_used, heap_used;  /* by a kernel that ran */
	unsigned streams, streams_high;
	uint64_t managed_free;          /* held for managed memory */
	struct sim_hoard nodes, params; /* of executable graphs */
	struct sim_hoard events, modules;
	bool has_launched, has_assert;
	struct sim_line legacy;
	uint64_t blocking; /* the last piece that the legacy stream waits for */
	struct sim_host_map host_map;
};

/* The calling thread's context: INVALID_CONTEXT without one. */
CUresult sim_current(struct sim_context **context);
/* That of a handle, and the current one for NULL. */
CUresult sim_current_or(CUcontext handle, struct sim_context **context);
CUresult sim_current_push(struct sim_context *context);
void sim_current_forget(const struct sim_context *context);

CUresult sim_context_new(int device, unsigned flags, struct sim_context **made);
void sim_context_begin(struct sim_context *context); /* everything as in a fresh one */
void sim_context_end(struct sim_context *context);
/* A living one. */
struct sim_context *sim_context_with_id(uint64_t id);
CUresult sim_context_take(struct sim_context *context, uint64_t bytes);
void sim_context_give(struct sim_context *context, uint64_t bytes);
/* What pinned memory takes of the device. */
CUresult sim_host_map(struct sim_context *context, uint64_t start, uint64_t size);
void sim_host_unmap(struct sim_context *context, uint64_t start, uint64_t size);
void sim_host_map_end(struct sim_context *context);
/* Memory of one use, which grows in steps as more of it is used. */
CUresult sim_context_hold(struct sim_context *context, struct sim_hoard *hoard, uint64_t bytes, uint64_t step);
/* Room for `bytes` per thread in all threads that the device can run at once. */
CUresult sim_context_grow_local(struct sim_context *context, uint64_t bytes);

/* ---- code ---- */
/* What the first launch of a function in a context takes. */
CUresult sim_function_launch(struct sim_context *context, CUfunction handle, void **params);
uint64_t sim_function_params(CUfunction handle);  /* bytes */
const char *sim_function_name(CUfunction handle); /* NULL: it is none */
void **sim_function_copy_params(CUfunction handle, void **params);

/* ---- streams ---- */
struct sim_graph;

/* The graph that this stream captures; NULL: it runs what it is given. */
struct sim_graph *sim_stream_graph(CUstream stream);
/* INVALID_HANDLE where `stream` is none. */
CUresult sim_stream_check(CUstream stream);
CUresult sim_stream_use(CUstream stream); /* the same, for work */
CUresult sim_stream_context(CUstream stream, struct sim_context **context);

bool sim_stream_is_blocking(CUstream stream); /* work in the legacy stream waits for it */

/* For a call that a capture does not bear: fails, and the capture with it, if one is under way. */
CUresult sim_stream_unsafe(void);

/* ---- what is not done yet (sim_pending.c) ---- */
uint64_t sim_now_ns(void);
void sim_pending_give(CUstream stream); /* a piece of work */
void sim_pending_finish(void);          /* all of it is done */
/* What an event that is recorded in this stream now is behind, and one that is recorded by the last piece. */
uint64_t sim_pending_next(CUstream stream);
uint64_t sim_pending_last(void);
void sim_pending_wait(CUstream stream, uint64_t piece); /* so is what the stream is given from now on */
/* Whoever was told that a piece is not done (`told`), and asks again without having waited, is told that it is. */
bool sim_pending_is_done(uint64_t piece, uint64_t *told);

/* ---- stream capture ---- */
/* An event recorded in a capture carries it to the streams that wait for the event. */
bool sim_capture_has(CUevent event); /* recorded in one that is under way */
CUresult sim_capture_record(CUstream stream, CUevent event);
CUresult sim_capture_wait(CUstream stream, CUevent event);
void sim_capture_forget(CUevent event);
void sim_capture_leave(CUstream stream); /* which goes: what it began can never end well */
/* What a stream that is captured is given: a node. INVALIDATED, once something went wrong. */
CUresult sim_capture_add(CUstream stream, CUgraphNodeParams *params);
CUresult sim_capture_attribute(CUstream stream, const CUlaunchAttribute *attribute);
struct sim_node;
void sim_capture_forget_graph(const struct sim_graph *graph);
void sim_capture_forget_node(const struct sim_node *node);
/* For a call that waits for all streams of the context: fails while one captures. */
CUresult sim_capture_bears_wait(const struct sim_context *context);
/* The same of one that asks how far a stream or an event is, or waits for it, and of work for the default stream. */
CUresult sim_capture_bears_query(CUstream stream);
CUresult sim_capture_bears_event(CUevent event);
CUresult sim_capture_bears_work(CUstream stream);

/* ---- graphs ---- */
struct sim_graph *sim_graph_new(void);
CUresult sim_graph_memory_free(struct sim_range *range);

/* ---- what work does, at once or when a graph is launched ---- */
/* Device memory from `address` on; neighbouring mappings count as one. */
bool sim_memory_is_on_device(CUdeviceptr address, uint64_t size);
void sim_memory_move(uint64_t to, uint64_t from, uint64_t size);
void sim_memory_fill(CUdeviceptr to, size_t pitch, uint32_t value, unsigned width, size_t count, size_t rows);
/* `is_checked`: memory of the host is there, for the program has just named it. */
CUresult sim_work_copy(const CUDA_MEMCPY3D *about, bool is_checked);
/* One side is the program's, and may be there no longer, which must not end it: then nothing is done. */
void sim_work_copy_guarded(uint64_t to, uint64_t from, uint64_t size, bool is_to_program);
void sim_event_record(CUevent event, uint64_t piece);
unsigned sim_event_flags(CUevent event); /* a living one */
uint64_t sim_event_piece(CUevent event); /* that it is behind */
void sim_batch_run(const CUstreamBatchMemOpParams *ops, unsigned count);

/* ---- memory that is counted when the device touches it ---- */
void sim_managed_touch(uint64_t address, uint64_t size);
void sim_managed_free(struct sim_range *range);
void sim_host_free(struct sim_range *range);
void sim_host_leave(struct sim_range *range); /* the program's own, no longer pinned */

/* ---- pools ---- */
void sim_pool_sync(int device); /* gives back what pools need not keep */
/* By cuMemFreeAsync, a plain allocation: it is there until the program synchronises. */
bool sim_pool_has_freed(const struct sim_range *range);
void sim_pool_free(struct sim_range *range);
void sim_pool_reset(int device);
bool sim_pool_is(CUmemoryPool handle);
/* Maps a part of another's memory, and back. */
CUresult sim_ipc_open(enum sim_range_kind kind, int fd, uint64_t offset, uint64_t size, CUdeviceptr *dptr);
void sim_ipc_close(struct sim_range *range);

#endif
