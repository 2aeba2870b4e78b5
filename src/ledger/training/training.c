/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "steps". A step of training ends where its thread goes on after its optimizer; where no optimizer is seen at
 * work, it is a phase that is called so, and without those it ends after a backward pass. Each thread has its own.
 */
#include "ledger/training/training.h"

#include "ledger/core/change.h"
#include "ledger/core/fold.h"

#include "base/array.h"
#include "base/xalloc.h"

#include <stdlib.h>

/* ---- threads ---- */

void tare_training_begin(struct tare_training_part *p, const struct tare_fold *f)
{
	struct tare_training_part old = *p;

	p->process_nr = f->process_nr;
	p->device_nr = f->device_nr;
	p->places = tare_xcalloc((size_t)p->process_nr * ((size_t)p->device_nr + 1) + 1, sizeof(*p->places));
	for (int i = 0; i < old.process_nr; i++)
		for (int d = -1; d < old.device_nr; d++)
			*tare_training_at(p, i, d) = *tare_training_at(&old, i, d);
	free(old.places);
}

static struct tare_training_thread *thread_of(struct tare_training_threads *at, uint32_t tid)
{
	const uint64_t *known;

	if (at->last && at->items[at->last - 1].tid == tid)
		return &at->items[at->last - 1];
	known = at->count ? tare_map_get(&at->of_tid, tid) : NULL;
	if (!known)
		return NULL;
	at->last = (size_t)*known;
	return &at->items[at->last - 1];
}

static struct tare_training_thread *made_of(struct tare_training_threads *at, uint32_t tid)
{
	struct tare_training_thread *t = thread_of(at, tid);

	if (t)
		return t;
	t = &TARE_APPEND(at->items, at->count, at->cap);
	*t = (struct tare_training_thread){ .tid = tid };
	*tare_map_put(&at->of_tid, tid, NULL) = at->count;
	return t;
}

/* ---- what happens ---- */

static void add(struct tare_training_thread *t, enum tare_training_figure what, int64_t by)
{
	for (int i = 0; i < TARE_TRAINING_BY_NR; i++)
		if (t->lists[i].is_open)
			t->lists[i].open.figures[what] += by;
}

static void next_step(struct tare_training_threads *at, struct tare_training_thread *t, enum tare_training_by by,
                      const struct tare_block_change *c)
{
	tare_training_end_step(at, &t->lists[by], c->born_ns);
	tare_training_begin_step(at, &t->lists[by], c->born_ns, c->used, c->live);
}

/*
 * The thread has begun something else: has a step ended? Between a backward pass and the optimizer the program may do
 * more, such as clip gradients.
 */
static bool note_section(struct tare_training_threads *at, const struct tare_fold *f, struct tare_training_thread *t,
                         const struct tare_block_change *c)
{
	bool has_backward, has_optimizer;

	t->has_backward |= c->backwards != t->backwards;
	if (!t->has_optimizer && c->work == TARE_WORK_OPTIMIZER && c->backwards != t->optimized) {
		t->has_optimizer = true;
		t->optimizer = c->site;
	}
	t->section = c->section;
	t->backwards = c->backwards;
	if (c->work == TARE_WORK_BACKWARD || c->work == TARE_WORK_OPTIMIZER)
		return false;
	has_backward = t->has_backward;
	has_optimizer = t->has_optimizer;
	if (has_backward)
		next_step(at, t, TARE_TRAINING_BACKWARDS, c);
	if (has_optimizer) {
		tare_training_end_step(at, &t->lists[TARE_TRAINING_OPTIMIZER], c->born_ns);
		tare_training_join(at, f, t, c->born_ns);
		tare_training_begin_step(at, &t->lists[TARE_TRAINING_OPTIMIZER], c->born_ns, c->used, c->live);
		t->optimized = c->backwards;
	}
	t->has_backward = t->has_optimizer = false;
	return has_backward || has_optimizer;
}

static bool is_begun(const struct tare_training_thread *t)
{
	return t && (t->lists[TARE_TRAINING_BACKWARDS].is_open || t->lists[TARE_TRAINING_BACKWARDS].count);
}

/* The first step begins with the first forward that a backward pass can go back from. */
static void begin_first(struct tare_training_threads *at, struct tare_training_thread *t,
                        const struct tare_block_change *c)
{
	next_step(at, t, TARE_TRAINING_BACKWARDS, c);
	next_step(at, t, TARE_TRAINING_OPTIMIZER, c);
	t->section = c->section;
	t->backwards = t->optimized = c->backwards;
}

/* What a backward pass, or an optimizer, made last. */
static void note_last(struct tare_training_thread *t, const struct tare_block_change *c)
{
	struct tare_training_last *last = &t->lasts[c->work == TARE_WORK_OPTIMIZER];

	if (c->work != TARE_WORK_BACKWARD && c->work != TARE_WORK_OPTIMIZER)
		return;
	if (last->section != c->section) {
		last->before_site = last->site;
		last->before_bytes = last->bytes;
	}
	last->section = c->section;
	last->site = c->site;
	last->bytes = c->bytes;
	t->last_ns = c->born_ns;
}

bool tare_training_take(struct tare_training_threads *at, const struct tare_fold *f, const struct tare_block_change *c)
{
	struct tare_training_thread *t = thread_of(at, c->tid);
	bool is_over = false;

	if (c->born_ns < 0)
		return false;
	if (is_begun(t) && c->section != t->section)
		is_over = note_section(at, f, t, c);
	else if (!is_begun(t) && tare_training_begins(c))
		begin_first(at, t = made_of(at, c->tid), c);
	if (t)
		note_last(t, c);
	if (at->count)
		tare_training_note(&at->live, at->moment, c->live);
	return is_over;
}

