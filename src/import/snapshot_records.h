/* SPDX-License-Identifier: Apache-2.0 */
/* A memory snapshot of PyTorch as records: lines of code, what is there at a moment, and its events in order of time. */
#ifndef TARE_IMPORT_SNAPSHOT_RECORDS_H
#define TARE_IMPORT_SNAPSHOT_RECORDS_H

#include "base/map.h"
#include "base/owned.h"
#include "import/import_reader.h"
#include "replay/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- snapshot_lines.c: stacks of a snapshot as stacks of lines ---- */

struct tare_snapshot_lines {
	const struct tare_snapshot *snapshot;
	struct tare_import_out *out;
	TARE_OWNED uint8_t *stacks; /* by number: what is known of it */
	TARE_OWNED bool *frames;    /* by number: it is written */
	bool has_none;
};

void tare_snapshot_lines_begin(struct tare_snapshot_lines *l, const struct tare_snapshot *snapshot,
                               struct tare_import_out *out);
TARE_FREES(tare_snapshot_lines_end, tare_snapshot_lines);
/* The id of its line_stack record; 0: it has no lines. */
uint32_t tare_snapshot_lines_of(struct tare_snapshot_lines *l, uint32_t stack);
/* … of what says that the file has no line. */
uint32_t tare_snapshot_lines_of_none(struct tare_snapshot_lines *l);
/* Is it one of autograd's threads, which run no Python? Only stacks with C++ frames say so. */
bool tare_snapshot_lines_are_backward(struct tare_snapshot_lines *l, uint32_t stack);

/* ---- snapshot_world.c: what is there, and the records that change it ---- */

struct tare_snapshot_world;

/* One GPU of it. */
struct tare_snapshot_gpu {
	struct tare_snapshot_world *world;
	const struct tare_trace_device *trace;
	int device;             /* ordinal in the recording */
	struct tare_map blocks; /* address → bytes */
	struct tare_map pieces; /* of segments: address → tare_snapshot_piece_word() */
	uint64_t allocated, reserved;
	uint32_t pool;     /* private pool whose graph is being captured; 0: none */
	uint64_t captured; /* … on this stream */
	uint64_t stream;   /* said last */
	uint64_t small_granule, large_granule;
};

static inline uint64_t tare_snapshot_piece_word(uint64_t bytes, bool is_expandable)
{
	return bytes << 1 | is_expandable;
}

struct tare_snapshot_world {
	struct tare_import_out *out;
	const struct tare_trace *trace;
	struct tare_snapshot_lines lines;
	struct tare_snapshot_gpu *gpus; /* as many as the trace has devices */
	int64_t now_ns;
	uint64_t graphs, lineless; /* lineless: blocks without any line */
};

void tare_snapshot_world_begin(struct tare_snapshot_world *w, const struct tare_trace *trace,
                               struct tare_import_out *out);
void tare_snapshot_world_end(struct tare_snapshot_world *w);

void tare_snapshot_world_block(struct tare_snapshot_gpu *g, uint64_t address, uint64_t bytes, uint64_t stream,
                               uint32_t stack);
void tare_snapshot_world_block_gone(struct tare_snapshot_gpu *g, uint64_t address);
/* A segment, or a part of an expandable one, which is told piece by piece. */
void tare_snapshot_world_segment(struct tare_snapshot_gpu *g, const struct tare_trace_segment *s, uint32_t stack);
void tare_snapshot_world_segment_gone(struct tare_snapshot_gpu *g, const struct tare_trace_segment *s);
void tare_snapshot_world_piece_gone(struct tare_snapshot_gpu *g, uint64_t at);
/* The next piece of a segment behind `at`, which begins as its address; its bytes, 0: there is none. */
uint64_t tare_snapshot_world_piece(const struct tare_snapshot_gpu *g, const struct tare_trace_segment *s, uint64_t at);
/* Requests are for this pool from here on: those for the private pool of a graph are made while it is captured. */
void tare_snapshot_world_enter_pool(struct tare_snapshot_gpu *g, uint32_t pool, uint64_t stream);
/* `left`: bytes that the device had. */
void tare_snapshot_world_out_of_memory(struct tare_snapshot_gpu *g, uint64_t asked, uint64_t left, uint32_t stack);
void tare_snapshot_world_annotate(struct tare_snapshot_world *w, enum tare_phase_what what, const char *name,
                                  uint64_t id);

/* ---- snapshot_records.c ---- */

struct tare_snapshot_told {
	uint64_t corrected; /* at the end: what did not follow from the events */
	uint64_t graphs, lineless;
};

/* pre: the trace was checked, so the sizes of its blocks are known. */
void tare_snapshot_tell(const struct tare_trace *trace, struct tare_import_out *out, struct tare_snapshot_told *told);

#endif
