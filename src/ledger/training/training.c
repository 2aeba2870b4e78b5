/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "steps". A step of training ends where its thread goes on after its optimizer; where no optimizer is seen at
 * work, it is a phase that is called so, and without those it ends after a backward pass. Each thread has its own.
 */
#include "ledger/training/training.h"

#include "ledger/fold.h"

#include "base/array.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { THREADS = 1024 /* whose steps are told apart, of a process in a memory */ };

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

/* NULL: there are too many already. */
static struct tare_training_fold *training_of(struct tare_work *work, struct tare_worker *w,
					      int process, int device)
{
	struct tare_training_fold *t;

	if (w->training || work->training_nr == THREADS)
		return w->training;
	t = w->training = tare_xcalloc(1, sizeof(*t));
	t->process = process;
	t->device = device;
	t->tid = w->tid;
	t->section = w->section;
	t->backwards = w->backwards;
	work->trainings = tare_array_reserve(work->trainings, &work->training_cap,
					     work->training_nr + 1, sizeof(*work->trainings));
	work->trainings[work->training_nr++] = t;
	return t;
}

static void next_step(const struct tare_fold *f, struct tare_training_fold *t,
		      enum tare_training_by by, int64_t at)
{
	tare_training_end(&t->lists[by], at);
	tare_training_begin(&t->lists[by], at, used_of(f, t), live_of(f, t));
}

/* The thread has begun something else. */
static void see_section(const struct tare_fold *f, struct tare_training_fold *t,
			const struct tare_worker *w, int64_t at)
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
static void begin_first(struct tare_fold *f, struct tare_training_fold *t,
			const struct tare_worker *w, int64_t at)
{
	next_step(f, t, TARE_TRAINING_BACKWARDS, at);
	next_step(f, t, TARE_TRAINING_OPTIMIZER, at);
	t->section = w->section;
	t->backwards = w->backwards;
}

/* What a backward pass, or an optimizer, made last. */
static void note_last(struct tare_training_fold *t, const struct tare_worker *w,
		      const struct tare_live_block *b)
{
	struct tare_training_last *last = &t->lasts[w->kind == TARE_WORK_OPTIMIZER];

	if (w->kind != TARE_WORK_BACKWARD && w->kind != TARE_WORK_OPTIMIZER)
		return;
	if (last->section != w->section) {
		last->before_site = last->site;
		last->before_bytes = last->bytes;
	}
	last->section = w->section;
	last->site = b->site;
	last->bytes = b->bytes;
	t->last_ns = b->born_ns;
}

void tare_fold_training_block(struct tare_fold *f, struct tare_work *work, int device,
			      const struct tare_live_block *b)
{
	struct tare_worker *w = &work->workers[b->use.worker - 1];
	struct tare_training_fold *t = w->training;

	if (b->born_ns < 0)
		return;
	if (is_begun(t) && w->section != t->section)
		see_section(f, t, w, b->born_ns);
	else if (!is_begun(t) && w->kind == TARE_WORK_FORWARD && b->flags & TARE_TENSOR_GRAD &&
		 (t = training_of(work, w, b->process, device)))
		begin_first(f, t, w, b->born_ns);
	if (t)
		note_last(t, w, b);
	for (size_t k = 0; k < work->training_nr; k++)
		for (int i = 0; i < TARE_TRAINING_BY_NR; i++)
			tare_training_most(&work->trainings[k]->lists[i], TARE_TRAINING_LIVE,
					   live_of(f, work->trainings[k]));
}

static struct tare_work *at_place(const struct tare_fold *f, int process, int device)
{
	const struct tare_process_fold *p = process < 0 ? NULL : f->processes[process];

	return p && device < p->place_nr && p->places[device] ? &p->places[device]->blocks.work
							      : NULL;
}

void tare_fold_training_used(struct tare_fold *f, const struct tare_device_fold *d)
{
	for (int i = 0; i < f->process_nr; i++) {
		struct tare_work *w = at_place(f, i, d->index);

		for (size_t n = 0; w && n < w->training_nr; n++)
			for (int k = 0; k < TARE_TRAINING_BY_NR; k++)
				tare_training_most(&w->trainings[n]->lists[k], TARE_TRAINING_USED,
						   d->used);
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

/* Of several threads that train, a call is that of the one that made it; other threads work for the only one. */
static bool is_for(const struct tare_work *w, const struct tare_training_fold *t,
		   const struct tare_step *s)
{
	return w->training_nr == 1 || t->tid == s->tid;
}

/* A call of no device is of all that the process trains on. */
void tare_fold_training_call(const struct tare_fold *f, const struct tare_step *s)
{
	const struct tare_process_fold *p = f->processes[s->process];

	if (s->is_folded || s->effect == TARE_EFFECT_UNDO)
		return;
	for (int i = 0; i < p->place_nr; i++) {
		struct tare_work *w =
			s->device < 0 || s->device == i ? at_place(f, s->process, i) : NULL;

		for (size_t n = 0; w && n < w->training_nr; n++)
			if (is_for(w, w->trainings[n], s))
				add_call(f, w->trainings[n], s);
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

void tare_fold_training_phase(struct tare_fold *f, const struct tare_device_fold *d,
			      const struct tare_phase_frame *frame, int64_t at, bool is_end)
{
	const struct tare_phase_known *k = frame->known < 0 ? NULL : &f->phases.known[frame->known];
	struct tare_training_list *l;
	struct tare_training_fold *t;
	struct tare_work *w;

	if (!k || !tare_training_is_step(k->name))
		return;
	w = &tare_fold_place(f, k->process, d->index)->blocks.work;
	t = training_of(w, tare_work_thread(w, frame->tid), k->process, d->index);
	if (!t)
		return;
	l = &t->lists[TARE_TRAINING_PHASES];
	if (!is_end && !l->depth++)
		tare_training_begin(l, at, d->used, d->live);
	else if (is_end && l->depth && !--l->depth)
		tare_training_end(l, at);
}

void tare_training_free(struct tare_training_fold *t)
{
	for (int i = 0; t && i < TARE_TRAINING_BY_NR; i++)
		free(t->lists[i].items);
	free(t);
}

/* ---- the end ---- */

/* Its last block is like the last of the piece of work before: it came to its end. */
static bool is_like_before(const struct tare_training_last *l)
{
	return l->before_bytes && l->site == l->before_site && l->bytes == l->before_bytes;
}

/* After its last step a program makes nothing any more; one that was killed, or still runs, may be in the middle. */
static void end_last(struct tare_training_fold *t, bool is_in_order)
{
	if (t->has_backward && (is_in_order || is_like_before(&t->lasts[0])))
		tare_training_end(&t->lists[TARE_TRAINING_BACKWARDS], t->last_ns);
	if (t->has_optimizer && (is_in_order || is_like_before(&t->lasts[1])))
		tare_training_end(&t->lists[TARE_TRAINING_OPTIMIZER], t->last_ns);
}

static void end_all(struct tare_work *w, bool is_in_order)
{
	for (size_t i = 0; i < w->training_nr; i++)
		end_last(w->trainings[i], is_in_order);
}

void tare_fold_training_finish(struct tare_fold *f)
{
	for (int i = 0; i < f->process_nr; i++) {
		struct tare_process_fold *p = f->processes[i];

		for (int k = 0; p && k < p->place_nr; k++)
			if (p->places[k])
				end_all(&p->places[k]->blocks.work, p->process->is_ended);
		if (p)
			end_all(&p->host_blocks.work, p->process->is_ended);
	}
}
