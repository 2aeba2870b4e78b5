/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "asleep": what was mapped at addresses (cuMemMap), is not any more (cuMemUnmap), and whose addresses are kept (no cuMemAddressFree): so
 * engines sleep that wake up with the same pointers. PyTorch's expandable segments are none: their addresses are kept by design, and what
 * is not mapped of them is not waiting for anything.
 */
#include "ledger/settle/settle.h"

#include "base/array.h"

static void book(struct tare_fold *f, const struct tare_asleep *a, int64_t bytes, int count)
{
	int context = tare_fold_context(f, a->process, a->device, 0);

	tare_fold_op_bytes(f, tare_fold_bucket(f, context, TARE_BUCKET_ASLEEP, 0), bytes, count, TARE_EVIDENCE_EXACT);
}

void tare_asleep_add(struct tare_fold *f, const struct tare_physical *p, uint64_t at, uint64_t bytes)
{
	struct tare_asleep *a;

	if (p->device < 0 || !bytes || tare_fold_tensor_is_segment(f, p->bucket))
		return;
	a = &TARE_APPEND(f->asleep, f->asleep_nr, f->asleep_cap);
	*a = (struct tare_asleep){ at, bytes, p->process, p->device };
	book(f, a, (int64_t)bytes, 1);
}

void tare_asleep_forget(struct tare_fold *f, int process, uint64_t at, uint64_t bytes, bool is_booked)
{
	for (size_t i = f->asleep_nr; i-- > 0;) {
		struct tare_asleep a = f->asleep[i];
		bool is_apart = a.at < at ? at - a.at >= a.bytes : a.at - at >= bytes;

		if (a.process != process || is_apart)
			continue;
		f->asleep[i] = f->asleep[--f->asleep_nr];
		if (is_booked)
			book(f, &a, -(int64_t)a.bytes, -1);
	}
}
