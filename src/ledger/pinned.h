/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned memory of a process: rule "pinned memory". */
#ifndef TARE_LEDGER_PINNED_H
#define TARE_LEDGER_PINNED_H

#include <stdint.h>

/*
 * Memory of the host that the driver locked (cuMemHostAlloc, cuMemHostRegister). An allocator that rounds up, as PyTorch's does to a power
 * of two, does not tell what it was asked for: that is known of the blocks in which a look through the program's objects found a tensor.
 */
struct tare_pinned {
	int64_t bytes, count;  /* blocks that the driver gave or locked */
	int64_t looked, asked; /* of that, what is known of what was asked for, and how much that was */
};

struct tare_pinned_line {
	const char *line, *short_line; /* NULL: not known */
	struct tare_pinned of;
};

#endif
