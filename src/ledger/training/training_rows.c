/* SPDX-License-Identifier: Apache-2.0 */
/* Rule "steps": the steps of all threads of a process in one memory become a row. */
#include "ledger/training/training.h"

#include "ledger/core/fold.h"

#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>

enum {
	LEAST = 2,        /* the first and another */
	ACCUMULATED = 64, /* most backward passes of an optimizer's step */
	MARKS = 1024,     /* steps of which it is told when they were … */
	MARKS_LEAST = 16  /* … and of one process */
};

static uint64_t count_of(const struct tare_training_threads *w, enum tare_training_by by)
{
	uint64_t count = 0;

	for (size_t i = 0; i < w->count; i++)
		count += w->items[i].lists[by].count;
	return count;
}

/*
 * A phase may leave the first step out, or be called otherwise there: an optimizer at work is surer. Where the program
 * calls one optimizer at two lines, one after the other, few rounds have both.
 */
static enum tare_training_by best_of(const struct tare_training_threads *w)
{
	uint64_t optimizer = count_of(w, TARE_TRAINING_OPTIMIZER);
	uint64_t rounds = count_of(w, TARE_TRAINING_ROUNDS);

	if (optimizer >= LEAST && optimizer * ACCUMULATED >= count_of(w, TARE_TRAINING_BACKWARDS))
		return rounds >= LEAST && 2 * optimizer >= 3 * rounds ? TARE_TRAINING_ROUNDS : TARE_TRAINING_OPTIMIZER;
	return count_of(w, TARE_TRAINING_PHASES) >= LEAST ? TARE_TRAINING_PHASES : TARE_TRAINING_BACKWARDS;
}

/* ---- figures ---- */

struct others {
	const struct tare_training_step **steps;
	size_t count;
};

/* Of several threads, the first step is that of the first; others first take what is taken once, too. */
static const struct tare_training_list *first_of(const struct tare_training_threads *w, enum tare_training_by by)
{
	const struct tare_training_list *first = NULL;

	for (size_t i = 0; i < w->count; i++) {
		const struct tare_training_list *l = &w->items[i].lists[by];

		if (l->count && (!first || l->first_ns < first->first_ns))
			first = l;
	}
	return first;
}

/* All steps but the threads' first ones; those where no thread made two. */
static struct others others_of(const struct tare_training_threads *w, enum tare_training_by by)
{
	const struct tare_training_list *first = first_of(w, by);
	struct others o = { 0 };
	size_t room = 0;

	for (size_t i = 0; i < w->count; i++)
		room += w->items[i].lists[by].nr + 1;
	o.steps = tare_xcalloc(room, sizeof(*o.steps));
	for (size_t i = 0; i < w->count; i++)
		for (size_t k = 0; k < w->items[i].lists[by].nr; k++)
			o.steps[o.count++] = &w->items[i].lists[by].items[k];
	for (size_t i = 0; room == w->count && i < w->count; i++)
		if (w->items[i].lists[by].count && &w->items[i].lists[by] != first)
			o.steps[o.count++] = &w->items[i].lists[by].first;
	return o;
}

TARE_SCALAR_COMPARATOR(compare, int64_t)

static int64_t median_of(const struct others *o, int figure)
{
	int64_t *values = tare_xcalloc(o->count, sizeof(*values)), median;

	for (size_t i = 0; i < o->count; i++)
		values[i] = o->steps[i]->figures[figure];
	TARE_SORT(values, o->count, compare);
	median = values[o->count / 2];
	if (o->count % 2 == 0)
		median = values[o->count / 2 - 1] + (median - values[o->count / 2 - 1]) / 2;
	free(values);
	return median;
}

static void add_figures(const struct tare_training_threads *w, struct tare_training *out)
{
	struct others o = others_of(w, out->by);

	out->first = first_of(w, out->by)->first;
	for (int i = 0; i < TARE_TRAINING_NR; i++)
		out->steady.figures[i] = median_of(&o, i);
	free(o.steps);
}

/* How many steps each thread made, in the order in which they began to train. */
static void add_counts(const struct tare_training_threads *w, struct tare_arena *memory, struct tare_training *out)
{
	uint64_t *counts = tare_arena_alloc(memory, w->count * sizeof(*counts));

	for (size_t i = 0; i < w->count; i++) {
		uint64_t count = w->items[i].lists[out->by].count;

		if (count)
			counts[out->thread_nr++] = count;
		out->count += count;
	}
	out->counts = counts;
}

/* ---- rows ---- */

/* Phases are of all devices; the process may have nothing on this one. */
static bool is_used(const struct tare_fold *f, int process, int device)
{
	int bucket = device < 0 ? -1 : f->devices[device]->buckets;

	while (bucket >= 0 && f->buckets[bucket].process != process)
		bucket = f->buckets[bucket].next_of_device;
	return device < 0 || bucket >= 0;
}

static void add_row(const struct tare_training_part *t, const struct tare_fold *f, int process, int device,
                    struct tare_ledger *out)
{
	const struct tare_training_threads *at = tare_training_at(t, process, device);
	const struct tare_process *p = f->processes[process]->process;
	struct tare_training *row;

	/* Of what was not recorded nobody knows which step was the first. */
	if (!at->count || f->pause_nr || !is_used(f, process, device) || count_of(at, best_of(at)) < LEAST)
		return;
	row = &out->trainings[out->training_nr++];
	*row = (struct tare_training){
		.pid = p->pid,
		.generation = p->generation,
		.program = tare_arena_strdup(out->memory, p->program ? p->program : ""),
		.device = device < 0 ? -1 : out->devices[tare_fold_device_place(f, f->devices[device])].index,
		.by = best_of(at),
		.process = process,
		.memory = device,
	};
	add_counts(at, out->memory, row);
	add_figures(at, row);
}

/* Of many processes each has fewer. */
static void add_marks(const struct tare_training_part *t, struct tare_ledger *out)
{
	for (int i = 0; i < out->training_nr; i++) {
		struct tare_training *row = &out->trainings[i];
		size_t most = MARKS / (size_t)out->training_nr;

		tare_training_marks(tare_training_at(t, row->process, row->memory), most > MARKS_LEAST ? most : MARKS_LEAST,
		                    out->memory, row);
	}
}

void tare_training_rows(const struct tare_training_part *t, const struct tare_fold *f, struct tare_ledger *out)
{
	size_t room = (size_t)t->process_nr * (size_t)(t->device_nr + 1) + 1;

	out->trainings = tare_arena_alloc(out->memory, room * sizeof(*out->trainings));
	for (int i = 0; i < t->process_nr; i++) {
		int before = out->training_nr;

		for (int k = 0; f->processes[i] && k < t->device_nr; k++)
			if (f->devices[k])
				add_row(t, f, i, k, out);
		/* Beside a GPU it is not what is trained on: batches, scalars. */
		if (f->processes[i] && out->training_nr == before)
			add_row(t, f, i, -1, out);
	}
	add_marks(t, out);
}