/* What grows is told by these. */
void tare_training_count(const struct tare_fold *f, int process, struct tare_training_threads *at, uint32_t tid)
{
	uint32_t *steps = f->processes[process]->steps;
	const struct tare_training_thread *t = thread_of(at, tid);

	for (int by = 0; by < TARE_TRAINING_BY_NR; by++)
		if (steps[by] < t->lists[by].count)
			steps[by] = (uint32_t)t->lists[by].count;
}

void tare_training_used(struct tare_training_part *p, const struct tare_fold *f, const struct tare_device_fold *d,
                        int64_t t)
{
	(void)f;
	(void)t;
	for (int i = 0; i < p->process_nr; i++) {
		struct tare_training_threads *at = tare_training_at(p, i, d->index);

		if (at->count)
			tare_training_note(&at->used, at->moment, d->used);
	}
}

/* Does it ask for memory? */
static bool asks(const struct tare_step *s)
{
	if (s->class == TARE_CLASS_POOL)
		return s->effect == TARE_EFFECT_CHANGE && s->asked;
	return s->effect == TARE_EFFECT_NEW && (s->class == TARE_CLASS_VMM || s->class == TARE_CLASS_MANAGED ||
	                                        tare_classes[s->class].sizing == TARE_SIZING_PAGES);
}

static void add_trials(const struct tare_fold *f, struct tare_training_thread *t)
{
	for (size_t i = 0; i < f->ops.count; i++) {
		const struct tare_op *op = &f->ops.items[i];

		if (f->buckets[op->bucket].account == TARE_ACCOUNT_TRIAL)
			add(t, op->by.bytes > 0 ? TARE_TRAINING_TRIED : TARE_TRAINING_GIVEN_BACK,
			    op->by.bytes > 0 ? op->by.bytes : -op->by.bytes);
	}
}

static void add_call(const struct tare_fold *f, struct tare_training_thread *t, const struct tare_step *s)
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
static void add_calls(struct tare_training_threads *at, const struct tare_fold *f, const struct tare_step *s)
{
	struct tare_training_thread *t = NULL;

	if (at)
		t = at->count == 1 ? at->items : thread_of(at, s->tid);
	if (t)
		add_call(f, t, s);
}

/* A call of no device is of all that the process trains on. */
void tare_training_call(struct tare_training_part *p, const struct tare_fold *f, const struct tare_step *s)
{
	if (s->effect == TARE_EFFECT_UNDO)
		return;
	if (s->device >= 0) {
		add_calls(tare_training_at(p, s->process, s->device), f, s);
		return;
	}
	for (int i = 0; i < p->device_nr; i++)
		add_calls(tare_training_at(p, s->process, i), f, s);
}

/* ---- phases ---- */

void tare_training_phase_step(struct tare_training_part *p, const struct tare_fold *f,
                              const struct tare_phase_change *c)
{
	struct tare_training_threads *at = tare_training_at(p, c->process, c->device);
	struct tare_training_thread *t;
	struct tare_training_list *l;

	if (!at)
		return;
	t = made_of(at, c->tid);
	l = &t->lists[TARE_TRAINING_PHASES];
	if (!c->is_end && !l->depth++) {
		tare_training_begin_step(at, l, c->t, f->devices[c->device]->used, f->devices[c->device]->live);
	} else if (c->is_end && l->depth && !--l->depth) {
		tare_training_end_step(at, l, c->t);
		tare_training_count(f, c->process, at, c->tid);
	}
}

/* ---- the end ---- */

/* Its last block is like the last of the piece of work before: it came to its end. */
static bool is_like_before(const struct tare_training_last *l)
{
	return l->before_bytes && l->site == l->before_site && l->bytes == l->before_bytes;
}

/* After its last step a program makes nothing any more; one that was killed, or still runs, may be in the middle. */
static void end_last(const struct tare_training_threads *at, const struct tare_fold *f, struct tare_training_thread *t,
                     bool is_in_order)
{
	if (t->has_backward && (is_in_order || is_like_before(&t->lasts[0])))
		tare_training_end_step(at, &t->lists[TARE_TRAINING_BACKWARDS], t->last_ns);
	if (t->has_optimizer && (is_in_order || is_like_before(&t->lasts[1]))) {
		tare_training_end_step(at, &t->lists[TARE_TRAINING_OPTIMIZER], t->last_ns);
		tare_training_join(at, f, t, t->last_ns);
	}
	tare_training_end_round(at, t);
}

void tare_training_finish(struct tare_training_part *p, const struct tare_fold *f)
{
	for (int i = 0; i < p->process_nr; i++)
		for (int d = -1; d < p->device_nr; d++) {
			struct tare_training_threads *at = tare_training_at(p, i, d);

			for (size_t n = 0; n < at->count; n++)
				end_last(at, f, &at->items[n], f->processes[i]->process->is_ended);
		}
}

/* A step that is open has begun, and of phases there are as many open as began. */
const char *tare_training_check(const struct tare_training_part *p, const struct tare_fold *f)
{
	(void)f;
	for (size_t i = 0; i < (size_t)p->process_nr * ((size_t)p->device_nr + 1); i++)
		for (size_t n = 0; n < p->places[i].count; n++) {
			const struct tare_training_list *l = &p->places[i].items[n].lists[TARE_TRAINING_PHASES];

			if (l->depth < 0 || l->is_open != (l->depth > 0))
				return "a step of training is open without a phase, or the other way round";
		}
	return NULL;
}
