/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap that another tool counted. From one of its pictures to the next some places in the program have more and
 * others less. What only moves is one step, so no moment between has less in use, or more, than there was.
 */
#include "ledger/settle/settle.h"

static uint32_t site_of(const struct tare_fold *f, const struct tare_step *s)
{
	const uint64_t *site = s->parent ? tare_map_get(&f->processes[s->process]->site_of, s->parent) : NULL;

	return site ? (uint32_t)*site : 0;
}

void tare_fold_heap_move(struct tare_fold *f, const struct tare_step *s, const struct tare_applied *a)
{
	int64_t bytes = (int64_t)s->asked;
	int from;

	if (!bytes || a->bucket < 0)
		return;
	from = tare_fold_bucket_at(f, a->context, TARE_ACCOUNT_HEAP, 0, site_of(f, s));
	tare_fold_op_bytes(f, from, -bytes, 0, TARE_EVIDENCE_WEIGHED);
	tare_fold_op_bytes(f, a->bucket, bytes, 0, TARE_EVIDENCE_WEIGHED);
}
