/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of blocks of the heap in segments. Under --host=full there are millions in a second, and the last bits of their stamps, which are
 * noise, would be half of a recording: so a stamp becomes a multiple of a step of half a microsecond to one. It is never made later; and it
 * stays behind the record before it, by a nanosecond at least: so records keep their order, and whatever was between two of them still
 * is. A picture shows what is in use between them, and so does the ledger of any moment there.
 *
 * Segments of one log overlap in time, for a log has what its threads recorded one after the other. So a stamp stays what it is unless it is
 * later than all that earlier segments have, and earlier than all that later ones will have.
 */
#ifndef TARE_COMPACT_COARSE_H
#define TARE_COMPACT_COARSE_H

#include "trace/recording.h"

struct tare_coarse {
	uint64_t step;  /* a power of two; 0: none of the log's records was seen yet */
	uint64_t apart; /* of two records: more than a nanosecond */
	uint64_t last;  /* no record before has a later stamp; at first none of earlier segments */
	uint64_t until; /* from here on stamps stay what they are */
};

/* The stamp of the next record of the log in the order of time. pre: the recording is of this process. */
uint64_t tare_coarse_stamp(struct tare_coarse *c, const struct tare_recording *recording,
                           const struct tare_process *process, const struct tare_record *record);

#endif
