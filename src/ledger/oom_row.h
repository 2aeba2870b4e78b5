/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_OOM_ROW_H
#define TARE_LEDGER_OOM_ROW_H

#include <stdbool.h>
#include <stdint.h>

/* Where memory ran out: which memory would have been enough. */
enum tare_oom_verdict {
	TARE_OOM_LIMIT,      /* the driver was not asked: the program limits itself */
	TARE_OOM_FRAGMENTED, /* what is stuck in segments, with what is free: but it is in pieces */
	TARE_OOM_FULL,       /* the same, but that is next to nothing of what live tensors have */
	TARE_OOM_ELASTIC,    /* with what its process could give back */
	TARE_OOM_PIECES,     /* as much was free, by the driver's own count */
	TARE_OOM_OTHERS,     /* with what other processes have */
	TARE_OOM_NEED,       /* none: more is needed than there is */
	TARE_OOM_OVERCOMMIT, /* of the CPU: as much was available, but the system does not promise it */
};

/* A moment at which memory ran out: the first of one line, with what there was then. */
struct tare_oom {
	int number; /* from 1, as --at oom#N has it */
	int device; /* as tare_device_ledger.index; -1: the CPU */
	int64_t t_ns, pid, generation;
	const char *program;
	/* PyTorch gave up; else the driver refused a call of another library */
	bool is_torch;
	const char *api, *owner; /* of the refused call; NULL: not known */
	const char *source, *short_source;
	uint64_t count;
	uint64_t asked;               /* bytes that the program asked for */
	uint64_t segment;             /* bytes that the driver was asked for; 0: it was not asked */
	uint64_t allocated, reserved; /* as PyTorch counts; TARE_NOT_KNOWN */
	uint64_t free;                /* TARE_NOT_KNOWN without a counter */
	int64_t elastic, stuck, held; /* memory of the process */
	int64_t others;               /* memory of the other processes; of the CPU, their tensors */
	uint64_t room;                /* of the CPU: what ulimit -v left; TARE_NOT_KNOWN: no limit */
	enum tare_oom_verdict verdict;
};

#endif
