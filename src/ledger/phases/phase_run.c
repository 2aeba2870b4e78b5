/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many records of phases of one process, between which nothing else comes. Most are pushes and pops of the program, of no domain: those
 * need no texts, and no event is made of them.
 */
#include "ledger/phases/phase_stack.h"

enum { AT_ONCE = 128 }; /* records, until the CPU takes their boundaries, and what is over is free again */

struct at_work {
	struct tare_phases_part *phases;
	struct tare_fold *f;
	const struct tare_phase_run *run;
	int process;
};

static void take(struct at_work *w, size_t i)
{
	struct tare_event e;

	w->run->refer(w->run, i, &e);
	tare_phase_take(w->phases, w->f, &e);
}

static int ask_for_known(struct at_work *w, const struct tare_rec_phase *r, int parent, size_t i)
{
	struct tare_event e;

	w->run->refer(w->run, i, &e);
	return tare_phase_known(w->phases, w->f, w->process, parent, e.name ? e.name : "", "", r->source, r->what);
}

/* Where one that came lately is kept, by the id of its name. */
static inline struct tare_phase_named *place_of(struct at_work *w, const struct tare_rec_phase *r, int parent)
{
	uint64_t key = ((uint64_t)(uint32_t)parent << 32 | r->name) ^
	               ((uint64_t)(uint32_t)w->process << 40 | (uint64_t)r->source << 24);

	return &w->phases->pushed[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (TARE_PHASES_RECENT - 1)];
}

static inline int known_of(struct at_work *w, const struct tare_rec_phase *r, int parent, size_t i)
{
	struct tare_phase_named *at = place_of(w, r, parent);

	if (w->phases->known_nr >= TARE_PHASES_MAX && !w->phases->is_full)
		return ask_for_known(w, r, parent, i); /* which tells that there are no more */
	if (!at->known || at->name != r->name || at->process != w->process || at->parent != parent ||
	    at->source != r->source)
		*at = (struct tare_phase_named){ .name = r->name,
			                             .process = w->process,
			                             .parent = parent,
			                             .source = r->source,
			                             .known = 1 + ask_for_known(w, r, parent, i) };
	return at->known - 1;
}

static void push(struct at_work *w, size_t i)
{
	const struct tare_rec_phase *r = tare_phase_run_at(w->run, i);
	struct tare_phases_part *phases = w->phases;
	int outer = tare_phase_around(phases, (int)*tare_phase_top(phases, w->process, r->tid) - 1, "");
	struct tare_phase_begin b = {
		.known = known_of(w, r, outer < 0 ? -1 : phases->frames[outer].known, i),
		.process = w->process,
		.outer = outer,
		.tid = r->tid,
		.id = r->id,
		.t = w->run->times[i],
	};

	tare_phase_begin(phases, w->f, &b);
}

/* The innermost of the thread, unless others are open there that end otherwise. */
static void pop(struct at_work *w, size_t i)
{
	const struct tare_rec_phase *r = tare_phase_run_at(w->run, i);
	int frame = (int)*tare_phase_top(w->phases, w->process, r->tid) - 1;
	const struct tare_phase_frame *x = frame < 0 ? NULL : &w->phases->frames[frame];

	if (x && x->source == r->source && !x->is_library)
		tare_phase_end(w->phases, w->f, frame, w->run->times[i], false);
	else
		take(w, i);
}

void tare_phases_take_run(struct tare_phases_part *phases, struct tare_fold *f, int process,
                          const struct tare_phase_run *run)
{
	struct at_work w = { phases, f, run, process };

	for (size_t i = 0; i < run->n; i++) {
		const struct tare_rec_phase *r = tare_phase_run_at(run, i);

		if (r->what == TARE_PHASE_PUSH && !r->domain)
			push(&w, i);
		else if (r->what == TARE_PHASE_POP && !r->domain)
			pop(&w, i);
		else
			take(&w, i);
		if (i % AT_ONCE == AT_ONCE - 1)
			tare_phases_settle(phases, f);
	}
	tare_phases_settle(phases, f);
}
