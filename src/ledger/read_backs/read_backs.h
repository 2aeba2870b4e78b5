/* SPDX-License-Identifier: Apache-2.0 */
/* What programs on simulated GPUs read back that kernels would have computed. */
#ifndef TARE_LEDGER_READ_BACKS_H
#define TARE_LEDGER_READ_BACKS_H

#include "ledger/core/fold.h"

/* One place of one process: its newest record has all that the older ones had. */
struct tare_read_back_fold {
	int process;
	uint32_t python, stack; /* ids of the process's log */
	uint32_t site;
	uint64_t count, bytes;
	bool is_overflow; /* what a loss scale's check found */
};

/* The part. */
struct tare_read_backs_part {
	struct tare_read_back_fold *items;
	size_t count, cap;
};

void tare_read_backs_event(struct tare_read_backs_part *p, struct tare_fold *f, struct tare_device_fold *d,
                           const struct tare_event *e);
void tare_read_backs_rows(const struct tare_read_backs_part *p, const struct tare_fold *f, struct tare_ledger *out);
const char *tare_read_backs_check(const struct tare_read_backs_part *p, const struct tare_fold *f);

#endif
