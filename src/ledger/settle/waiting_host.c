/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks in the memory of the CPU are taken in: everybody is told of each. */
#include "ledger/fold.h"

/* Takes in those before t. */
void tare_fold_host_until(struct tare_fold *f, int64_t t)
{
	struct tare_live_block *made;

	while (tare_host_next(f, t, &made))
		if (made)
			tare_fold_training_block(f, &f->processes[made->process]->host_blocks.work,
						 -1, made);
}

/* Rule "end", for the host alone: as long as nobody makes tensors any more. */
void tare_fold_host_end(struct tare_fold *f, int64_t t)
{
	tare_fold_host_until(f, t);
	tare_host_mark_end(f, t);
}

void tare_fold_host_tensor_end(struct tare_fold *f, struct tare_process_fold *p, int64_t t)
{
	tare_fold_host_until(f, INT64_MAX);
	tare_host_forget(f, p, t);
}

void tare_fold_host_finish(struct tare_fold *f)
{
	tare_fold_host_until(f, INT64_MAX);
	tare_host_show(f, INT64_MAX);
}
