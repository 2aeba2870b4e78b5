/* SPDX-License-Identifier: Apache-2.0 */
/* Where the measured change of a call goes. */
#include "ledger/fold.h"

#include <stdlib.h>

/* The default stack of every thread is part of the context. */
enum { DEFAULT_STACK_BYTES = 1024 };

static int64_t threads_of(const struct tare_device_fold *d)
{
	return (int64_t)d->device->multiprocessors * d->device->threads_per_multiprocessor;
}

static struct tare_context *context_of(struct tare_fold *f, const struct tare_applied *a)
{
	struct tare_context *c = &f->contexts[a->context];

	if (c->local_held < 0)
		c->local_held = threads_of(f->devices[c->device]) * DEFAULT_STACK_BYTES;
	return c;
}

/*
 * Rule "local memory": a launch makes the driver hold local memory for every thread that fits on the
 * GPU, and it keeps the largest it ever needed. 132 multiprocessors x 2048 threads x 32 KiB are
 * 8448 MiB; 264 MiB, 1 KiB for each, were there before, and +8184 MiB is what was measured.
 */
static int64_t local_growth(struct tare_fold *f, struct tare_step *s, const struct tare_applied *a)
{
	struct tare_context *c = context_of(f, a);
	int64_t need = threads_of(f->devices[c->device]) * (int64_t)s->local;

	if (s->local_growth < 0) {
		s->local_growth = need > c->local_held ? need - c->local_held : 0;
		c->local_held += s->local_growth;
	}
	return s->local_growth;
}

static void book_weighed(struct tare_fold *f, int bucket, int64_t bytes, int64_t low, int64_t high)
{
	tare_fold_book(f, bucket,
		       &(struct tare_amount){ .bytes = bytes,
					      .low = low,
					      .high = high,
					      .evidence = 1 + TARE_EVIDENCE_WEIGHED });
}

static void weigh_launch(struct tare_fold *f, struct tare_step *s, const struct tare_applied *a,
			 int64_t bytes, int64_t low, int64_t high)
{
	int64_t growth = local_growth(f, s, a), local = bytes < growth ? bytes : growth;

	if (local > 0) {
		s->local_growth -= local;
		tare_fold_book_bytes(f, tare_fold_bucket(f, a->context, TARE_ACCOUNT_LOCAL, 0),
				     local, TARE_EVIDENCE_INFERRED);
		bytes -= local;
		low -= local;
		high -= local;
	}
	if (bytes || low || high)
		book_weighed(f, a->bucket, bytes, low, high);
}

/* What managed memory of a process could still come to the device, and what is there. */
int64_t tare_fold_managed_room(const struct tare_fold *f, const struct tare_device_fold *d,
			       int process, int64_t *resident)
{
	const struct tare_process_fold *p = f->processes[process];
	int64_t there = 0, room;

	*resident = 0;
	if (!p || d->index >= p->place_nr || !p->places[d->index])
		return 0;
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device)
		if (f->buckets[i].process == process &&
		    f->buckets[i].account == TARE_ACCOUNT_MANAGED)
			there += f->buckets[i].now.bytes;
	*resident = there > 0 ? there : 0;
	room = p->places[d->index]->managed - there;
	return room > 0 ? room : 0;
}

static bool has_managed(const struct tare_fold *f, const struct tare_device_fold *d, int process)
{
	const struct tare_process_fold *p = f->processes[process];

	return p && d->index < p->place_nr && p->places[d->index] && p->places[d->index]->managed;
}

/*
 * Rule "managed-touch": managed memory comes to the GPU when a kernel touches it and leaves when the
 * host does, with no call in between. What a device gains between calls goes to the one process that
 * has managed memory which is not there yet; with several such processes nobody can tell.
 */
int64_t tare_fold_managed_touch(struct tare_fold *f, struct tare_device_fold *d, int process,
				int64_t change)
{
	int64_t room, resident, part;
	int context;

	for (int i = 0; process < 0 && i < f->process_nr; i++) {
		if (!has_managed(f, d, i))
			continue;
		for (int k = i + 1; k < f->process_nr; k++)
			if (has_managed(f, d, k))
				return 0;
		process = i;
	}
	if (process < 0 || !has_managed(f, d, process))
		return 0;
	room = tare_fold_managed_room(f, d, process, &resident);
	part = change > room ? room : change < -resident ? -resident : change;
	if (!part)
		return 0;
	context = tare_fold_context(f, process, d->index, 0);
	tare_fold_book_bytes(f, tare_fold_bucket(f, context, TARE_ACCOUNT_MANAGED, 0), part,
			     TARE_EVIDENCE_INFERRED);
	return part;
}

/* Rule "sync": a wait gives back pool memory and brings managed memory; anything else is unexplained. */
static void weigh_sync(struct tare_fold *f, struct tare_step *s, const struct tare_applied *a,
		       int64_t bytes)
{
	struct tare_device_fold *d = f->devices[s->device];
	int64_t held = f->buckets[a->bucket].now.bytes, back = 0, rest;

	if (bytes < 0 && held > 0)
		back = bytes < -held ? -held : bytes;
	tare_fold_book_bytes(f, a->bucket, back, TARE_EVIDENCE_WEIGHED);
	rest = bytes - back;
	rest -= tare_fold_managed_touch(f, d, s->process, rest);
	d->inside_sum += llabs(rest);
}

void tare_fold_weigh(struct tare_fold *f, struct tare_step *s, const struct tare_applied *a,
		     int64_t bytes, int64_t low, int64_t high)
{
	if (tare_step_is_sync(s)) {
		weigh_sync(f, s, a, bytes);
		return;
	}
	if (s->class == TARE_CLASS_LAUNCH && s->local) {
		weigh_launch(f, s, a, bytes, low, high);
		return;
	}
	if (!bytes && !low && !high)
		return;
	if (s->class == TARE_CLASS_LIMIT && !(uint32_t)s->limit) /* CU_LIMIT_STACK_SIZE */
		context_of(f, a)->local_held += bytes;
	book_weighed(f, a->bucket, bytes, low, high);
}
