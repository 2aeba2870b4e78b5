/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory that became resident inside calls. */
#ifndef TARE_LEDGER_INCREMENTS_H
#define TARE_LEDGER_INCREMENTS_H

#include "ledger/core/fold.h"

/* Host memory that became resident inside a call. */
struct tare_rss_change {
	int process;
	uint32_t site;
	int64_t t, anon, file;
};

/* The part. */
struct tare_increments_part {
	struct tare_rss_change *items; /* by t */
	size_t count, cap;
};

void tare_increments_event(struct tare_increments_part *p, struct tare_fold *f, struct tare_device_fold *d,
                           const struct tare_event *e);
/* Sums by process and site, without times; the caller frees them. */
size_t tare_increments_until(const struct tare_increments_part *p, int64_t until, struct tare_rss_change **out);
const char *tare_increments_check(const struct tare_increments_part *p, const struct tare_fold *f);

#endif
