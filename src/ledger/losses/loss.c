/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "lost": records that were given up may have said anything. From the first of them on nothing of their
 * process is more than inferred.
 */
#include "ledger/fold.h"

#include "base/array.h"
#include "trace/decode.h"

/* The first pass: a LOST record stands behind what was lost. */
void tare_fold_loss_see(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_lost *r = e->rec.lost;

	f->losses = tare_array_reserve(f->losses, &f->loss_cap, f->loss_nr + 1, sizeof(*f->losses));
	f->losses[f->loss_nr++] = (struct tare_loss_fold){
		.process = e->process->index,
		.lost = { .records = r->records,
			  .from_ns = e->begin_ns,
			  .to_ns = e->end_ns,
			  .why = tare_lost_meaning(r->reason) },
	};
}

bool tare_fold_is_lost(const struct tare_fold *f, int process, int64_t t)
{
	for (size_t i = 0; i < f->loss_nr; i++)
		if (f->losses[i].process == process && f->losses[i].lost.from_ns <= t)
			return true;
	return false;
}

/* One sentence for all: the reason is that of most of them. */
void tare_fold_snapshot_losses(const struct tare_fold *f, struct tare_ledger *out)
{
	struct tare_loss *sum = &out->loss;
	uint64_t most = 0;

	for (size_t i = 0; i < f->loss_nr; i++) {
		const struct tare_loss *l = &f->losses[i].lost;

		if (!sum->records || l->from_ns < sum->from_ns)
			sum->from_ns = l->from_ns;
		if (!sum->records || l->to_ns > sum->to_ns)
			sum->to_ns = l->to_ns;
		sum->records += l->records;
		if (l->records > most) {
			most = l->records;
			sum->why = l->why;
		}
	}
}
