/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_SUMS_H
#define TARE_SWEEP_SUMS_H

#include "ledger/ledger.h"

/*
 * The leaves of a device summed by account over all processes, without pids, so that runs can be compared;
 * allocations by who asked for them. An account may stand twice: elastic, and not.
 */
struct tare_sum {
	enum tare_account account;
	const char *part; /* who asked for it, a text of the ledger, or "" */
	bool elastic;
	int64_t bytes;
	uint64_t count, driver_ns;
	enum tare_evidence evidence; /* the weakest of its leaves */
};

struct tare_sums {
	struct tare_sum *rows;
	size_t count, cap;
	int64_t own, elastic; /* own: memory of the run's processes; elastic: part of it */
	int64_t other;
};

void tare_sums_build(struct tare_sums *out, const struct tare_device_ledger *device);
void tare_sums_free(struct tare_sums *sums);

#endif
