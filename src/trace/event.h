/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_EVENT_H
#define TARE_TRACE_EVENT_H

#include "record/format.h"
#include "trace/rank.h"
#include "record/tensor_columns.h"

#include <stdbool.h>

/*
 * What the reader hands out: one record of one log, with the names, times and objects that the
 * record only refers to filled in. Plain data: a test may write a struct tare_event by hand.
 * Everything pointed to belongs to the recording and lives until it is closed, except `rec` and
 * `text`, which live until the next event is asked for.
 */

/* A GPU, one per recording however many processes see it and under whatever ordinal. */
struct tare_device {
	int index;                /* 0, 1, …: order of first appearance in the recording */
	int machine;              /* it stands in; as tare_process.machine */
	const char *host;         /* the machine's name, never NULL */
	int nvml_index;           /* -1: not known to NVML */
	char uuid[48];            /* "GPU-xxxxxxxx-…"; "" where nobody says */
	const char *name;         /* never NULL */
	uint32_t flags;           /* enum tare_device_flag, of all its records together */
	uint64_t total, reserved; /* TARE_NOT_KNOWN where nobody says */
	uint64_t used;            /* as its first record says: before the recording changed anything */
	uint32_t multiprocessors, threads_per_multiprocessor;
	int driver_version; /* CUDA version of the driver, 13000; 0: not known */
	int program_nr;     /* recorded programs that have it */
};

/* By which people and scripts name it: NVML's, else by its place; the heap (--host) has one that no GPU has. */
static inline int tare_device_number(const struct tare_device *d)
{
	if (d->flags & TARE_DEVICE_HEAP)
		return TARE_HEAP_ORDINAL;
	return d->nvml_index >= 0 ? d->nvml_index : d->index;
}

/* Return addresses, innermost first. */
struct tare_stack {
	uint32_t id, depth;
	const uint64_t *pcs;
	uint64_t stamp; /* when it was seen first: in the objects that were loaded then */
};

/* A line of source code that was running. */
struct tare_line {
	const char *file, *function; /* never NULL; as Python names them */
	uint32_t line;               /* 0: not known */
};

/* Lines of a Python stack, innermost first. */
struct tare_line_stack {
	uint32_t id, depth;
	const struct tare_line *lines;
};

struct tare_object {
	uint64_t base, begin, end; /* file address + base = run address */
	uint64_t build_id[2];      /* its first 16 bytes, zero if it has none */
	const char *path;
	uint64_t stamp;    /* when it was seen first */
	uint64_t until;    /* when another was seen at one of its addresses; 0: none was */
	uint64_t reach;    /* the greatest end of it and of those before it */
	uint32_t identity; /* of its path and build id: equal for one that is loaded again */
};

struct tare_symbol {
	uint64_t address, offset; /* offset from the start of the function */
	const char *name;
	uint32_t object; /* tare_object.identity; 0: not told */
};

struct tare_process_device {
	int ordinal; /* as the process numbers it (cuDevice); in the log of `tare`: NVML's index */
	const struct tare_device *device;
};

/* One log: one exec generation of one process, or `tare` itself. */
struct tare_process {
	int index; /* 0, 1, … in the recording */
	enum tare_role role;
	uint32_t pid; /* as the process itself sees it */
	uint32_t ppid;
	uint32_t generation;
	uint64_t pid_namespace; /* 0: not known */
	uint64_t start_ticks;
	int machine; /* 0, 1, …: logs with one boot id have one number */
	struct tare_rank rank;
	const char *program, *host;           /* never NULL */
	const char *folder;                   /* of its recording, never NULL */
	const char *log;                      /* path of its .events file */
	int64_t first_ns, last_ns;            /* since the recording started: when the log begins and its last record */
	bool is_ended;                        /* it ended in order: there is an END record, or its ring says so */
	bool is_open;                         /* its ring still lies there and it has not ended: it runs, or was killed */
	bool is_replaced;                     /* the process went on as another program, by exec */
	bool is_status_known;                 /* how it ended; of `tare`: how its command did */
	uint32_t status;                      /* as wait(2) gives it */
	int oom_kills;                        /* by the OOM killer, around it while it ran; -1: not known */
	int64_t status_ns;                    /* when that was told */
	uint64_t lost;                        /* records it had to give up because ring and disk were full */
	uint64_t unfinished;                  /* places where a record was begun and never finished */
	uint64_t skipped_bytes;               /* bytes no record was found in, unfinished ones included */
	bool is_damaged;                      /* records are missing, and no LOST record says so … */
	int64_t damage_from_ns, damage_to_ns; /* … and were made at some time between these */
	uint64_t damaged_records;             /* how many they are; 0: nobody knows */

