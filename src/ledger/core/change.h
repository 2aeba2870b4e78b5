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
	int64_t bytes, born_ns;
	int64_t used, live; /* in use on the device, and in blocks there */
};

/* Instead of a device: a phase ended for tensors on the CPU, whatever devices have settled. */
enum { TARE_PHASE_OVER = -1, TARE_PHASE_ON_CPU = -2 };

/* Where a phase began, at its maximum and where it ended; of a device, beyond what was in use there at the start. */
struct tare_phase_use {
	int64_t before, peak, peak_ns, after;
};

/* A phase began or ended on a device that has settled all before. */
struct tare_phase_change {
	int process, device;
	uint32_t tid;
	uint64_t known; /* the same for repeats of one phase */
	const char *name;
	bool is_end, is_mark;
	bool is_step; /* of training, by its name */
	int64_t begin_ns, t;
	/* Of an end on a device or the CPU, in a fold that keeps a history: */
	uint64_t nth; /* among those of its name, from 1 */
	struct tare_phase_use use;
};

/* training_step.c: is a phase of that name a step of training? */
bool tare_training_is_step(const char *name);

struct tare_phase_changes {
	struct tare_phase_change *items;
	size_t count, cap;
};

#endif
