/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TESTS_UNIT_LEDGER_WORLD_H
#define TARE_TESTS_UNIT_LEDGER_WORLD_H

#include "ledger/build.h"

#define MIB (INT64_C(1) << 20)
#define MS  INT64_C(1000000)

/*
 * A hand-written recording: processes, devices and a list of events, in any order; the fold gets
 * them in the order of their stamps, as from a reader. Process 0 and device 0 are there from the
 * start. Device 0 is an H200 in size: 132 multiprocessors of 2048 threads.
 */
struct world;
struct world *world_new(void);
void world_free(struct world *w);

/* Return the index to use in calls. */
int world_process(struct world *w, uint32_t pid, uint32_t generation, const char *program);
int world_device(struct world *w);
struct tare_process *world_process_at(struct world *w, int process);
struct tare_device *world_device_at(struct world *w, int device);

struct world_call {
	int process, device; /* device -1: none */
	uint32_t tid;
	enum tare_class class;
	enum tare_effect effect;
	int64_t begin, end; /* ns */
	uint64_t handle, context, parent, asked, granted, local, limit;
	uint32_t flags;
	bool weigh; /* before and after are readings, bytes */
	int64_t before, after;
	int64_t reading_before, reading_after; /* how long they took, ns; 0: not told */
	bool peers;                            /* so are these */
	int64_t peers_before, peers_after;
	const char *owner; /* an object on the stack */
	const char *name;  /* of the function */
	const char *file;  /* of a Python stack of two lines, called by main.py:1; NULL: none */
	uint32_t line;
};
void world_call(struct world *w, struct world_call call);
#define CALL(W, ...) world_call(W, (struct world_call){ __VA_ARGS__ })

struct world_pool {
	int process, device;
	uint32_t tid, number;
	int64_t begin, end; /* ns */
	uint64_t handle;
	int64_t reserved, used;
};
void world_pool(struct world *w, struct world_pool pool);
#define POOL(W, ...) world_pool(W, (struct world_pool){ __VA_ARGS__ })

void world_exit(struct world *w, int process, int64_t t); /* `tare` saw that it was over */
/* As the recorder reads, which says what of it others have; TARE_NOT_KNOWN: as `tare` does. */
void world_reading_told(struct world *w, int device, int64_t t, int64_t used, enum tare_source source, uint64_t peers);
static inline void world_reading_of(struct world *w, int device, int64_t t, int64_t used, enum tare_source source)
{
	world_reading_told(w, device, t, used, source, TARE_NOT_KNOWN);
}
static inline void world_reading(struct world *w, int device, int64_t t, int64_t used)
{
	world_reading_told(w, device, t, used, TARE_SOURCE_NVML2, TARE_NOT_KNOWN);
}
static inline void world_reading_peers(struct world *w, int64_t t, int64_t used, int64_t peers)
{
	world_reading_told(w, 0, t, used, TARE_SOURCE_NVML2, (uint64_t)peers);
}
/* It was taken some time between `from` and t. */
void world_reading_since(struct world *w, int device, int64_t from, int64_t t, int64_t used);
void world_peer(struct world *w, int device, int64_t t, uint32_t list, uint32_t pid, int64_t used, const char *name);
/* A block of PyTorch's allocator: handed out, or with 0 bytes taken back. */
void world_tensor(struct world *w, int64_t t, uint64_t block, int64_t bytes);
void world_tensor_at(struct world *w, int64_t t, uint64_t block, int64_t bytes, const char *file, uint32_t line);
/* … of the CPU's memory, with flags besides TARE_TENSOR_HOST. */
void world_host_tensor(struct world *w, int process, int64_t t, uint64_t block, int64_t bytes, unsigned int flags);
/* Host memory that became resident in a call at that line. */
void world_rss(struct world *w, int process, int64_t t, int64_t anon, int64_t file, const char *name, uint32_t line);
void world_tensor_collected(struct world *w, int64_t t, uint64_t block); /* by Python's cyclic collector */
/* The same with the Python stack that it was made at, innermost frame first. */
enum { WORLD_FRAMES = 6 };
struct world_block {
	int process;
	bool is_host;
	int64_t t, bytes;
	uint64_t block;
	uint32_t tid;
	unsigned int flags; /* enum tare_tensor_flag */
	struct tare_line frames[WORLD_FRAMES];
};
void world_block(struct world *w, struct world_block block);
void world_probe(struct world *w, int64_t t, enum tare_scanned_role role, uint64_t at, uint64_t of, const char *name,
                 unsigned int flags);
/* A tensor that a variable keeps: "int8 [2053, 1089536]". */
void world_probe_shape(struct world *w, int64_t t, uint64_t at, const char *shape);
void world_sweep(struct world *w, int64_t t, unsigned int flags);
/* A module of PyTorch that a thread is inside of; thread 0: that a look through the objects finds. */
void world_module(struct world *w, int64_t t, uint32_t tid, uint64_t at, const char *class);
void world_tensor_of_backward(struct world *w, int64_t t, uint64_t block, int64_t bytes);
void world_tensor_of_teardown(struct world *w, int64_t t, uint64_t block);
/* PyTorch's allocator of process 0 on device 0 says what it has. */
void world_self_report(struct world *w, int64_t t, int64_t allocated, int64_t reserved, int64_t requested);
/* A STREAM record of process 0: of a thread on device 0, or any. */
void world_stream(struct world *w, int64_t t, uint32_t tid, uint64_t id, unsigned int ids);
void world_stream_of(struct world *w, int64_t t, int device, struct tare_rec_stream rec);
/* Of the heap, asked for at a line (file NULL: none); `device` stands for it. */
void world_heap_block(struct world *w, int process, int device, int64_t t, const struct tare_rec_heap_block *rec,
                      const char *file, uint32_t line);
