/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects come and go; segments of a framework's allocator are among them, and go with their blocks.
 */
#include "ledger/settle/settle.h"

int tare_fold_object_add(struct tare_fold *f, const struct tare_object_live *o)
{
	int i = tare_object_add(f, o);

	if (o->class == TARE_CLASS_DEVICE && tare_fold_tensor_is_segment(f, o->bucket))
		tare_fold_segment_add(f, o->bucket, o->handle, o->granted, o->graph);
	return i;
}

int64_t tare_fold_object_remove(struct tare_fold *f, int object)
{
	const struct tare_object_live *o = &f->objects[object];

	if (o->class == TARE_CLASS_DEVICE && o->device >= 0)
		tare_tensors_unmap(&f->parts->tensors, f, o->process, o->device, o->handle);
	return tare_object_remove(f, object);
}
