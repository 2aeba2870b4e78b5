/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "one memory": where host and GPU share one memory and the driver alone counts it, what programs take by malloc is in use, too.
 * What is unexplained is theirs as far as their own anonymous memory has changed as well, since it was read first.
 */
#include "ledger/settle/settle.h"

#include "record/bytes.h"

#include <stdlib.h>

static bool is_of_the_host(const struct tare_device_fold *d)
{
	return d->device->flags & TARE_DEVICE_INTEGRATED;
}

static int64_t booked_of(const struct tare_device_fold *d, const struct tare_process_fold *p)
{
	const struct tare_process_on_device *place = d->index < p->on_device_nr ? p->on_device[d->index] : NULL;

	return place ? place->host_booked : 0;
}

/* What it took since it was read first and that stands in no book of the device. With its end all it had goes. */
static int64_t owed_of(const struct tare_device_fold *d, const struct tare_process_fold *p, int64_t t)
{
	if (!p || p->process->role != TARE_ROLE_PROGRAM || tare_fold_is_over(p, t) || !p->has_first_anon ||
	    !tare_bytes_are_known(p->host.memory[TARE_HOST_anon]) || p->process->machine != d->device->machine)
		return 0;
	return (int64_t)p->host.memory[TARE_HOST_anon] - (int64_t)p->first_anon - booked_of(d, p);
}

static void book(struct tare_fold *f, struct tare_device_fold *d, int process, int64_t by)
{
	int context = tare_fold_context(f, process, d->index, 0);

	tare_fold_book_bytes(f, tare_fold_bucket(f, context, TARE_ACCOUNT_RESIDENT, 0), by, TARE_EVIDENCE_WITNESS);
	tare_fold_process_on(f, process, d->index)->host_booked += by;
	d->unexplained_open -= by;
	d->unexplained_between -= llabs(by);
	if (d->unexplained_between < 0)
		d->unexplained_between = 0;
}

void tare_fold_one_memory(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	if (!is_of_the_host(d) || d->primary != TARE_SOURCE_CUDA)
		return;
	for (int i = 0; i < f->process_nr; i++) {
		int64_t unexplained = d->used - d->sum, owed = owed_of(d, f->processes[i], t);

		if (!owed || !unexplained || (owed > 0) != (unexplained > 0))
			continue;
		book(f, d, i, llabs(owed) < llabs(unexplained) ? owed : unexplained);
	}
}

/* The memory of a process was read. What it had at the first call is in use before. */
void tare_fold_one_memory_read(struct tare_fold *f, const struct tare_event *e)
{
	struct tare_process_fold *p = e->about ? tare_fold_process(f, e->about) : NULL;
	bool is_used = false;

	if (!p || !p->host.is_read || !tare_bytes_are_known(p->host.memory[TARE_HOST_anon]))
		return;
	for (int i = 0; i < f->device_nr; i++)
		is_used |= f->devices[i] && is_of_the_host(f->devices[i]) && f->devices[i]->max_begin > INT64_MIN;
	if (!is_used || !p->has_first_anon)
		p->first_anon = p->host.memory[TARE_HOST_anon];
	p->has_first_anon = true;
	for (int i = 0; is_used && i < f->device_nr; i++)
		if (f->devices[i])
			tare_fold_one_memory(f, f->devices[i], e->at_ns);
}
