/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of a fold, and their order in a ledger. */
#include "ledger/core/fold.h"

#include "base/xalloc.h"

struct tare_device_fold *tare_fold_device(struct tare_fold *f, const struct tare_device *device)
{
	struct tare_device_fold *d;
	int i = device->index;

	if (i >= f->device_nr) {
		f->devices = tare_xrealloc(f->devices, (size_t)i + 1, sizeof(*f->devices));
		while (f->device_nr <= i)
			f->devices[f->device_nr++] = NULL;
	}
	if (f->devices[i])
		return f->devices[i];
	d = f->devices[i] = tare_xcalloc(1, sizeof(*d));
	d->device = device;
	d->index = i;
	d->buckets = -1;
	d->max_begin = d->max_begin_then = d->max_begin_seen = d->worked_ns = INT64_MIN;
	d->is_measured = device->flags & TARE_DEVICE_HEAP; /* by its blocks */
	d->end_next = f->end_nr;
	d->before = tare_fold_bucket_of_device(f, i, TARE_ACCOUNT_OTHER, 0);
	d->paused = -1;
	d->is_pause_open = f->is_paused;
	return d;
}

static int order_of(const struct tare_device *device)
{
	return device->nvml_index >= 0 ? device->nvml_index : (1 << 20) + device->index;
}

static bool is_before(const struct tare_device *a, const struct tare_device *b)
{
	if (a->machine != b->machine)
		return a->machine < b->machine;
	return order_of(a) != order_of(b) ? order_of(a) < order_of(b) : a->index < b->index;
}

/* Host by host in NVML's order, as nvidia-smi shows it; what NVML does not know stands behind. */
int tare_fold_device_place(const struct tare_fold *f, const struct tare_device_fold *d)
{
	int place = 0;

	for (int i = 0; i < f->device_nr; i++)
		place += f->devices[i] && is_before(f->devices[i]->device, d->device);
	return place;
}
