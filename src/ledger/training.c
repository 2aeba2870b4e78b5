/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "steps". A step of training ends where the program goes on after its optimizer; where no optimizer is seen at
 * work, it is a phase that is called so, and without those it ends after a backward pass.
 */
#include "ledger/training.h"

#include "ledger/fold.h"

#include "base/array.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	KEPT = 2048,     /* steps of a list */
	LEAST = 3,       /* the first and two more: what happens twice may be anything */
	ACCUMULATED = 64 /* most backward passes of an optimizer's step */
};

/* ---- one list ---- */

static void begin(struct tare_training_list *l, int64_t t, int64_t used, int64_t live)
{
	l->is_open = true;
	l->begin_ns = t;
	l->open = (struct tare_training_step){ 0 };
	l->open.figures[TARE_TRAINING_USED] = used;
	l->open.figures[TARE_TRAINING_LIVE] = live;
}

static void thin_out(struct tare_training_list *l)
{
	for (size_t i = 1; 2 * i < l->nr; i++)
		l->items[i] = l->items[2 * i];
	l->nr = (l->nr + 1) / 2;
	l->stride *= 2;
}

static void end(struct tare_training_list *l, int64_t t)
{
	if (!l->is_open)
		return;
	l->is_open = false;
	l->open.figures[TARE_TRAINING_NS] = t - l->begin_ns;
	if (!l->count++) {
		l->first = l->open;
		l->stride = 1;
		return;
	}
	if ((l->count - 2) % l->stride)
		return;
	l->items = tare_array_reserve(l->items, &l->cap, l->nr + 1, sizeof(*l->items));
	l->items[l->nr++] = l->open;
	if (l->nr == KEPT)
		thin_out(l);
}

static void most(struct tare_training_list *l, enum tare_training_figure what, int64_t now)
{
	if (l->is_open && l->open.figures[what] < now)
		l->open.figures[what] = now;
}

static void add(struct tare_training_fold *t, enum tare_training_figure what, int64_t by)
{
	for (int i = 0; i < TARE_TRAINING_BY_NR; i++)
		if (t->lists[i].is_open)
			t->lists[i].open.figures[what] += by;
}

/* ---- what happens ---- */

static int64_t live_of(const struct tare_fold *f, const struct tare_training_fold *t)
{
	return t->device < 0 ? f->processes[t->process]->host.tensors.bytes
			     : f->devices[t->device]->live;
}

static int64_t used_of(const struct tare_fold *f, const struct tare_training_fold *t)
{
	return t->device < 0 ? 0 : f->devices[t->device]->used;
}

static struct tare_training_fold *training_of(struct tare_work *w, int process, int device)
{
	if (!w->training) {
		w->training = tare_xcalloc(1, sizeof(*w->training));
		w->training->process = process;
		w->training->device = device;
		w->training->section = w->section;
		w->training->backwards = w->backwards;
	}
	return w->training;
}

static void next_step(const struct tare_fold *f, struct tare_training_fold *t,
		      enum tare_training_by by, int64_t at)
{
	end(&t->lists[by], at);
	begin(&t->lists[by], at, used_of(f, t), live_of(f, t));
}

/* The program has begun something else, by the thread that tells. */
static void see_section(const struct tare_fold *f, struct tare_training_fold *t,
			const struct tare_work *w, int64_t at)
{
	t->has_backward |= w->backwards != t->backwards;
	t->has_optimizer |= w->kind == TARE_WORK_OPTIMIZER && t->has_backward;
	t->section = w->section;
	t->backwards = w->backwards;
	if (w->kind == TARE_WORK_BACKWARD || w->kind == TARE_WORK_OPTIMIZER)
		return;
	if (t->has_backward)
		next_step(f, t, TARE_TRAINING_BACKWARDS, at);
	if (t->has_optimizer)
		next_step(f, t, TARE_TRAINING_OPTIMIZER, at);
	t->has_backward = t->has_optimizer = false;
}

static bool is_begun(const struct tare_training_fold *t)
{
	return t && (t->lists[TARE_TRAINING_BACKWARDS].is_open ||
		     t->lists[TARE_TRAINING_BACKWARDS].count);
}

/* The first step begins with the first forward that a backward pass can go back from. */
static void begin_first(struct tare_fold *f, struct tare_work *w, int device,
			const struct tare_live_block *b)
{
	struct tare_training_fold *t = training_of(w, b->process, device);

	next_step(f, t, TARE_TRAINING_BACKWARDS, b->born_ns);
	next_step(f, t, TARE_TRAINING_OPTIMIZER, b->born_ns);
	t->section = w->section;
	t->backwards = w->backwards;
}

void tare_fold_training_block(struct tare_fold *f, struct tare_work *w, int device,
			      const struct tare_live_block *b)
{
	if (b->born_ns < 0)
		return;
	if (is_begun(w->training) && w->section != w->training->section)
		see_section(f, w->training, w, b->born_ns);
	else if (!is_begun(w->training) && w->kind == TARE_WORK_FORWARD &&
		 b->flags & TARE_TENSOR_GRAD)
		begin_first(f, w, device, b);
	for (int i = 0; w->training && i < TARE_TRAINING_BY_NR; i++)
		most(&w->training->lists[i], TARE_TRAINING_LIVE, live_of(f, w->training));
}

static struct tare_training_fold *at_place(const struct tare_fold *f, int process, int device)
{
	const struct tare_process_fold *p = process < 0 ? NULL : f->processes[process];

	return p && device < p->place_nr && p->places[device]
		       ? p->places[device]->blocks.work.training
		       : NULL;
}

