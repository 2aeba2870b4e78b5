/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_TIMELINE_H
#define TARE_VIEW_TIMELINE_H

#include "ledger/ledger.h"
#include "view/text_table.h"

/*
 * "0 s ▁▂▅█▇▇▃▁ 41.2 s": how much was in use, from nothing to the most, at most `width` columns wide.
 * Nothing where it never changed. `peak` (ns, bytes), if it is not NULL, is told behind it.
 */
struct tare_timeline_peak {
	int64_t t_ns, bytes;
};
void tare_timeline_text(struct tare_str *out, const struct tare_timeline *timeline,
			const struct tare_timeline_peak *peak, size_t width);

#endif