	const struct tare_process_device *devices;
	int device_nr;
	const struct tare_object *objects; /* by begin, and of one begin by age */
	int object_nr;
	const struct tare_symbol *symbols; /* by address */
	int symbol_nr;
};

/* A pointer to the record, under the name it has in record.def. */
union tare_rec {
	const struct tare_record *head;
#define F(type, field, role)
#define TARE_RECORD(id, key, name, cls, fields, tail) const struct tare_rec_##name *name;
#include "record/record.def"
};

struct tare_event {
	enum tare_kind kind; /* which member of `rec` */
	union tare_rec rec;
	const struct tare_process *process; /* whose log it stands in */
	/* HOST, EXIT, SYMBOL: the process named; or NULL */
	const struct tare_process *about;
	const struct tare_device *device; /* where the record names one that is known; or NULL */

	/*
	 * Since the recording started; may be negative for what began before. Events come in the order
	 * of `at_ns`, the time of their stamp: the end of the call, for DEL (and whatever is stamped
	 * before the call) its begin. Other kinds: all three are equal.
	 */
	int64_t at_ns, begin_ns, end_ns;
	/* EVENT: how long before its begin and after its end it may have read the counter; 0: not told */
	int64_t reading_before_ns, reading_after_ns;

	const char *api;                      /* EVENT: the entry point; or NULL */
	const char *name;                     /* EVENT: function or module; PHASE: its name; or NULL */
	const char *domain;                   /* PHASE: or NULL */
	const struct tare_stack *stack;       /* EVENT: or NULL */
	const struct tare_line_stack *python; /* EVENT: or NULL */

	const char *text; /* the tail of a TEXT record, NUL-terminated; else "" */
	size_t text_len;
};

/*
 * Blocks of tensors of one process on one device, one behind the other in the order of time, as they lie in a block of a segment: what
 * follows an event of such a block, without an event for each. Good until the next event is asked for.
 */
struct tare_block_run {
	struct tare_tensor_columns columns;
	const int64_t *times; /* of each: its at_ns, begin_ns and end_ns */
	size_t n;
	/* The ith as an event, good until this is called again. */
	void (*refer)(const struct tare_block_run *run, size_t i, struct tare_event *e);
	const void *recording, *process;
	struct tare_rec_tensor *record; /* of that event */
};

enum { TARE_PHASE_STRIDE = (sizeof(struct tare_rec_phase) + TARE_CELL - 1) / TARE_CELL * TARE_CELL };

/*
 * Records of phases of one process, one behind the other in the order of time, in the same way: of all its threads. What ids name are
 * texts of the process, the same ids always the same texts.
 */
struct tare_phase_run {
	const uint8_t *records; /* TARE_PHASE_STRIDE bytes each */
	const int64_t *times;   /* of each: its at_ns, begin_ns and end_ns */
	size_t n;
	/* The ith as an event. */
	void (*refer)(const struct tare_phase_run *run, size_t i, struct tare_event *e);
	const void *recording, *process;
};

/* Records of blocks of the heap of one process, HEAP_BLOCK and HEAP_FREED of one device of it, in the same way. */
struct tare_heap_run {
	const struct tare_record *const *records;
	const int64_t *times; /* of each: its at_ns, begin_ns and end_ns */
	size_t n;
	/* The ith as an event. */
	void (*refer)(const struct tare_heap_run *run, size_t i, struct tare_event *e);
	const void *recording, *process;
};

static inline const struct tare_rec_phase *tare_phase_run_at(const struct tare_phase_run *run, size_t i)
{
	return (const struct tare_rec_phase *)(const void *)(run->records + i * TARE_PHASE_STRIDE);
}

/* trace/event.c: pure look-ups; NULL where there is nothing. */
const struct tare_device *tare_process_device(const struct tare_process *p, int ordinal);
/* The object that holds an address of a stack, when that was seen; without a stack, at the end. */
const struct tare_object *tare_process_object(const struct tare_process *p, const struct tare_stack *stack,
                                              uint64_t pc);
/* … and the name of a return address. */
const struct tare_symbol *tare_process_symbol(const struct tare_process *p, const struct tare_stack *stack,
                                              uint64_t pc);

#endif
