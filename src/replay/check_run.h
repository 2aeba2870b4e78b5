/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_REPLAY_CHECK_RUN_H
#define TARE_REPLAY_CHECK_RUN_H

#include "replay/replay.h"

/*
 * What check.c and mend.c share. What a file does not say is guessed, and the first thing that a replay does otherwise than the
 * file tells which guess was wrong. It is mended, and the replay begins anew.
 */

/* A segment that is released within the trace: the file does not say which pool it was of. */
struct tare_life {
	uint64_t address, size;
	size_t from, to; /* events; from == SIZE_MAX: it was there at the start, as … */
	size_t start;    /* … this of start_segments */
	/* 0: what was guessed first was tried; 1: next_pool, or the last that was guessed; 2: one of its own */
	unsigned tried, pool;
	unsigned next_pool; /* of the segments that were released behind it */
};

struct tare_check_run {
	struct tare_trace *t;
	struct tare_trace_device *d;
	struct tare_allocator *a;
	struct tare_replay_check *out;
	const struct tare_replay_ask *ask;
	uint32_t *slots;
	size_t event;                     /* that is replayed */
	size_t at, end;                   /* what the driver does for it: events that are not yet taken */
	struct tare_trace_event *release; /* the first for a request that is replayed, if it was guessed whose it is */
	uint64_t invented;
	uint32_t mallocs;              /* replayed */
	const uint32_t *malloc_events; /* the event of each, where waits are looked for; else NULL */
	size_t next_wait;
	bool is_search; /* for the next wait: what comes behind it does not matter */
	size_t seen;    /* up to here completed frees were looked at */
	struct tare_life *lives;
	size_t life_count;
	/* What the first mismatch tells: */
	bool is_looked_at;
	struct tare_trace_start *short_start; /* a block at the start was larger, … */
	uint64_t short_by;
	struct tare_trace_event *wrong_release; /* releases were the program's own, or were not, */
	size_t late_free;                       /* 1 + a free: its block waited for another stream until */
	size_t late_at;                         /* … this event, */
	struct tare_life *wrong_life;           /* … or a segment was of another pool */
};

/* An address of a block differs: `block` here, `theirs` in the file. */
void tare_mend_look_at_address(struct tare_check_run *r, uint32_t block, uint64_t theirs);
/* What is released differs. */
void tare_mend_look_at_release(struct tare_check_run *r, uint64_t address);
struct tare_life *tare_mend_find_lives(struct tare_trace *t, struct tare_trace_device *d, size_t *count);
/* Another guess; false: there is none. */
bool tare_mend(struct tare_check_run *r);
/* What was guessed of pools and releases is forgotten. */
void tare_mend_undo(struct tare_check_run *r);

/* batch.c: the pools of lives by the order in which they were released. */
void tare_mend_guess_batches(struct tare_check_run *r);
/* life.c: one more pool that the file does not name, and the last of these; 0: there is none. */
unsigned tare_mend_new_pool(struct tare_trace *t);
unsigned tare_mend_last_pool(const struct tare_trace *t);
void tare_mend_set_pool(struct tare_check_run *r, struct tare_life *life, unsigned pool);

/* wait.c: 1 + the event that freed a block in that range of addresses, which may have waited for another stream; 0: there is none. pre: malloc_events. */
size_t tare_wait_find(const struct tare_check_run *r, uint64_t begin, uint64_t end, bool is_last);
/* The block that an event frees can be used again behind `until`. False: it waits for longer already, and waits do not explain it. */
bool tare_wait_until(struct tare_trace_device *d, size_t event, size_t until);
void tare_wait_forget(struct tare_trace_device *d);
/* The event of each MALLOC, where waits are looked for, else NULL; caller frees. */
uint32_t *tare_wait_malloc_events(const struct tare_trace *t, const struct tare_trace_device *d);

#endif
