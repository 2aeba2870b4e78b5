/* SPDX-License-Identifier: Apache-2.0 */
/* What PyTorch's allocators did up to the moment that is shown: each block and each segment by its address. */
#ifndef TARE_EXPORT_BLOCKS_H
#define TARE_EXPORT_BLOCKS_H

#include "base/arena.h"
#include "base/map.h"
#include "ledger/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The last so many are kept, at most twice as many: PyTorch's page hides entries beyond 600,000, and a free has two. */
enum { TARE_EXPORT_EVENTS_MAX = 150000 };

enum tare_block_action {
	TARE_BLOCK_ALLOC,
	TARE_BLOCK_FREE,
	TARE_BLOCK_SEGMENT_ALLOC,
	TARE_BLOCK_SEGMENT_FREE,
	TARE_BLOCK_SEGMENT_MAP,
	TARE_BLOCK_SEGMENT_UNMAP,
};

struct tare_block_event {
	enum tare_block_action action;
	int device; /* place in the ledger's */
	int64_t pid, t_ns;
	uint64_t address, size;
	const struct tare_block_stack *stack; /* a free has that of what is freed; NULL: not known */
};

/* As a program has it, the innermost first. */
struct tare_block_frame {
	const char *function, *file;
	uint32_t line;
};

struct tare_block_stack {
	uint64_t number; /* from 0, in the order in which they came */
	const struct tare_block_frame *frames;
	uint32_t nr;
};

/* A block that is live at the moment. */
struct tare_export_block {
	int device;
	int64_t pid;
	uint64_t address, size;
	const struct tare_block_stack *stack;
};

struct tare_export_blocks {
	struct tare_block_event *events;
	size_t nr, cap, dropped;        /* dropped: earlier ones that are not kept */
	struct tare_export_block *live; /* by device, process and address */
	size_t live_nr;
	struct tare_arena arena;
};

struct tare_recording;

/* Reads a recording that is at its begin up to the moment of each device of the ledger. */
void tare_export_blocks_read(struct tare_export_blocks *out, struct tare_recording *recording,
                             const struct tare_ledger *ledger);
void tare_export_blocks_free(struct tare_export_blocks *blocks);

#endif
