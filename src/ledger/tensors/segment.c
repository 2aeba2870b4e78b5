/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of PyTorch's allocator: which there are, now and at moments, and what of them is cached how. */
#include "ledger/tensors/tensors.h"

#include "base/array.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* The place of the last segment that begins at or before the address; -1: none does. */
int tare_segments_place(const struct tare_segments *s, uint64_t at)
{
	size_t first = 0, n = s->count;

	/* The loop has no branch that depends on the address: for blocks, every second one would be guessed wrong. */
	while (n > 1) {
		size_t half = n / 2;

		first += s->items[first + half].at <= at ? half : 0;
		n -= half;
	}
	return n && s->items[first].at <= at ? (int)first : -1;
}

static void book(struct tare_fold *f, const struct tare_segment *s, int account, int64_t bytes, enum tare_evidence how)
{
	if (bytes)
		tare_fold_book_bytes(f, tare_fold_bucket(f, s->context, account, s->owner), bytes, how);
}

static int64_t pinned(const struct tare_segment *s)
{
	return s->live > 0 ? (int64_t)s->size - s->live : 0;
}

static int64_t held(const struct tare_segment *s)
{
	return s->is_held && s->live <= 0 ? (int64_t)s->size - s->live : 0;
}

/* Not often: kept apart, so that what is done for every block is short. */
static __attribute__((noinline)) void look_up(struct tare_fold *f, const struct tare_segment *s,
                                              struct tare_site *known, uint32_t site)
{
	known->segment_context = s->context;
	known->segment_owner = s->owner;
	known->tensor = tare_fold_bucket_at(f, s->context, TARE_BUCKET_TENSOR, s->owner, site);
	known->ever_allocated = tare_fold_bucket_at(f, s->context, TARE_BUCKET_EVER_ALLOCATED, s->owner, site);
}

/* A place in the program that was given blocks; most of its blocks lie in segments of one context. */
static inline const struct tare_site *site_in(struct tare_fold *f, const struct tare_segment *s, uint32_t site)
{
	struct tare_site *known = site ? &f->sites[site] : &f->no_site;

	if (!known->tensor || known->segment_context != s->context || known->segment_owner != s->owner)
		look_up(f, s, known, site);
	return known;
}

void tare_fold_segment_allocated(struct tare_fold *f, struct tare_device_fold *d, const struct tare_segment *s,
                                 uint32_t site, int64_t bytes)
{
	int bucket = site_in(f, s, site)->ever_allocated;

	tare_fold_book_blocks(f, bucket, d, bytes, 1);
}

void tare_fold_segment_collected(struct tare_fold *f, struct tare_device_fold *d, const struct tare_segment *s,
                                 int64_t bytes)
{
	int bucket = tare_fold_bucket(f, s->context, TARE_BUCKET_COLLECTED, s->owner);

	tare_fold_book_blocks(f, bucket, d, bytes, 1);
}

int tare_fold_segment_move(struct tare_fold *f, struct tare_device_fold *d, struct tare_segment *s, uint32_t site,
                           int64_t bytes, int64_t count)
{
	int64_t was_pinned = pinned(s), was_held = held(s);
	int bucket;

	s->live += bytes;
	if (s->is_trial) {
		book(f, s, TARE_BUCKET_TRIED, bytes, TARE_EVIDENCE_EXACT);
		return -1;
	}
	bucket = site_in(f, s, site)->tensor;
	tare_fold_book_blocks(f, bucket, d, bytes, count);
	d->live += bytes;
	if (!s->partly)
		s->partly = tare_fold_bucket(f, s->context, TARE_BUCKET_PARTLY, s->owner);
	if (pinned(s) != was_pinned)
		tare_fold_book_blocks(f, s->partly, d, pinned(s) - was_pinned, 0);
	if (s->is_held && held(s) != was_held)
		book(f, s, TARE_BUCKET_HELD, held(s) - was_held, TARE_EVIDENCE_INFERRED);
	return bucket;
}

/* ---- held for graphs ---- */

/* By pool of the framework: does a graph of this process need it? The caller frees it. */
static bool *needed_pools(const struct tare_fold *f, int process)
{
	bool *needed = tare_xcalloc(f->group_pool_nr + 1, sizeof(*needed));

	for (size_t i = 0; i < f->group_nr; i++) {
		const struct tare_capture_group *g = &f->groups[i];

		if (g->process == process && g->pool <= f->group_pool_nr && g->is_there)
			needed[g->pool] = true;
	}
	return needed;
}

static bool is_needed(const struct tare_fold *f, const bool *pools, int graph)
{
	const struct tare_capture_group *g;

	if (graph < 0 || (size_t)graph >= f->group_nr)
		return false;
	g = &f->groups[graph];
	return g->pool && g->pool <= f->group_pool_nr ? pools[g->pool] : g->is_there;
}

/* ---- moments ---- */

