/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of a recording at an instant. What views read, and all they read.
 *
 * Law 1: for every device, used = sum of the leaves + unexplained. `unexplained` is the difference
 * and nothing else: no row is ever adjusted to make it smaller.
 */
#ifndef TARE_LEDGER_LEDGER_H
#define TARE_LEDGER_LEDGER_H

#include "ledger/finding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One row of the tree. Rows stand in display order: a parent before its children. `bytes` of a
 * parent is the sum of its children; only leaves count towards the sum of the device.
 */
struct tare_row {
	const char *path; /* "process:431/context"; '/' inside a name is escaped as "%2F" */
	const char *label;
	int parent; /* index into rows, -1: directly below the device */
	int depth;
	bool leaf;
	enum tare_account account;
	enum tare_evidence evidence; /* of a parent: the weakest of its children */
	bool elastic;
	bool contended; /* shared an interval with another unknown: bytes lies in low..high */
	int64_t bytes, low, high;
	uint64_t count;     /* objects or calls behind it */
	uint64_t driver_ns; /* time the program spent in the driver for it, so far */
	int64_t pid;        /* -1: no process */
	int64_t generation; /* exec generation; 0 for most */
	int64_t rank;       /* -1: none */
	int rank_at;        /* index into the ledger's ranks, -1: none */
};

/*
 * What one place in the program holds: the leaves once more, taken apart by where they were asked for.
 * `bytes` of all lines sum to the bytes of all leaves.
 */
struct tare_ledger_line {
	const char *label; /* "/home/me/train.py:87 in forward", "step+0x4f in solver", "no line" */
	const char *stack; /* the same of every frame, innermost first, " < " between; else the label */
	const char *short_label, *short_stack; /* without folders: may be those of several lines */
	const char *file;   /* of the Python line; NULL: it is none */
	const char *function;
	uint32_t line; /* 0: not known */
	int64_t pid;   /* -1: no process */
	int64_t bytes, low, high;
	uint64_t count, driver_ns;
	enum tare_evidence evidence;
};

/* The smaller card that a device stood for (--vram, --card). */
struct tare_card_ledger {
	bool is_there;
	bool has_profile; /* a context and local memory count as on that card */
	const char *name; /* of the profile's GPU; "": --vram */
	uint64_t total, reserved; /* programs have total - reserved */
	uint64_t used; /* what counts on it at this instant */
	uint64_t context; /* has_profile: what one takes there */
	uint32_t multiprocessors, threads_per_multiprocessor;
};

/* Calls that it had no room for, by caller and entry point; of the whole recording. */
struct tare_refusal {
	const char *api, *owner; /* owner NULL: not known */
	uint64_t count;
	uint64_t largest, missing; /* what the largest needed, and how much of that was not there */
	int64_t first_ns;
};

struct tare_device_ledger {
	int index; /* NVML's, else the program's */
	const char *host; /* it stands in, where a recording is of several; else NULL */
	const char *name;
	char uuid[48];            /* "GPU-xxxxxxxx-…" */
	uint64_t total, reserved; /* TARE_NOT_KNOWN where nobody says */
	uint64_t used;
	uint64_t used_start; /* before the recording began */
	int64_t elastic;     /* sum of elastic leaves */
	int64_t unexplained;
	int64_t t_ns; /* instant of this device's rows, since the start of the recording */
	int64_t peak_t_ns;
	uint64_t peak_used;
	enum tare_evidence
		used_by; /* WEIGHED: NVML or the driver's counter; INFERRED: no counter */
	bool nvml, integrated, simulated;
	struct tare_row *rows;
	int row_nr;
	struct tare_finding *findings; /* what can be done about it, the largest saving first */
	int finding_nr;
	struct tare_ledger_line *lines; /* in no order that means anything */
	int line_nr;
	struct tare_card_ledger card;
	struct tare_refusal *refusals; /* the largest first */
	int refusal_nr;
};

struct tare_host_ledger {
	int64_t pid, generation;
	const char *name;
	uint64_t pss, rss, anon, file, shmem, swap, peak_rss; /* TARE_NOT_KNOWN where not read */
	uint64_t pinned, registered;                          /* asked for through the driver */
};

enum tare_rank_end {
	TARE_RANK_RUNS,   /* it had not ended when the recording was read */
	TARE_RANK_EXITED, /* `code` is its exit code, -1: not known */
	TARE_RANK_SIGNAL, /* `code` is the signal */
	TARE_RANK_KILLED, /* it stopped without a word, and nobody saw by which signal */
};

/* A rank of a distributed job: one process and its children. The same at every instant. */
struct tare_rank_ledger {
	int rank, local, world, attempt; /* local, world: -1 where not known */
	const char *job, *launcher, *host;
	int64_t pid;              /* of its first process */
	int process_nr;           /* that used a GPU */
	int64_t first_ns, end_ns; /* when it began and ended; the last that was heard of a killed one */
	enum tare_rank_end end;
	int code;
	bool is_failed; /* exit code not 0, a signal, killed */
	bool is_oom;    /* killed, and the OOM killer was at work */
	bool is_first;  /* the first of its job to fail */
};

/*
 * One phase of the program, its repeats together; one inside another has that as its parent. What a
 * phase changed is what the device changed while it was open, whoever did it.
 */
struct tare_phase_part {
	enum tare_account account;
	int64_t bytes; /* change */
};

struct tare_phase_on_device {
	int index;                       /* as of the tare_device_ledger */
	uint64_t repeats;                /* that the sums are of */
	int64_t used_before, used_after; /* at the begin of the first, at the end of the last */
	int64_t change, change_min, change_max;
	int64_t own, own_min, own_max; /* the change less that of the phases inside */
	int64_t peak, peak_t_ns;
	struct tare_phase_part *parts; /* accounts that changed, the largest first */
	int part_nr;
};

enum tare_phase_kind { TARE_PHASE_NESTED, TARE_PHASE_RANGE, TARE_PHASE_MOMENT };

struct tare_phase_row {
	const char *name, *path; /* the path has the names around it, parted by '/' */
	const char *domain;      /* of NVTX; NULL: none */
	const char *source;      /* "nvtx", "tare.h", "line" */
	enum tare_phase_kind kind;
	int parent, depth; /* parent: index, -1: none; parents stand before their children */
	const char *program;
	int64_t pid, generation;
	uint64_t repeats, unclosed;
	uint32_t threads; /* that it was on */
	int64_t first_t_ns, last_t_ns, ns;
	struct tare_phase_on_device *devices;
	int device_nr;
};

/* When nothing but ends of objects was recorded, or after a stop nothing at all. */
struct tare_pause_ledger {
	int64_t from_ns, to_ns; /* to: -1: until the end */
	bool is_stop;
};

struct tare_ledger {
	const char *at; /* "peak", "end", "12.5s" */
	int64_t t_ns;   /* -1 at `peak`, where each device has its own */
	struct tare_device_ledger *devices;
	int device_nr;
	struct tare_host_ledger *hosts;
	int host_nr;
	struct tare_rank_ledger *ranks; /* by job, attempt and rank; none for a program on its own */
	int rank_nr;
	struct tare_pause_ledger *pauses;
	int pause_nr;
	const char **degraded; /* sentences */
	int degraded_nr;
	bool opened_gpu; /* some process got past cuInit */
	struct tare_phase_row *phases; /* of the whole recording, in order, whatever the instant */
	int phase_nr;
	void *memory;    /* everything above lives in it; NULL in a ledger written by hand */
};

/* Whose a library is (owners.def): "libcublasLt" is cuBLAS's; of what is in no row, its own name. */
const char *tare_owner_name(const char *library);

#endif
