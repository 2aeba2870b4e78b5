/* SPDX-License-Identifier: Apache-2.0 */
/* Rule "steps": the steps of all threads of a process in one memory become a row. */
#include "ledger/training/training.h"

#include "ledger/fold.h"

#include "base/array.h"
#include "base/xalloc.h"

#include <stdlib.h>

enum {
	LEAST = 2,       /* the first and another */
	ACCUMULATED = 64 /* most backward passes of an optimizer's step */
};

static uint64_t count_of(const struct tare_work *w, enum tare_training_by by)
{
	uint64_t count = 0;

	for (size_t i = 0; i < w->training_nr; i++)
		count += w->trainings[i]->lists[by].count;
	return count;
}

/* A phase may leave the first step out, or be called otherwise there: an optimizer at work is surer. */
static enum tare_training_by best_of(const struct tare_work *w)
{
	uint64_t optimizer = count_of(w, TARE_TRAINING_OPTIMIZER);

	if (optimizer >= LEAST && optimizer * ACCUMULATED >= count_of(w, TARE_TRAINING_BACKWARDS))
		return TARE_TRAINING_OPTIMIZER;
	return count_of(w, TARE_TRAINING_PHASES) >= LEAST ? TARE_TRAINING_PHASES
							  : TARE_TRAINING_BACKWARDS;
}

/* ---- figures ---- */

struct others {
	const struct tare_training_step **steps;
	size_t count;
};

/* Of several threads, the first step is that of the first; others first take what is taken once, too. */
static const struct tare_training_list *first_of(const struct tare_work *w,
						 enum tare_training_by by)
{
	const struct tare_training_list *first = NULL;

	for (size_t i = 0; i < w->training_nr; i++) {
		const struct tare_training_list *l = &w->trainings[i]->lists[by];

		if (l->count && (!first || l->first_ns < first->first_ns))
			first = l;
	}
	return first;
}

/* All steps but the threads' first ones; those where no thread made two. */
static struct others others_of(const struct tare_work *w, enum tare_training_by by)
{
	const struct tare_training_list *first = first_of(w, by);
	struct others o = { 0 };
	size_t room = 0;

	for (size_t i = 0; i < w->training_nr; i++)
		room += w->trainings[i]->lists[by].nr + 1;
	o.steps = tare_xcalloc(room, sizeof(*o.steps));
	for (size_t i = 0; i < w->training_nr; i++)
		for (size_t k = 0; k < w->trainings[i]->lists[by].nr; k++)
			o.steps[o.count++] = &w->trainings[i]->lists[by].items[k];
	for (size_t i = 0; room == w->training_nr && i < w->training_nr; i++)
		if (w->trainings[i]->lists[by].count && &w->trainings[i]->lists[by] != first)
			o.steps[o.count++] = &w->trainings[i]->lists[by].first;
	return o;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t median_of(const struct others *o, int figure)
{
	int64_t *values = tare_xcalloc(o->count, sizeof(*values)), median;

	for (size_t i = 0; i < o->count; i++)
		values[i] = o->steps[i]->figures[figure];
	qsort(values, o->count, sizeof(*values), compare);
	median = values[o->count / 2];
	if (o->count % 2 == 0)
		median = values[o->count / 2 - 1] + (median - values[o->count / 2 - 1]) / 2;
	free(values);
	return median;
}

static void add_figures(const struct tare_work *w, struct tare_training *out)
{
	struct others o = others_of(w, out->by);

	out->first = first_of(w, out->by)->first;
	for (int i = 0; i < TARE_TRAINING_NR; i++)
		out->steady.figures[i] = median_of(&o, i);
	free(o.steps);
}

/* How many steps each thread made, in the order in which they began to train. */
static void add_counts(const struct tare_work *w, struct tare_arena *memory,
		       struct tare_training *out)
{
	uint64_t *counts = tare_arena_alloc(memory, w->training_nr * sizeof(*counts));

	for (size_t i = 0; i < w->training_nr; i++) {
		uint64_t count = w->trainings[i]->lists[out->by].count;

		if (count)
			counts[out->thread_nr++] = count;
		out->count += count;
	}
	out->counts = counts;
}

/* ---- rows ---- */

/* What there was of its tensors when there was most on that device, or CPU. */
static void add_most(const struct tare_fold *f, const struct tare_training_fold *t,
		     const struct tare_work *w, struct tare_training *out)
{
	enum tare_mark m = t->device < 0 ? TARE_MARK_HOST : TARE_MARK_TENSORS;
	struct tare_block_list list;

	out->most_at = tare_mark_name(m);
	out->most_ns = t->device < 0 ? f->host.mark_ns[m] : f->devices[t->device]->mark_ns[m];
	if (t->device < 0)
		tare_fold_host_blocks_at(f, t->process, m, &list);
	else
		tare_fold_blocks_at(f, f->devices[t->device], m, &list);
	for (size_t i = 0; i < list.count; i++) {
		const struct tare_live_block *b = list.items[i];

		if (b->process == t->process && !(b->flags & TARE_TENSOR_MAPPED))
			tare_category_sums_add(out->most, tare_fold_rule_of(f, b, w), b->bytes, 1);
	}
	free(list.items);
}

/* Phases are of all devices; the process may have nothing on this one. */
static bool is_used(const struct tare_fold *f, const struct tare_training_fold *t)
{
	int bucket = t->device < 0 ? -1 : f->devices[t->device]->buckets;

	while (bucket >= 0 && f->buckets[bucket].process != t->process)
		bucket = f->buckets[bucket].next_of_device;
	return t->device < 0 || bucket >= 0;
}

static void add_row(const struct tare_fold *f, const struct tare_work *w, struct tare_ledger *out)
{
	const struct tare_training_fold *t = w->training_nr ? w->trainings[0] : NULL;
	const struct tare_process *p = t ? f->processes[t->process]->process : NULL;
	struct tare_training *row;

	/* Of what was folded, or not recorded, nobody knows which step was the first. */
	if (!t || p->fold_ns > 0 || f->pause_nr || !is_used(f, t) ||
	    count_of(w, best_of(w)) < LEAST)
		return;
	row = &out->trainings[out->training_nr++];
	*row = (struct tare_training){
		.pid = p->pid,
		.generation = p->generation,
		.program = tare_arena_strdup(out->memory, p->program ? p->program : ""),
		.device = t->device < 0
				  ? -1
				  : out->devices[tare_fold_device_place(f, f->devices[t->device])]
					    .index,
		.by = best_of(w),
	};
	add_counts(w, out->memory, row);
	add_figures(w, row);
	add_most(f, t, w, row);
}

void tare_fold_training_rows(const struct tare_fold *f, struct tare_ledger *out)
{
	size_t room = (size_t)f->process_nr * (size_t)(f->device_nr + 1) + 1;

	out->trainings = tare_arena_alloc(out->memory, room * sizeof(*out->trainings));
	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process_fold *p = f->processes[i];
		int before = out->training_nr;

		for (int k = 0; p && k < p->place_nr; k++)
			if (p->places[k])
				add_row(f, &p->places[k]->blocks.work, out);
		/* Beside a GPU it is not what is trained on: batches, scalars. */
		if (p && out->training_nr == before)
			add_row(f, &p->host_blocks.work, out);
	}
}
