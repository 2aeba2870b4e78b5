/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SNAPSHOT_INTERN_H
#define TARE_SNAPSHOT_INTERN_H

#include "base/owned.h"
#include "snapshot/snapshot.h"

/*
 * What a snapshot says again and again, kept once: texts, frames (texts and a line) and stacks (frames). What goes
 * beyond TARE_INTERN_TEXTS or TARE_INTERN_STACKS bytes is not kept, and counted.
 */
#define TARE_INTERN_TEXTS  (32u << 20)
#define TARE_INTERN_STACKS (32u << 20)

struct tare_intern_table {
	TARE_OWNED uint32_t *slots; /* number + 1; 0: free */
	size_t cap, count;
};

struct tare_intern_text {
	uint32_t at, len, hash;
};

struct tare_intern_stack {
	uint32_t at, count, hash;
};

struct tare_intern {
	TARE_OWNED char *bytes;
	size_t byte_count, byte_cap;
	TARE_OWNED struct tare_intern_text *texts;
	size_t text_count, text_cap;
	TARE_OWNED struct tare_snapshot_frame *frames;
	size_t frame_count, frame_cap;
	TARE_OWNED uint32_t *stack_frames;
	size_t stack_frame_count, stack_frame_cap;
	TARE_OWNED struct tare_intern_stack *stacks;
	size_t stack_count, stack_cap;
	TARE_OWNED struct tare_intern_table text_table, frame_table, stack_table;
	uint64_t lost_texts, lost_stacks;
};

void tare_intern_init(struct tare_intern *in); /* text, frame and stack 0 are the empty ones */
TARE_FREES(tare_intern_free, tare_intern);
uint32_t tare_intern_text(struct tare_intern *in, const void *bytes, size_t len);
uint32_t tare_intern_frame(struct tare_intern *in, const struct tare_snapshot_frame *frame);
uint32_t tare_intern_stack(struct tare_intern *in, const uint32_t *frames, size_t count);

#endif
