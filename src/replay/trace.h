/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_REPLAY_TRACE_H
#define TARE_REPLAY_TRACE_H

#include "allocator/allocator.h"
#include "base/err.h"
#include "base/map.h"
#include "base/owned.h"
#include "replay/times.h"
#include "snapshot/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What PyTorch's allocator of each device was asked for, out of a snapshot, in 16 bytes an event; and what the snapshot
 * says of the segments and blocks at its end. A lifetime of a block has a number, its slot: the n-th event MALLOC has
 * slot n, behind those that were there at the begin.
 */
enum tare_trace_kind {
	TARE_TRACE_MALLOC,
	TARE_TRACE_FREE,      /* at once */
	TARE_TRACE_REQUESTED, /* freed, but other streams use it … */
	TARE_TRACE_COMPLETED, /* … until here */
	TARE_TRACE_SEGMENT_ALLOC,
	TARE_TRACE_SEGMENT_FREE,
	TARE_TRACE_MAP,
	TARE_TRACE_UNMAP,
	TARE_TRACE_OOM,
};

/* Fields of an event; see pack.c. */
struct tare_trace_event {
	uint64_t where, what;
};

struct tare_trace_segment {
	uint64_t address, size;
	uint64_t stream; /* handle */
	uint32_t pool;   /* number; 0: default */
	bool is_small, is_expandable;
	int64_t serial;
	bool is_guess; /* freed within the trace: the file does not say its pool */
	size_t first_block, block_count;
};

/* A block that was there before the first event. */
struct tare_trace_start {
	uint64_t address, size, asked;
	uint32_t segment; /* of `starts` */
	uint32_t stack;   /* 0: the file does not say */
	bool is_guess;    /* its size: it was freed within the trace */
	bool is_pending;  /* freed before, and completed within the trace or not at all */
};

/* A block that is freed by event `free`, and can be used again only behind event `until`. */
struct tare_trace_wait {
	size_t free, until;
};

struct tare_trace_device {
	uint32_t device;
	TARE_OWNED struct tare_trace_event *events;
	size_t count, cap;
	uint64_t file_events; /* as the file counts them */
	size_t malloc_count;
	/* At the end, as the file says. */
	TARE_OWNED struct tare_trace_segment *segments;
	size_t segment_count, segment_cap;
	TARE_OWNED struct tare_snapshot_block *blocks;
	size_t block_count, block_cap;
	/* At the begin, as follows from it (start.c). */
	TARE_OWNED struct tare_trace_segment *start_segments;
	size_t start_segment_count, start_segment_cap;
	TARE_OWNED struct tare_trace_start *starts;
	size_t start_count, start_cap;
	/* Address ranges of expandable segments. */
	TARE_OWNED struct tare_trace_segment *reservations;
	size_t reservation_count, reservation_cap;
	TARE_OWNED uint16_t *pools; /* of each event, by number; those behind pool_cap: the default pool */
	size_t pool_cap;
	uint64_t contradictions; /* between the events and the end of the file */
	/* Where they are kept (TARE_TRACE_KEEP_ALL), else nothing: */
	TARE_OWNED struct tare_times times; /* of each event, in µs since 1970; 0: not in the file */
	/* Of a recording, whose frees do not say that another stream still uses the block: in the order of `until` (wait.c). */
	TARE_OWNED struct tare_trace_wait *waits;
	size_t wait_count, wait_cap;
	TARE_OWNED uint64_t *sizes; /* of each MALLOC, what its block takes, as a check of the trace finds out */
};

/* A replay needs the order of events only; what else a file says of them takes another 12 bytes an event. */
enum tare_trace_keep { TARE_TRACE_KEEP_ORDER, TARE_TRACE_KEEP_ALL };

struct tare_trace {
	TARE_OWNED_BY(tare_snapshot_delete) struct tare_snapshot *snapshot;
	TARE_OWNED struct tare_trace_device *devices;
	size_t device_count, device_cap;
	TARE_OWNED uint64_t *streams; /* handles */
	size_t stream_count, stream_cap;
	TARE_OWNED struct tare_snapshot_pool *pools; /* [0] is the default pool */
	size_t pool_count, pool_cap;
	TARE_OWNED struct tare_map pool_numbers; /* by id: both parts of one are below 2^32 */
	TARE_OWNED uint64_t *highs;              /* upper parts of addresses */
	size_t high_count, high_cap;
	bool has_events_of_pools, has_completed;
	enum tare_trace_keep keep;
	TARE_OWNED struct tare_snapshot_annotation *annotations; /* where they are kept */
	size_t annotation_count, annotation_cap;
	uint64_t host_segments, host_events; /* of pinned host memory: left out */
	/* Of a recording, which has no snapshot: */
	bool is_recording;
	bool is_simulated;       /* of a card that was not there */
	bool finds_waits;        /* how long blocks waited for other streams is looked for, which takes time */
	TARE_OWNED char *conf;   /* PYTORCH_CUDA_ALLOC_CONF; NULL: not set, or not known */
	TARE_OWNED char **lines; /* "train.py:87 step"; a stack is 1 + its place here */
	size_t line_count, line_cap;
};

/* Of a recording the number of a device is process × this + GPU. */
#define TARE_TRACE_DEVICES 64