/* Before the segment goes, or becomes another: what it was at moments stays known. */
static void keep(struct tare_device_fold *d, const struct tare_segment *s)
{
	for (int m = 0; m < TARE_MOMENT_NR; m++) {
		struct tare_kept_segments *k = &d->kept_segments[m];

		if (s->moment[m] == d->moment_nr[m])
			continue;
		if (k->moment != d->moment_nr[m])
			k->count = 0;
		k->moment = d->moment_nr[m];
		TARE_APPEND(k->items, k->count, k->cap) = *s;
	}
}

static void show(struct tare_segment **out, size_t *count, size_t *cap, const struct tare_segment *s)
{
	TARE_ADD(*out, *count, *cap, *s)->live = 0;
}

size_t tare_fold_segments_at(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                             struct tare_segment **out)
{
	bool is_now = m == TARE_MOMENT_NOW;
	size_t count = 0, cap = 0;

	*out = NULL;
	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process_fold *p = f->processes[i];
		const struct tare_process_on_device *at = p && d->index < p->on_device_nr ? p->on_device[d->index] : NULL;

		for (size_t k = 0; at && k < at->segments.count; k++)
			if (is_now || at->segments.items[k].moment[m] != d->moment_nr[m])
				show(out, &count, &cap, &at->segments.items[k]);
	}
	if (!is_now && d->kept_segments[m].moment == d->moment_nr[m])
		for (size_t i = 0; i < d->kept_segments[m].count; i++)
			show(out, &count, &cap, &d->kept_segments[m].items[i]);
	return count;
}

/* ---- coming, going, changing ---- */

void tare_fold_segment_add(struct tare_fold *f, int bucket, uint64_t at, uint64_t size, int graph)
{
	const struct tare_bucket *b = &f->buckets[bucket];
	struct tare_segments *s = &tare_fold_process_on(f, b->process, b->device)->segments;
	size_t i = (size_t)(tare_segments_place(s, at) + 1);
	bool is_trial = b->account == TARE_ACCOUNT_TRIAL;
	TARE_FREED_HERE bool *pools = graph < 0 || is_trial ? NULL : needed_pools(f, b->process);

	s->items = tare_array_reserve(s->items, &s->cap, s->count + 1, sizeof(*s->items));
	memmove(&s->items[i + 1], &s->items[i], (s->count - i) * sizeof(*s->items));
	s->items[i] = (struct tare_segment){ .at = at,
		                                 .size = size,
		                                 .context = b->context,
		                                 .owner = b->owner,
		                                 .process = b->process,
		                                 .graph = graph,
		                                 .is_held = pools && is_needed(f, pools, graph),
		                                 .is_trial = is_trial,
		                                 .is_expandable = !f->contexts[b->context].handle };
	memcpy(s->items[i].moment, f->devices[b->device]->moment_nr, sizeof(s->items[i].moment));
	s->count++;
	book(f, &s->items[i], TARE_BUCKET_HELD, held(&s->items[i]), TARE_EVIDENCE_INFERRED);
}

/* Also of what was no segment, or is booked elsewhere by now. */
void tare_tensors_unmap(struct tare_tensors_part *tensors, struct tare_fold *f, int process, int device, uint64_t at)
{
	struct tare_process_on_device *p = tare_fold_process_on(f, process, device);
	struct tare_segments *s = &p->segments;
	int i = tare_segments_place(s, at);

	if (i < 0 || s->items[i].at != at)
		return;
	if (s->items[i].live)
		tare_fold_free_segment_blocks(tensors, f, f->devices[device], p, &s->items[i]);
	book(f, &s->items[i], TARE_BUCKET_HELD, -held(&s->items[i]), TARE_EVIDENCE_INFERRED);
	keep(f->devices[device], &s->items[i]);
	s->count--;
	memmove(&s->items[i], &s->items[i + 1], (s->count - (size_t)i) * sizeof(*s->items));
}

static void hold(struct tare_fold *f, struct tare_device_fold *d, struct tare_segment *s, bool is_held)
{
	int64_t before = held(s);

	if (s->is_held == is_held)
		return;
	keep(d, s);
	memcpy(s->moment, d->moment_nr, sizeof(s->moment));
	s->is_held = is_held;
	book(f, s, TARE_BUCKET_HELD, held(s) - before, TARE_EVIDENCE_INFERRED);
}

void tare_fold_segment_hold(struct tare_fold *f, int process)
{
	const struct tare_process_fold *p = f->processes[process];
	TARE_FREED_HERE bool *pools = needed_pools(f, process);

	for (int i = 0; i < p->on_device_nr; i++)
		for (size_t k = 0; p->on_device[i] && k < p->on_device[i]->segments.count; k++) {
			struct tare_segment *s = &p->on_device[i]->segments.items[k];

			if (s->graph >= 0 && !s->is_trial)
				hold(f, f->devices[i], s, is_needed(f, pools, s->graph));
		}
}