void world_heap_freed(struct world *w, int process, int device, int64_t t, uint64_t block, unsigned int flags);
void world_heap_unmapped(struct world *w, int process, int device, int64_t t, uint64_t begin, uint64_t bytes,
                         enum tare_heap_goes how);
/* PyTorch's allocator gives up on a block. */
/* Which file the next block of this address is in. */
void world_mapped_file(struct world *w, int process, int64_t t, uint64_t block, uint64_t inode);
void world_cpu_oom(struct world *w, int process, int64_t t, uint64_t asked, int64_t available, uint64_t room);
void world_oom(struct world *w, int64_t t, uint64_t asked, uint64_t allocated, uint64_t reserved);
/* … in the log of another `tare` that sees the same device. */
void world_peer_of(struct world *w, int witness, int device, int64_t t, uint32_t list, uint32_t pid, int64_t used);
void world_graph(struct world *w, int process, int64_t t, const struct tare_rec_graph *rec);
void world_mempool(struct world *w, int process, int64_t t, uint64_t object, uint64_t first, uint64_t second);
void world_end_with(struct world *w, int process, int64_t t, uint64_t most_resident);
void world_end(struct world *w, int process, int64_t t);
void world_host(struct world *w, int process, int64_t t, int64_t anon);
void world_control(struct world *w, int64_t t, enum tare_act what, uint32_t number);
/* Records of a process that were given up, told at t. */
void world_lost_of(struct world *w, int process, int64_t t, uint32_t tid, uint32_t reason);
/* A part of its log cannot be read. */
void world_damage(struct world *w, int process, int64_t from, int64_t to);
void world_lost(struct world *w, int process, int64_t t, int64_t first, int64_t last, uint64_t records);
void world_degraded(struct world *w, int64_t t, const char *text);

/* A PHASE record; pop and end have no name. `id` is of ranges. */
struct world_phase {
	int process;
	uint32_t tid;
	enum tare_phase_what what;
	int64_t t;
	const char *name, *domain;
	uint64_t id;
};
void world_phase(struct world *w, struct world_phase phase);
#define PHASE(W, ...) world_phase(W, (struct world_phase){ __VA_ARGS__ })
/* By its path; fails the test where there is none. */
const struct tare_phase_row *world_phase_row(const struct tare_ledger *l, const char *path);

/* Folds it to one instant ("peak", "end", "12ms"); checks that the books balance. */
struct tare_ledger world_ledger(struct world *w, const char *at);
void world_build_at(struct world *w, const struct tare_instant *at, struct tare_ledger *out);
void world_build(struct world *w, const struct tare_ledger_opts *opts, const char *const *at, int at_nr,
                 struct tare_ledger *out);

/*
 * Folds the world up to some moments, saves the states, and checks that peak and end come out the same from each of
 * them and the rest; ledger_world_state.c. world_ledger() does that too.
 */
void world_check_states(struct world *w, int cuts);
/* How often what became of the blocks of a moment was not to be had without reading past the state behind it. */
int world_reached_further(void);

size_t world_event_nr(struct world *w);
const struct tare_event *world_event(struct world *w, size_t i); /* in order of time */
int world_process_nr(const struct world *w);
int world_device_nr(const struct world *w);
/* Of the state at `until`, and the rest. */
struct tare_ledger world_ledger_from_state(struct world *w, int64_t until, const char *at);

/* What a picture shows of the world: the same as the ledger. world_ledger() does that too. */
void world_check_history(struct world *w);

/* The row of a path on a device, or NULL; its bytes, failing the test where there is none. */
const struct tare_row *world_row(const struct tare_ledger *l, int device, const char *path);
int64_t world_bytes(const struct tare_ledger *l, int device, const char *path);

/* What the function of `owner` is called that its stacks show; owners in the order of their first calls. */
void world_symbol(struct world *w, const char *owner, const char *name);
bool world_has_note(const struct tare_ledger *l, const char *part);

/* Law 1 and the sums of parents, on every device. */
void world_check_balance(const struct tare_ledger *l);
void world_check_categories(const struct tare_ledger *l); /* its part about what tensors are for */

/* ledger_world_calls.c: 100 MiB in use, cuInit +3, context 0xc0 +523. */
struct world *world_started(void);
/* A cuMemAlloc of `bytes` at `address`, and its end: weighed, changing the device by `change`. */
void world_alloc(struct world *w, int64_t t, uint64_t address, uint64_t bytes, int64_t before, int64_t change);
void world_release(struct world *w, int64_t t, uint64_t address, int64_t before, int64_t change);
/* What a program with PyTorch begins with: 100 MiB in use, context 0xc0 +500. Then a segment of its allocator. */
#define WORLD_C10_CUDA "/site-packages/torch/lib/libc10_cuda.so"
void world_torch_context(struct world *w);
void world_segment(struct world *w, int64_t t, uint64_t at, int64_t size, int64_t before);

/* ledger_world_same.c: of the whole recording, and from a state and the rest. */
void world_check_same(const struct tare_ledger *whole, const struct tare_ledger *part);
void world_check_host_lines(const struct tare_ledger *l);

/* Two segments of 20 MiB: 12 + 4 MiB of blocks in the first, none in the second. */
struct world *world_torch_pool(void);

#endif
