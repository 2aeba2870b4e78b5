/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_ROLLUP_ROLLUP_H
#define TARE_ROLLUP_ROLLUP_H

#include "compact/compact.h"

struct tare_settled;

/*
 * One rollup of a recording that is still written: compacts the begins of its logs into segments, saves now and then the state
 * of the fold beside them, so that a report reads one state and what came after it, however long the program has run, and drops
 * the oldest segments to keep the cap. Each step leaves a recording that says the same, wherever it is interrupted.
 */
struct tare_rollup_options {
	bool keeps_raw;
	uint64_t cap;    /* the oldest segments go until the folder has no more, by blocks and by apparent size; 0: none */
	bool is_hurried; /* events that are in no segment yet are dropped, and told */
	bool is_forced;  /* of a final one: also if the recording was not closed in order */
	bool is_final;   /* nobody writes any more: a state may speak for the last moment */
	/*
	 * A state has at most that part of the segments it speaks for: 10, a tenth. 0: as usual, and there is none of few
	 * bytes of segments, which are read as fast as a state would be made.
	 */
	unsigned state_share;
	uint64_t segment_records; /* of a segment; 0: as many as is usual */
	bool
		skips_state; /* none is made, unless the cap needs one: what is recorded now is more than can be folded beside it */
	uint64_t most; /* of one that is not final: of each log about so many bytes; 0: all */
};

struct tare_rolled_up {
	struct tare_compacted compacted;
	bool has_state; /* a state was saved, … */
	int64_t until_ns;
	uint64_t state_bytes; /* … in so many */
	uint32_t dropped;     /* segments that went to keep the cap */
};

int tare_rollup(const char *folder, const struct tare_rollup_options *options, struct tare_rolled_up *out,
                struct tare_err *err);

/*
 * drop.c: drops the oldest segments of which a state knows all events, until the folder has at most `cap` bytes. What they had besides
 * events (names, stacks, what was lost) goes into one segment that stands for them. No more than the newest state allows.
 */
int tare_rollup_drop(const char *folder, uint64_t cap, struct tare_rolled_up *out, struct tare_err *err);

/*
 * state.c: saves the state of the fold as far as segments go, if enough has come since the last one. `settled`: how far the logs were when
 * their segments were made; NULL: nobody writes them.
 */
int tare_rollup_state(const char *folder, const struct tare_rollup_options *o, const struct tare_settled *settled,
                      struct tare_rolled_up *out, struct tare_err *err);

#endif
