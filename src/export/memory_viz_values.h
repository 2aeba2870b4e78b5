/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a memory snapshot is made of. */
#ifndef TARE_EXPORT_MEMORY_VIZ_VALUES_H
#define TARE_EXPORT_MEMORY_VIZ_VALUES_H

#include "export/blocks.h"
#include "export/export.h"
#include "export/pickler.h"

enum { TARE_VIZ_PROCESSES = 64 };

struct tare_viz {
	struct tare_pickler p;
	const struct tare_export *x;
	struct tare_map stacks; /* number of a stack → number in the pickle */
	int64_t pids[TARE_VIZ_PROCESSES];
	int pid_nr;
	uint64_t next_row; /* address */
	int64_t pool;      /* bytes in the segments of the device */
	uint64_t astray;   /* live blocks in no segment */
};

void tare_viz_key_uint(struct tare_viz *w, const char *key, uint64_t value);
void tare_viz_key_text(struct tare_viz *w, const char *key, const char *value);

/* Of a process: its first one's addresses are as they are, of further ones, whose addresses may be the same, the highest bits differ. */
uint64_t tare_viz_address_of(struct tare_viz *w, int64_t pid, uint64_t address);

/* As PyTorch numbers it. Of several machines the numbers are those of the ledger, as each has a GPU 0. */
int tare_viz_number_of(const struct tare_export *x, int device);
bool tare_viz_is_shown(const struct tare_export *x, int device);

void tare_viz_add_frame(struct tare_viz *w, const char *function, const char *file, uint32_t line);
/* The key and the list, which stands once for each stack. */
void tare_viz_add_stack(struct tare_viz *w, const struct tare_block_stack *stack);

#endif
