/* SPDX-License-Identifier: Apache-2.0 */
/* Where the measured change of a call goes. */
#include "ledger/settle/settle.h"

/* The default stack of every thread is part of the context. */
enum { DEFAULT_STACK_BYTES = 1024 };
#define MANAGED_STEP (128 * TARE_MIB)

static int64_t round_up(int64_t bytes, int64_t step)
{
	return (bytes + step - 1) / step * step;
}

static struct tare_context *context_of(struct tare_fold *f, const struct tare_applied *a)
{
	struct tare_context *c = &f->contexts[a->context];

	if (c->local_held < 0)
		c->local_held = tare_fold_local_need(f, c, DEFAULT_STACK_BYTES);
	return c;
}

static int64_t local_growth(struct tare_fold *f, struct tare_step *s, const struct tare_applied *a)
{
	struct tare_context *c = context_of(f, a);
	int64_t need = s->local ? tare_fold_local_need(f, c, (int64_t)s->local) : 0;

	if (s->local_growth < 0) {
		s->local_growth = need > c->local_held ? need - c->local_held : 0;
		c->local_held += s->local_growth;
	}
	return s->local_growth;
}

/*
 * A launch without readings: how much it took is not known, but what the driver holds since need not be taken
 * again.
 */
void tare_fold_launch_unweighed(struct tare_fold *f, const struct tare_step *s, const struct tare_applied *a)
{
	struct tare_step copy = *s;

	if (s->device >= 0)
		local_growth(f, &copy, a);
}

/* Rule "device heap": a new size is taken by the first launch of a kernel that uses the heap. */
void tare_fold_limit(struct tare_fold *f, const struct tare_step *s, const struct tare_applied *a)
{
	if (s->device >= 0 && (uint32_t)s->limit == TARE_LIMIT_MALLOC_HEAP_SIZE)
		f->contexts[a->context].heap_wanted = (int64_t)s->asked;
}

static int64_t heap_growth(struct tare_fold *f, const struct tare_applied *a, int64_t bytes)
{
	struct tare_context *c = &f->contexts[a->context];
	int64_t heap = c->heap_wanted;

	if (!heap || bytes < heap)
		return 0;
	c->heap_wanted = 0;
	return heap;
}

static void book_weighed(struct tare_fold *f, int bucket, int64_t bytes, int64_t low, int64_t high)
{
	if (bytes < 0 && low == bytes && high == bytes) {
		tare_fold_book_fall(f, bucket, bytes, TARE_EVIDENCE_WEIGHED);
		return;
	}
	tare_fold_book(f, bucket,
	               &(struct tare_amount){
					   .bytes = bytes, .low = low, .high = high, .evidence = 1 + TARE_EVIDENCE_WEIGHED });
}

static void book_inferred(struct tare_fold *f, const struct tare_applied *a, enum tare_account account, uint32_t site,
                          int64_t bytes)
{
	if (bytes)
		tare_fold_book_bytes(f, tare_fold_bucket_at(f, a->context, account, 0, site), bytes, TARE_EVIDENCE_INFERRED);
}

static void weigh_launch(struct tare_fold *f, struct tare_step *s, const struct tare_applied *a, int64_t bytes,
                         int64_t low, int64_t high)
{
	int64_t growth = local_growth(f, s, a), local = bytes < growth ? bytes : growth, heap;

	if (local < 0)
		local = 0;
	s->local_growth -= local;
	heap = heap_growth(f, a, bytes - local);
	if (heap)
		tare_facts_note_heap(f, a->context, heap, s->end);
	book_inferred(f, a, TARE_ACCOUNT_LOCAL, s->site, local);
	book_inferred(f, a, TARE_ACCOUNT_KERNEL_HEAP, s->site, heap);
	bytes -= local + heap;
	low -= local + heap;
	high -= local + heap;
	if (bytes || low || high)
		book_weighed(f, a->bucket, bytes, low, high);
}

/* How much of a process's managed memory could still come to the device, and how much is there. */
static int64_t managed_room(const struct tare_fold *f, const struct tare_device_fold *d, int process, int64_t *resident)
{
	const struct tare_process_fold *p = f->processes[process];
	int64_t there = 0, room;

	*resident = 0;
	if (!p || d->index >= p->on_device_nr || !p->on_device[d->index])
		return 0;
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device)
		if (f->buckets[i].process == process && f->buckets[i].account == TARE_ACCOUNT_MANAGED)
			there += f->buckets[i].now.bytes;
	*resident = there > 0 ? there : 0;
	room = p->on_device[d->index]->managed - there;
	return room > 0 ? room : 0;
}

static bool has_managed(const struct tare_fold *f, const struct tare_device_fold *d, int process)
{
	const struct tare_process_fold *p = f->processes[process];

	return p && d->index < p->on_device_nr && p->on_device[d->index] && p->on_device[d->index]->managed;
}

/* The driver takes room for managed memory in whole steps (128 MiB on an H200). */
static int64_t managed_part(int64_t change, int64_t room, int64_t resident)
{
	if (change < 0)
		return change < -resident ? -resident : change;
	if (change > room && change % MANAGED_STEP == 0 && change <= round_up(room, MANAGED_STEP))
		return change;
	return change < room ? change : room;
}

/*
 * Rule "managed-touch": managed memory comes to the GPU when a kernel touches it and leaves when the
 * driver wants, with no call in between. What a device gains between calls goes to the one process
 * that has managed memory which is not there yet; with several such processes nobody can tell.
 */
int64_t tare_fold_managed_touch(struct tare_fold *f, struct tare_device_fold *d, int process, int64_t change)
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
	room = managed_room(f, d, process, &resident);
	part = managed_part(change, room, resident);
	if (!part)
		return 0;
	context = tare_fold_context(f, process, d->index, 0);
	tare_fold_book_bytes(f, tare_fold_bucket(f, context, TARE_ACCOUNT_MANAGED, 0), part, TARE_EVIDENCE_INFERRED);
	return part;
}

/* Rule "sync": a wait gives back pool memory and brings managed memory; anything else is unexplained. */
static void weigh_sync(struct tare_fold *f, struct tare_step *s, const struct tare_applied *a, int64_t bytes)
{
	struct tare_device_fold *d = f->devices[s->device];
	int64_t held = tare_fold_held(f, a->bucket), back = 0, rest;

	if (bytes < 0 && held > 0)
		back = bytes < -held ? -held : bytes;
	tare_fold_book_fall(f, a->bucket, back, TARE_EVIDENCE_WEIGHED);
	rest = bytes - back;
	rest -= tare_fold_managed_touch(f, d, s->process, rest);
	tare_fold_unexplained(f, d, s, a->context, rest);
}

void tare_fold_weigh(struct tare_fold *f, struct tare_step *s, const struct tare_applied *a, int64_t bytes, int64_t low,
                     int64_t high)
{
	if (tare_step_is_sync(s)) {
		weigh_sync(f, s, a, bytes);
		return;
	}
	if (s->class == TARE_CLASS_LAUNCH) {
		weigh_launch(f, s, a, bytes, low, high);
		return;
	}
	if (!bytes && !low && !high)
		return;
	if (s->class == TARE_CLASS_LIMIT && (uint32_t)s->limit == TARE_LIMIT_STACK_SIZE)
		context_of(f, a)->local_held += bytes;
	tare_facts_note_bytes(f, s, a->context, bytes);
	book_weighed(f, a->bucket, bytes, low, high);
	tare_graphs_weighed(&f->parts->graphs, f, s, a, bytes, low, high);
}
