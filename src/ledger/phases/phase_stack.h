/* SPDX-License-Identifier: Apache-2.0 */
/* Which phases are open. What every push and pop needs is here, to be compiled into its callers. */
#ifndef TARE_LEDGER_PHASE_STACK_H
#define TARE_LEDGER_PHASE_STACK_H

#include "ledger/phases/phases.h"

/* ---- frames ---- */

int tare_phase_new_frame(struct tare_phases_part *phases, const struct tare_fold *f);

/* Levels are set where a device finds it open: most phases are over before anything changes. */
static inline int tare_phase_frame(struct tare_phases_part *phases, const struct tare_fold *f,
                                   const struct tare_phase_begin *b)
{
	int i = phases->frame_free ? phases->frame_free - 1 : tare_phase_new_frame(phases, f);
	struct tare_phase_frame *x = &phases->frames[i];

	phases->frame_free = x->below + 1;
	x->known = b->known;
	x->is_used = true;
	x->is_ended = x->is_watched = x->is_library = false;
	x->process = b->process;
	x->tid = b->tid;
	x->below = x->parent = -1;
	x->id = b->id;
	x->serial = ++phases->serial;
	x->nth = 0;
	x->begin_ns = b->t;
	x->host.is_open = x->host.from_start = false;
	x->resident.readings = 0;
	x->resident.before = tare_phase_resident_last(phases, b->process);
	return i;
}

static inline void tare_phase_free_frame(struct tare_phases_part *phases, int frame)
{
	struct tare_phase_frame *x = &phases->frames[frame];

	x->is_used = false;
	x->below = phases->frame_free - 1;
	phases->frame_free = frame + 1;
}

/* What its phase says of it. */
static inline void tare_phase_set_kind(const struct tare_phases_part *phases, struct tare_phase_frame *x)
{
	const struct tare_phase_known *k = x->known < 0 ? NULL : &phases->known[x->known];

	x->source = k ? k->source : 0;
	x->is_library = k && *k->domain;
}

/* ---- stacks of threads ---- */

static inline uint64_t tare_phase_thread_key(int process, uint32_t tid)
{
	return (uint64_t)process << 32 | tid;
}

/* Where the innermost phase of a thread stands: 1 + frame. Good until another thread is asked for. */
static inline uint64_t *tare_phase_top(struct tare_phases_part *phases, int process, uint32_t tid)
{
	uint64_t key = tare_phase_thread_key(process, tid);

	if (!phases->top.frame || phases->top.key != key) {
		phases->top.key = key;
		phases->top.frame = tare_map_put(&phases->top_of, key, NULL);
	}
	return phases->top.frame;
}

/*
 * From a frame on outwards, the one that the next phase stands in: the program's own are not inside those of a library (NVTX
 * domains): a library may leave phases open, as NCCL's are in recordings that have no ends of ranges with payloads.
 */
static inline int tare_phase_around(const struct tare_phases_part *phases, int frame, const char *domain)
{
	while (frame >= 0 && !*domain && phases->frames[frame].is_library)
		frame = phases->frames[frame].below;
	return frame;
}

/* Those that are on no stack: ranges and moments. */
void tare_phase_link_other(struct tare_phases_part *phases, int frame);
void tare_phase_unlink_other(struct tare_phases_part *phases, int frame);

/* Puts it where its end looks for it; `outer`: the frame around it, -1: none. */
static inline void tare_phase_link(struct tare_phases_part *phases, int frame, int outer)
{
	struct tare_phase_frame *x = &phases->frames[frame];
	uint64_t *top;

	phases->open_nr += x->known >= 0;
	tare_phase_set_kind(phases, x);
	if (x->known < 0 || phases->known[x->known].what == TARE_PHASE_BEGIN) {
		tare_phase_link_other(phases, frame);
		return;
	}
	top = tare_phase_top(phases, x->process, x->tid);
	x->below = (int)*top - 1;
	*top = (uint64_t)frame + 1;
	x->parent = outer;
	if (outer >= 0)
		x->parent_serial = phases->frames[outer].serial;
}

/* Takes it away there. */
static inline void tare_phase_unlink(struct tare_phases_part *phases, int frame)
{
	const struct tare_phase_frame *x = &phases->frames[frame];
	uint64_t *top;

	phases->open_nr--;
	if (phases->known[x->known].what == TARE_PHASE_BEGIN) {
		tare_phase_unlink_other(phases, frame);
		return;
	}
	top = tare_phase_top(phases, x->process, x->tid);
	if ((int)*top - 1 == frame)
		*top = (uint64_t)(x->below + 1);
	else
		tare_phase_unlink_other(phases, frame);
}

int tare_phase_find_open(struct tare_phases_part *phases, const struct tare_event *e);

#endif
