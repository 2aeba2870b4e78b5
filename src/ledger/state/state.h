/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_STATE_H
#define TARE_LEDGER_STATE_H

#include "base/extent.h"
#include "base/str.h"
#include "ledger/build.h"

struct tare_fold;

/*
 * A fold that stops at a moment and goes on later, perhaps in another process: its state as bytes. Any
 * moment will do, also in the middle of calls, phases and captures.
 *
 * Saves the fold of all events up to `until_ns` (their at_ns). Events behind it are looked at as far as the
 * source has them, because calls that end there may begin before. If `from` is not NULL, it is the state of an
 * earlier moment, and the source gives only what came after that.
 */
/*
 * `bytes` must be what tare_ledger_save() wrote: whoever keeps them keeps a checksum of them. Their form is checked, and
 * that a later version may have other fields; that a bucket's number is that of a bucket is not.
 */
struct tare_ledger_state {
	const void *bytes;
	size_t size;
	int64_t until_ns;
};

/*
 * Where a saved state finds what it names again: the processes and devices of the recording, by their index, and
 * the stacks of a process. NULL for a stack that is not there.
 */
struct tare_ledger_names {
	void *arg;
	int process_nr, device_nr;
	const struct tare_process *(*process)(void *arg, int index);
	const struct tare_device *(*device)(void *arg, int index);
	const struct tare_line_stack *(*python)(void *arg, const struct tare_process *p, uint32_t id);
	const struct tare_stack *(*stack)(void *arg, const struct tare_process *p, uint32_t id);
};

/* A state, and what stands beside it of the time since the one it was made from. */
struct tare_ledger_saved {
	struct tare_str state;
	/* What was in use, when memory ran out and long phases ended. */
	struct tare_extent_list extents;
	struct tare_str ended; /* what became of blocks that the other state had */
};

/* Returns 0, or TARE_E_FORMAT if `from` makes no sense. The lists of `out` are empty before; the state is added to what is there. */
int tare_ledger_save(const struct tare_ledger_source *source, const struct tare_ledger_opts *opts,
                     const struct tare_ledger_state *from, const struct tare_ledger_names *names, int64_t until_ns,
                     struct tare_ledger_saved *out);
/* All but the state, which is cut to `state_bytes`. */
void tare_ledger_saved_cut(struct tare_ledger_saved *saved, size_t state_bytes);
void tare_ledger_saved_free(struct tare_ledger_saved *saved);

/* tare_ledger_build() of what came after `from`; instants lie behind it. */
int tare_ledger_resume(const struct tare_ledger_source *source, const struct tare_ledger_opts *opts,
                       const struct tare_ledger_state *from, const struct tare_ledger_names *names,
                       const struct tare_instant *instants, int instant_nr, struct tare_ledger *out);

/*
 * Events that one fold takes: those behind a state, or all from the begin. The source may end before the recording does; then
 * reach_further() makes it end later, begins it again, and returns false where it ends with the recording already.
 */
struct tare_ledger_span {
	const struct tare_ledger_source *source;
	const struct tare_ledger_state *from; /* NULL: from the begin */
	bool (*reach_further)(void *arg);     /* of source->arg; NULL: it cannot */
	/* Of the state that is `i` behind `from`: tare_ledger_saved.ended, empty if that cannot be read. False: there is none. */
	bool (*ended)(void *arg, size_t i, struct tare_str *out);
};

/*
 * The same of instants that lie before `last->from`, by two folds: what there was at these instants comes out of `then`, which
 * begins before them and ends some time behind them; what is of the whole recording, and what became of the blocks of
 * then, comes out of `last`.
 */
int tare_ledger_resume_twice(const struct tare_ledger_span *then, const struct tare_ledger_span *last,
                             const struct tare_ledger_opts *opts, const struct tare_ledger_names *names,
                             const struct tare_instant *instants, int instant_nr, struct tare_ledger *out);

/* Frees what is in a fold. */
void tare_fold_end(struct tare_fold *f);

#endif
