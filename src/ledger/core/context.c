/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts by their handles. */
#include "ledger/core/fold.h"

#include "base/array.h"

int tare_fold_context(struct tare_fold *f, int process, int device, uint64_t handle)
{
	struct tare_process_on_device *p = tare_fold_process_on(f, process, device);
	uint64_t *known = tare_map_put(&p->contexts, handle, NULL);
	struct tare_context *c;

	if (*known)
		return (int)*known - 1;
	c = &TARE_APPEND(f->contexts, f->context_nr, f->context_cap);
	*c = (struct tare_context){
		.handle = handle, .process = process, .device = device, .local_held = -1, .buckets = -1, .objects = -1
	};
	for (int i = 0; i < TARE_BUCKET_NR; i++)
		c->bucket_of[i] = -1;
	*known = f->context_nr;
	return (int)*known - 1;
}
