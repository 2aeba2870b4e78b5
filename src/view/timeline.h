/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_TIMELINE_H
#define TARE_VIEW_TIMELINE_H

#include "base/emit.h"
#include "ledger/ledger.h"

/* The i-th part of the time, and the most that was in use in it: -1, nothing is known of it. */
struct tare_timeline_span {
	int64_t from_ns, to_ns, most;
};
struct tare_timeline_span tare_timeline_span(const struct tare_timeline *t, int i);

/*
 * How much was in use, over time: a series in the table of a device, "0 s ▁▂▅█▇▇▃▁ 41.2 s". Nothing where it is not
 * known. `peak` (ns, bytes), if it is not NULL, is told behind it.
 */
struct tare_timeline_peak {
	int64_t t_ns, bytes;
};
void tare_timeline_show(struct tare_emit *e, const struct tare_timeline *timeline,
                        const struct tare_timeline_peak *peak);

#endif
