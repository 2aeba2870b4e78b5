/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SNAPSHOT_SNAPSHOT_H
#define TARE_SNAPSHOT_SNAPSHOT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads a memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot), from its begin to its end and once, and tells
 * what is in it as it comes. Nothing in the file is executed; what asks for that is refused by name. Memory is bounded by
 * what differs (texts, frames, stacks), not by the size of the file.
 *
 *     struct tare_snapshot *s = tare_snapshot_new();
 *     struct tare_snapshot_sink sink = { .arg = …, .event = on_event };
 *
 *     rc = tare_snapshot_read_from(s, &source, &sink, &err);
 *     … tare_snapshot_text(s, id) …
 *     tare_snapshot_delete(s);
 *
 * Texts and stacks have numbers, good until tare_snapshot_delete; 0 is the empty text and the empty stack.
 */
struct tare_snapshot;

enum tare_snapshot_action {
#define X(NAME, TEXT) TARE_SNAPSHOT_##NAME,
#include "snapshot/action.def"
#undef X
	TARE_SNAPSHOT_ACTION_NR /* an action of a later PyTorch */
};

enum tare_snapshot_state { TARE_SNAPSHOT_INACTIVE, TARE_SNAPSHOT_ALLOCATED, TARE_SNAPSHOT_PENDING };

/* Ids of private pools of graphs (a, 0) and of torch.cuda.MemPool (0, b). (0, 0) is the default pool. */
struct tare_snapshot_pool {
	int64_t a, b;
};

/* More than PyTorch can have of GPUs. */
#define TARE_SNAPSHOT_DEVICES 128

struct tare_snapshot_segment {
	uint32_t device;
	bool is_host; /* pinned host memory */
	bool is_small, is_expandable;
	uint64_t address, size;
	uint64_t stream;
	struct tare_snapshot_pool pool;
	uint32_t stack;
	int64_t serial; /* registration_counter; -1: not in the file */
};

struct tare_snapshot_block {
	uint64_t address, size, asked;
	enum tare_snapshot_state state;
	uint32_t stack;
};

struct tare_snapshot_event {
	uint32_t device;
	bool is_host, has_pool, has_stack;
	enum tare_snapshot_action action;
	uint64_t address; /* of TARE_SNAPSHOT_OOM: bytes that the device had free */
	uint64_t size;
	uint64_t stream;
	int64_t time_us; /* since 1970; 0: not in the file */
	struct tare_snapshot_pool pool;
	uint32_t stack;
	uint32_t compile_context, metadata; /* texts */
};

struct tare_snapshot_annotation {
	uint32_t name; /* text */
	bool is_end;
	uint32_t device;
	int64_t time_us;
};

/* allocator_settings. What is not in the file keeps what it had: -1. */
struct tare_snapshot_settings {
	bool is_there;
	uint32_t conf; /* text: PYTORCH_CUDA_ALLOC_CONF */
	int64_t max_split, expandable;
	double gc_threshold;
	bool has_divisions;
	int64_t divisions[16];
	int64_t overflowed, max_entries; /* trace_alloc_overflowed, trace_alloc_max_entries */
};

/* Each may be NULL. A function that does not return 0 ends the reading with that code. */
struct tare_snapshot_sink {
	void *arg;
	int (*segment)(void *arg, const struct tare_snapshot_segment *segment, const struct tare_snapshot_block *blocks,
	               size_t count, struct tare_err *err);
	int (*event)(void *arg, const struct tare_snapshot_event *event, struct tare_err *err);
	int (*annotation)(void *arg, const struct tare_snapshot_annotation *a, struct tare_err *err);
};

/* What a file has besides; all of it is known after the reading. */
struct tare_snapshot_facts {
	uint64_t bytes, segments, events, annotations;
	struct tare_snapshot_settings settings;
	bool has_traces, has_annotations, has_times, has_pools_of_events;
	uint64_t events_without_stack;
	uint64_t lost_texts, lost_stacks; /* of more than is kept */
	/* Values that cannot be what their key says: taken for missing. */
	uint64_t odd, odd_at; /* how many; the byte and the key of the first */
	const char *odd_key;
	uint64_t unknown_actions; /* events of a later PyTorch */
	uint32_t unknown_action;  /* text: of the first */
};

/* Where the bytes come from: how many were read, 0 at the end; negative: an errno, and reading failed. */
struct tare_snapshot_source {
	void *arg;
	int64_t (*read)(void *arg, void *bytes, size_t size);
};

struct tare_snapshot *tare_snapshot_new(void);
void tare_snapshot_delete(struct tare_snapshot *s);
int tare_snapshot_read_from(struct tare_snapshot *s, const struct tare_snapshot_source *source,
                            const struct tare_snapshot_sink *sink, struct tare_err *err);
int tare_snapshot_read_bytes(struct tare_snapshot *s, const void *bytes, size_t size,
                             const struct tare_snapshot_sink *sink, struct tare_err *err);
const struct tare_snapshot_facts *tare_snapshot_facts(const struct tare_snapshot *s);

/* NUL-terminated; may have NUL bytes inside. */
const char *tare_snapshot_text(const struct tare_snapshot *s, uint32_t text);

struct tare_snapshot_frame {
	uint32_t name, file; /* texts */
	int64_t line;
};

/* Frame `at` of a stack, the innermost first. False: there is none. */
bool tare_snapshot_frame(const struct tare_snapshot *s, uint32_t stack, size_t at, struct tare_snapshot_frame *frame);
/* Its number: equal frames have one, and it is less than tare_snapshot_frame_count. pre: it is there. */
uint32_t tare_snapshot_frame_number(const struct tare_snapshot *s, uint32_t stack, size_t at);
size_t tare_snapshot_stack_count(const struct tare_snapshot *s);
size_t tare_snapshot_frame_count(const struct tare_snapshot *s);

#endif
