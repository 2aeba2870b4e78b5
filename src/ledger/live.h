/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of a recording that is being written, again and again: the state of the fold at a moment shortly before is kept in memory, and
 * only what came after it is folded. It says what tare_ledger_of_recording() says.
 */
#ifndef TARE_LEDGER_LIVE_H
#define TARE_LEDGER_LIVE_H

#include "base/str.h"
#include "ledger/build.h"
#include "trace/recording.h"

/* {0} knows nothing yet. */
struct tare_ledger_live {
	uint64_t worth;        /* so many events behind the moment are worth another one; 0: as usual */
	struct tare_str saved; /* whose state it is, and the state */
	bool has_state;
	struct tare_recording_state memory; /* its moment, and the newest segment when it was made … */
	uint64_t known;          /* a sum of the events that it has to do with, as far as they are read again … */
	uint32_t number;         /* … and of the state beside the segments that it was made from; 0: none */
	uint64_t folded;         /* events behind the moment, when it was used last … */
	uint64_t folded_first;   /* … and first; 0: not yet */
	uint64_t resumed, begun; /* how often the fold went on from a moment, and how often it began anew */
};

/* The recording was opened alone, for reading. */
void tare_ledger_of_live(struct tare_ledger_live *live, struct tare_recording *recording,
                         const struct tare_ledger_opts *opts, const struct tare_instant *instants, int instant_nr,
                         struct tare_ledger *out);
void tare_ledger_live_free(struct tare_ledger_live *live);

#endif
