/* SPDX-License-Identifier: Apache-2.0 */
/* What has settled, as it is told to the parts that take it. A part that finds something out says so in one of these. */
#ifndef TARE_LEDGER_CORE_CHANGE_H
#define TARE_LEDGER_CORE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a thread of the program is at, as its tensors tell. */
enum tare_work_kind { TARE_WORK_OTHER, TARE_WORK_FORWARD, TARE_WORK_BACKWARD, TARE_WORK_OPTIMIZER };

/* A block was handed out: by whom, and what that thread was at. */
struct tare_block_change {
	int process, device;         /* device -1: in the memory of the CPU */
	uint32_t tid;                /* the thread that it was handed out to */
	uint8_t work;                /* enum tare_work_kind: what that thread is at */
	uint32_t section, backwards; /* pieces of work, and backward passes, that it has begun */
	uint16_t flags;              /* enum tare_tensor_flag */
	uint32_t site;
	int64_t bytes, born_ns; /* born_ns -1: before what a checkpoint replaced */
	int64_t used, live;     /* in use on the device, and in blocks there */
};

/* A phase began or ended on a device that has settled all before; or it ended, and when it had begun (device -1). */
struct tare_phase_change {
	int process, device;
	uint32_t tid;
	uint64_t known; /* the same for repeats of one phase */
	const char *name;
	bool is_end, is_mark;
	int64_t begin_ns, t;
};

struct tare_phase_changes {
	struct tare_phase_change *items;
	size_t count, cap;
};

#endif