int tare_trace_load_from(struct tare_trace *t, const struct tare_snapshot_source *source, enum tare_trace_keep keep,
                         struct tare_err *err);
int tare_trace_load_bytes(struct tare_trace *t, const void *bytes, size_t size, struct tare_err *err);
TARE_FREES(tare_trace_free, tare_trace);

/* start.c: what was there before the first event; slots of frees; pools of events. */
void tare_trace_find_start(struct tare_trace *t, struct tare_trace_device *d);
/* The sizes of blocks that were there and were freed since: PyTorch does not write them down. */
void tare_trace_guess_sizes(struct tare_trace_device *d, const struct tare_alloc_settings *settings,
                            const struct tare_alloc_rules *rules);

struct tare_trace_start **tare_trace_sorted_starts(const struct tare_trace_device *d); /* caller frees */

/* ranges.c: segments in the order of addresses */
struct tare_trace_ranges {
	TARE_OWNED struct tare_trace_segment *items;
	size_t count, cap;
};

TARE_FREES(tare_ranges_free, tare_trace_ranges);

struct tare_trace_segment *tare_ranges_find(const struct tare_trace_ranges *r, uint64_t address);
void tare_ranges_add(struct tare_trace_ranges *r, const struct tare_trace_segment *segment);
/* What lies side by side in one expandable segment with what is at `address` becomes one, as a snapshot has it. */
void tare_ranges_join(struct tare_trace_ranges *r, uint64_t address);
/* A part of one, or the whole; false: it was not all there. `out` may be NULL: what it was a part of. */
bool tare_ranges_cut(struct tare_trace_ranges *r, uint64_t address, uint64_t size, struct tare_trace_segment *out);
/* What lies side by side, in address ranges of expandable segments: one for each reservation. */
void tare_trace_find_reservations(struct tare_trace *t, struct tare_trace_device *d);
struct tare_trace_segment *tare_trace_reservation(const struct tare_trace_device *d, uint64_t address);

/*
 * pack.c: a trace of something else than a file. Between begin and end events are added in their order, and the segments of the end.
 * tare_trace_end frees the trace where rc is not 0, which it returns.
 */
void tare_trace_begin(struct tare_trace *t);
int tare_trace_end(struct tare_trace *t, int rc);
int tare_trace_add_segment(struct tare_trace *t, const struct tare_snapshot_segment *segment,
                           const struct tare_snapshot_block *blocks, size_t count, struct tare_err *err);
uint32_t tare_trace_add_line(struct tare_trace *t, const char *file, uint32_t line, const char *function);
int tare_trace_add(struct tare_trace *t, const struct tare_snapshot_event *event, struct tare_err *err);

void tare_trace_set_pool(struct tare_trace_device *d, size_t event, uint32_t pool);
static inline uint32_t tare_trace_pool(const struct tare_trace_device *d, size_t event)
{
	return event < d->pool_cap ? d->pools[event] : 0;
}

#define TARE_TRACE_EXPLICIT 1u /* flag of the first event of a release: the program called empty_cache() */

/* While a replay is compared: whether that is guessed the other way round, and whether it was tried in vain. */
#define TARE_TRACE_FLIPPED 2u
#define TARE_TRACE_TRIED   4u

static inline void tare_trace_set_flags(struct tare_trace_event *e, unsigned set, unsigned clear)
{
	e->where = (e->where | (uint64_t)set << 60) & ~((uint64_t)clear << 60);
}

static inline enum tare_trace_kind tare_trace_kind(const struct tare_trace_event *e)
{
	return (enum tare_trace_kind)(e->where >> 56 & 15);
}

static inline void tare_trace_set_kind(struct tare_trace_event *e, enum tare_trace_kind kind)
{
	e->where = (e->where & ~(15ull << 56)) | (uint64_t)kind << 56;
}

static inline unsigned tare_trace_stream(const struct tare_trace_event *e)
{
	return e->where >> 48 & 255;
}

static inline unsigned tare_trace_flags(const struct tare_trace_event *e)
{
	return (unsigned)(e->where >> 60);
}

static inline uint64_t tare_trace_address(const struct tare_trace *t, const struct tare_trace_event *e)
{
	return t->highs[e->where >> 40 & 255] | (e->where & ((1ull << 40) - 1));
}

static inline uint64_t tare_trace_size(const struct tare_trace_event *e)
{
	return e->what & ((1ull << 40) - 1);
}

static inline uint32_t tare_trace_stack(const struct tare_trace_event *e)
{
	return (uint32_t)(e->what >> 40);
}

/* Of frees, after tare_trace_find_start; TARE_TRACE_NO_SLOT: of a block that nothing is known of. */
#define TARE_TRACE_NO_SLOT UINT32_MAX
static inline uint32_t tare_trace_slot(const struct tare_trace_event *e)
{
	return (uint32_t)e->what;
}

static inline bool tare_trace_is_driver(enum tare_trace_kind kind)
{
	return kind >= TARE_TRACE_SEGMENT_ALLOC && kind <= TARE_TRACE_UNMAP;
}

static inline bool tare_trace_is_release(enum tare_trace_kind kind)
{
	return kind == TARE_TRACE_SEGMENT_FREE || kind == TARE_TRACE_UNMAP;
}

#endif
