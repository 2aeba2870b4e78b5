/* SPDX-License-Identifier: Apache-2.0 */
/* Advice in the making: shared by the files of this folder that find something. */
#ifndef TARE_LEDGER_FACTS_H
#define TARE_LEDGER_FACTS_H

#include "ledger/fold.h"

struct tare_advise {
	const struct tare_fold *f;
	const struct tare_device_fold *d;
	enum tare_mark mark;
	int64_t t; /* of the instant */
	struct tare_arena *memory;
	struct tare_finding *findings;
	size_t count, cap;
};

/*
 * Adds a finding about `process` (-1: of no one process); its name is copied. What has the same advice
 * and name as an earlier one is added to that, so that nothing is said twice. Findings too small for
 * the device are dropped in the end.
 */
void tare_fold_find(struct tare_advise *a, enum tare_advice advice,
		    const struct tare_finding *finding, int process);

/* facts.c */
void tare_facts_find(struct tare_advise *a);

#endif
