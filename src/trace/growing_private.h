/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of growing*.c share. */
#ifndef TARE_TRACE_GROWING_PRIVATE_H
#define TARE_TRACE_GROWING_PRIVATE_H

#include "base/owned.h"
#include "trace/growing.h"
#include "trace/log_private.h"
#include "trace/recording_private.h"

#include <sys/types.h>

enum { TARE_SLAB_BYTES = 256 << 10 };

/* Memory of many records; freed with the last of them. */
struct tare_slab {
	size_t size, used, live;
	uint8_t bytes[] __attribute__((aligned(16)));
};

/* An event that was read. */
struct tare_held {
	uint64_t stamp;
	int64_t ns; /* once it is settled */
	struct tare_rprocess *process;
	struct tare_slab *slab;
	const struct tare_record *head; /* a text lies behind its fields */
	uint32_t text_len;
	int16_t lane;
	bool has_text;
	bool is_needless; /* to who looks ahead (outline.h) */
};

struct tare_held_list {
	TARE_OWNED struct tare_held *items;
	size_t nr, cap;
};

/* A lane, as far as it was read. */
struct tare_growing_lane {
	uint64_t position;   /* of the lane, up to which it was read, … */
	uint64_t walked;     /* … and up to which in the files: the ring may have had more when it was opened */
	uint64_t tail, head; /* up to which it was in the files, and up to which its thread had got */
	uint64_t plan;       /* where its last block goes (TARE_PLAN_*) */
	uint64_t last_stamp; /* of what was read last */
};

/* A log, as far as it was read. */
struct tare_growing_log {
	struct tare_rprocess *process;
	struct tare_log *files;                                /* as it was opened */
	TARE_OWNED_BY(tare_log_close) struct tare_log *reader; /* of what came to these since */
	uint64_t position;                                     /* read up to here, … */
	uint64_t block_end;                                    /* … in the block of `lane` that ends there; 0: in none */
	uint32_t lane;
	uint64_t block_position; /* of that lane, where the block began, … */
	uint64_t block_begin;    /* … which is here */
	int waits;               /* turns at a place that is being written */
	uint64_t log_end;        /* positions below were given to blocks */
	TARE_OWNED struct tare_growing_lane *lanes;
	uint32_t lane_nr;
	uint64_t last_stamp; /* of a log without lanes */
	struct tare_growing_manifest {
		ino_t inode;
		int64_t s, ns;
	} manifest;                 /* that was looked at last for what files do not have any more */
	TARE_OWNED char *ring_path; /* NULL: it has no ring */
};

struct tare_growing {
	struct tare_recording *recording;
	TARE_OWNED struct tare_growing_log *logs;
	size_t log_nr, log_cap;
	TARE_OWNED struct tare_unsettled_lines {
		struct tare_rprocess *process;
		struct tare_rline_stack *stack;
	} * unsettled_lines; /* stacks of which not all lines are known yet */
	size_t unsettled_nr, unsettled_cap;
	const char *folder;                       /* where the logs lie … */
	TARE_OWNED struct tare_strmap known;      /* … those that were opened, by name … */
	int64_t folder_ns, looked_ns_at;          /* … when the folder had changed last, and when that was looked at */
	bool is_folder_new;                       /* since the last turn */
	TARE_OWNED struct tare_held_list waiting; /* in the order in which they were read */
	TARE_OWNED struct tare_held_list ordered; /* settled, in order … */
	size_t looked, taken;                     /* … of which so many were looked at, and taken */
	TARE_OWNED struct tare_held_list fresh, merged; /* scratch */
	TARE_OWNED struct tare_slab *slab;              /* that is being filled */
	TARE_OWNED uint64_t *run_memory;                /* growing_run.c: columns of what was taken last, … */
	size_t run_cap;
	struct tare_rec_tensor referred; /* … and one of them */
	int64_t settled_ns, last_ns;
	int64_t looked_ns, now_ns; /* time never runs backwards for who looks, and who takes */
};

TARE_FREES(tare_growing_forget, tare_growing);

enum tare_growing_outcome {
	TARE_GROWING_READ,
	TARE_GROWING_WAIT, /* for what is not there yet */
	TARE_GROWING_AGAIN /* as tare_growing_read() */
};

void tare_growing_hold(struct tare_growing *g, struct tare_rprocess *p, const struct tare_log_record *rec, int lane);

/* Memory of one record, which counts as live. */
uint8_t *tare_growing_reserve(struct tare_growing *g, size_t size);

/* growing_rows.c: where a log was read up to, a row of records that need nothing but being kept */
void tare_growing_take_row(struct tare_growing *g, struct tare_growing_log *l);

/* growing_log.c */
void tare_growing_open_logs(struct tare_growing *g);
/* `complete_ns`: before it nothing is missing of any log. False: as tare_growing_read(). */
bool tare_growing_read_logs(struct tare_growing *g, int64_t *complete_ns);
enum tare_growing_outcome tare_growing_take_record(struct tare_growing *g, struct tare_growing_log *l,
                                                   const struct tare_log_record *rec);

/* growing_segments.c: what files do not have any more, and segments have; WAIT: they have nothing of it. */
enum tare_growing_outcome tare_growing_read_segments(struct tare_growing *g, struct tare_growing_log *l);

#endif
