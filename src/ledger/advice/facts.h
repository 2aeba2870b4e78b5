/* SPDX-License-Identifier: Apache-2.0 */
/* Advice in the making: shared by the files of this folder that find something. */
#ifndef TARE_LEDGER_FACTS_H
#define TARE_LEDGER_FACTS_H

#include "ledger/core/fold.h"

struct tare_advise {
	const struct tare_fold *f;
	const struct tare_device_fold *d;
	enum tare_moment moment;
	int64_t t; /* time of the instant */
	struct tare_arena *memory;
	struct tare_finding *findings;
	size_t count, cap;
};

/*
 * Adds a finding about `process` (-1: of no one process); its name is copied. What has the same advice
 * and name as an earlier one is added to that, so that nothing is said twice. Findings too small for
 * the device are dropped in the end.
 */
void tare_fold_find(struct tare_advise *a, enum tare_advice advice, const struct tare_finding *finding, int process);

/* facts.c */
void tare_facts_find(struct tare_advise *a);

/* nccl.c */
void tare_nccl_find(struct tare_advise *a);

/* facts.c: what advice needs and rows do not tell. `bytes`: what the call was measured to take */
void tare_facts_note_call(struct tare_fold *f, const struct tare_step *s, int context);
void tare_facts_note_bytes(struct tare_fold *f, const struct tare_step *s, int context, int64_t bytes);
void tare_facts_note_heap(struct tare_fold *f, int context, int64_t bytes, int64_t t);

/* advise.c: what can be done about a device */
void tare_fold_advise(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                      const struct tare_ledger *ledger, struct tare_device_ledger *out);

/* What is known of a whole ledger only when its recording has been read to the end. */
void tare_ledger_advise_retained(const struct tare_ledger *ledger);

#endif
