/* SPDX-License-Identifier: Apache-2.0 */
/* How the samples of a device are made: a stack is begun, frames are pushed, then it gets its sizes. */
#ifndef TARE_EXPORT_BUILDER_H
#define TARE_EXPORT_BUILDER_H

#include "export/export.h"

struct tare_builder {
	struct tare_export_stacks *s;
	const struct tare_device_ledger *d;
	size_t first;                /* of its samples */
	struct tare_strmap by_stack; /* of its samples: 1 + which */
	bool is_of_pool;             /* what is added now */
	uint32_t *frames;
	size_t nr, cap;
};

/* What follows begins with the name of the device. */
void tare_builder_begin(struct tare_builder *b);
void tare_builder_push(struct tare_builder *b, const char *text, size_t len, bool is_row);
void tare_builder_row(struct tare_builder *b, const struct tare_row *row); /* those around it first */
void tare_builder_line(struct tare_builder *b, const struct tare_ledger_line *line);
/* Sizes of the stack that was begun, besides those that it has. */
void tare_builder_add(struct tare_builder *b, int64_t pid, enum tare_evidence evidence,
                      const struct tare_blocks_ledger *sizes);

/* When all were added: puts them in order, and those beyond TARE_EXPORT_STACKS_MAX into one. */
void tare_builder_keep_largest(struct tare_builder *b);

#endif