void tare_fold_training_used(struct tare_fold *f, const struct tare_device_fold *d)
{
	for (int i = 0; i < f->process_nr; i++) {
		struct tare_training_fold *t = at_place(f, i, d->index);

		for (int k = 0; t && k < TARE_TRAINING_BY_NR; k++)
			most(&t->lists[k], TARE_TRAINING_USED, d->used);
	}
}

/* Does it ask for memory? */
static bool asks(const struct tare_step *s)
{
	if (s->class == TARE_CLASS_POOL)
		return s->effect == TARE_EFFECT_CHANGE && s->asked;
	return s->effect == TARE_EFFECT_NEW &&
	       (s->class == TARE_CLASS_VMM || s->class == TARE_CLASS_MANAGED ||
		tare_classes[s->class].sizing == TARE_SIZING_PAGES);
}

static void add_trials(const struct tare_fold *f, struct tare_training_fold *t)
{
	for (size_t i = 0; i < f->ops.count; i++) {
		const struct tare_op *op = &f->ops.items[i];

		if (f->buckets[op->bucket].account == TARE_ACCOUNT_TRIAL)
			add(t, op->by.bytes > 0 ? TARE_TRAINING_TRIED : TARE_TRAINING_GIVEN_BACK,
			    op->by.bytes > 0 ? op->by.bytes : -op->by.bytes);
	}
}

static void add_call(const struct tare_fold *f, struct tare_training_fold *t,
		     const struct tare_step *s)
{
	if (!tare_step_is_sync(s))
		add(t, TARE_TRAINING_DRIVER, s->end - s->begin);
	if (asks(s) && s->flags & TARE_EVENT_FAILED) {
		add(t, TARE_TRAINING_REFUSED, 1);
	} else if (asks(s)) {
		add(t, TARE_TRAINING_ASKED, 1);
		add(t, TARE_TRAINING_ASKED_BYTES, (int64_t)(s->granted ? s->granted : s->asked));
	}
	add_trials(f, t);
}

/* A call of no device is of all that the process trains on. */
void tare_fold_training_call(const struct tare_fold *f, const struct tare_step *s)
{
	const struct tare_process_fold *p = f->processes[s->process];

	if (s->is_folded || s->effect == TARE_EFFECT_UNDO)
		return;
	for (int i = 0; i < p->place_nr; i++) {
		struct tare_training_fold *t = at_place(f, s->process, i);

		if (t && (s->device < 0 || s->device == i))
			add_call(f, t, s);
	}
}

/* ---- phases ---- */

/* "step 3", "train_step", "ProfilerStep#12", "iteration"; not "Optimizer.step#SGD.step". */
bool tare_training_is_step(const char *name)
{
	static const char *const words[] = { "step", "iteration", "iter" };
	size_t n = 0;

	while (isalpha((unsigned char)name[n]) || name[n] == '_')
		n++;
	if (!strncasecmp(name, "optim", 5) || name[n] == '.' || name[n] == ':')
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i]);

		if (n >= length && !strncasecmp(name + n - length, words[i], length))
			return true;
	}
	return false;
}

void tare_fold_training_phase(struct tare_fold *f, const struct tare_device_fold *d, int known,
			      int64_t at, bool is_end)
{
	const struct tare_phase_known *k = &f->phases.known[known];
	struct tare_training_list *l;
	struct tare_training_fold *t;

	if (!tare_training_is_step(k->name))
		return;
	t = training_of(&tare_fold_place(f, k->process, d->index)->blocks.work, k->process,
			d->index);
	l = &t->lists[TARE_TRAINING_PHASES];
	if (!is_end && !l->depth++)
		begin(l, at, d->used, d->live);
	else if (is_end && l->depth && !--l->depth)
		end(l, at);
}

void tare_training_free(struct tare_training_fold *t)
{
	for (int i = 0; t && i < TARE_TRAINING_BY_NR; i++)
		free(t->lists[i].items);
	free(t);
}

/* ---- rows ---- */

/* A phase may leave the first step out, or be called otherwise there: an optimizer at work is surer. */
static const struct tare_training_list *best_of(const struct tare_training_fold *t,
						enum tare_training_by *by)
{
	const struct tare_training_list *lists = t->lists;

	*by = TARE_TRAINING_OPTIMIZER;
	if (lists[*by].count >= LEAST &&
	    lists[*by].count * ACCUMULATED >= lists[TARE_TRAINING_BACKWARDS].count)
		return &lists[*by];
	*by = TARE_TRAINING_PHASES;
	if (lists[*by].count >= LEAST)
		return &lists[*by];
	*by = TARE_TRAINING_BACKWARDS;
	return lists[*by].count >= LEAST ? &lists[*by] : NULL;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t median_of(const struct tare_training_list *l, int figure)
{
	int64_t *values = tare_xcalloc(l->nr, sizeof(*values)), median;

	for (size_t i = 0; i < l->nr; i++)
		values[i] = l->items[i].figures[figure];
	qsort(values, l->nr, sizeof(*values), compare);
	median = values[l->nr / 2];
	if (l->nr % 2 == 0)
		median = values[l->nr / 2 - 1] + (median - values[l->nr / 2 - 1]) / 2;
	free(values);
	return median;
}

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
	const struct tare_training_fold *t = w->training;
	const struct tare_process *p = t ? f->processes[t->process]->process : NULL;
	const struct tare_training_list *l;
	struct tare_training *row;
	enum tare_training_by by;

	/* Of what was folded, or not recorded, nobody knows which step was the first. */
	if (!t || p->fold_ns > 0 || f->pause_nr || !is_used(f, t) || !(l = best_of(t, &by)))
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
		.by = by,
		.count = l->count,
		.first = l->first
	};
	for (int i = 0; i < TARE_TRAINING_NR; i++)
		row->steady.figures[i] = median_of(l, i);
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
