/* SPDX-License-Identifier: Apache-2.0 */
/* Applies blocks in the memory of the CPU, and tells the parts of each. */
#include "ledger/settle/settle.h"

/* Shows what there is now at instants before t, and in the history up to t. */
static void show(struct tare_fold *f, int64_t t)
{
	tare_host_show(&f->parts->tensors, f, t);
	tare_parts_host(f, t);
}

static void report_block(struct tare_fold *f, const struct tare_live_block *made)
{
	const struct tare_process_fold *p = f->processes[made->process];
	struct tare_block_change c = { .device = -1, .live = p->host.tensors.bytes };

	tare_work_change(&p->host_blocks.work, made, &c);
	tare_parts_block(f, &c);
}

/* Applies the blocks before t. */
void tare_fold_host_until(struct tare_fold *f, int64_t t)
{
	const struct tare_live_block *made;
	int64_t at;

	while (tare_host_next(f, t, &at)) {
		show(f, at);
		made = tare_host_take(&f->parts->tensors, f);
		if (made)
			report_block(f, made);
	}
}

/* Rule "end", for the host alone: set anew as long as tensors are made. */
void tare_fold_host_end(struct tare_fold *f, int64_t t)
{
	tare_fold_host_until(f, t);
	tare_host_set_end(f, t);
}

void tare_fold_host_tensor_end(struct tare_fold *f, struct tare_process_fold *p, int64_t t)
{
	tare_fold_host_until(f, INT64_MAX);
	show(f, t);
	tare_host_forget(&f->parts->tensors, f, p);
}

void tare_fold_host_finish(struct tare_fold *f)
{
	tare_fold_host_until(f, INT64_MAX);
	show(f, INT64_MAX);
}
