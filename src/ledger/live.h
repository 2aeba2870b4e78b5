/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of a recording that is being written, again and again: the recording stays open and the fold goes on, so that each event
 * is read once and folded once. What the last seconds brought is not settled yet: the ledger is of a moment shortly before, and is
 * what all events up to that moment say.
 *
 *     if (!tare_ledger_live_go_on(live, &opts, &ledger)) {
 *             … open it …
 *             tare_ledger_live_begin(live, recording, &opts, &ledger);
 *     }
 */
#ifndef TARE_LEDGER_LIVE_H
#define TARE_LEDGER_LIVE_H

#include "ledger/build.h"
#include "trace/growing.h"

struct tare_fold;

/* {0} knows nothing yet. */
struct tare_ledger_live {
	struct tare_recording *recording; /* NULL: none is open */
	struct tare_growing *growing;     /* NULL: it cannot be kept open */
	struct tare_ledger_source source; /* its events … */
	bool is_looking;                  /* … in the first pass, or in the second, … */
	int64_t until_ns;                 /* … which goes up to here */
	struct tare_fold *fold;
	uint64_t grown, begun; /* how often it went on, and how often it began */
};

/* False, and nothing in `out`: it has to begin, again or for the first time. */
bool tare_ledger_live_go_on(struct tare_ledger_live *live, const struct tare_ledger_opts *opts,
                            struct tare_ledger *out);
/* Of a recording that was opened for reading, which it closes. False: what came when it had been read contradicts it. */
bool tare_ledger_live_begin(struct tare_ledger_live *live, struct tare_recording *recording,
                            const struct tare_ledger_opts *opts, struct tare_ledger *out);

/* How long before the last event that was read the last ledger is; 0: all that was read is in it. */
int64_t tare_ledger_live_behind_ns(const struct tare_ledger_live *live);

void tare_ledger_live_free(struct tare_ledger_live *live);

#endif
