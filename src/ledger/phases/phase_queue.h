/* SPDX-License-Identifier: Apache-2.0 */
/* Boundaries wait for the CPU and all devices, each of which takes them in order, and has a list of what is open there. */
#ifndef TARE_LEDGER_PHASE_QUEUE_H
#define TARE_LEDGER_PHASE_QUEUE_H

#include "ledger/phases/phases.h"

#include "base/array.h"

#include <string.h>

static inline void tare_phase_queue(struct tare_phases_part *phases, int64_t t, int frame, int into)
{
	TARE_APPEND(phases->queue, phases->queue_nr, phases->queue_cap) = (struct tare_phase_boundary){ t, frame, into };
}

/* The first pass is over. */
void tare_phase_begin_queue(struct tare_phases_part *phases);
/* What the CPU and all devices have taken need not be kept. */
void tare_phase_forget_taken(struct tare_phases_part *phases, const struct tare_fold *f);

/* A device, or the CPU, takes the begin of a frame. */
static inline void tare_phase_open_on(struct tare_phases_device *own, int frame)
{
	TARE_APPEND(own->open, own->open_nr, own->open_cap) = frame;
}

/* Where it stands among those that are open there; as many as are open: nowhere. */
static inline size_t tare_phase_place_on(const struct tare_phases_device *own, int frame)
{
	for (size_t i = own->open_nr; i-- > 0;)
		if (own->open[i] == frame)
			return i;
	return own->open_nr;
}

/* It takes its end. */
static inline void tare_phase_close_on(struct tare_phases_device *own, size_t place)
{
	if (place == own->open_nr)
		return;
	own->open_nr--;
	if (place < own->open_nr)
		memmove(&own->open[place], &own->open[place + 1], (own->open_nr - place) * sizeof(*own->open));
}

static inline void tare_phase_add_change(int64_t *sum, int64_t *min, int64_t *max, int64_t by, bool is_first)
{
	*sum += by;
	*min = is_first || *min > by ? by : *min;
	*max = is_first || *max < by ? by : *max;
}

/* All repeats of a phase, and one more: what was in use where it began and ended, and how much of that changed in those inside it. */
static inline void tare_phase_add_up(struct tare_phase_total *total, int64_t before, int64_t after, int64_t nested)
{
	bool is_first = !total->seen++;
	int64_t change = after - before;

	if (is_first)
		total->before = before;
	total->after = after;
	tare_phase_add_change(&total->change, &total->change_min, &total->change_max, change, is_first);
	tare_phase_add_change(&total->own, &total->own_min, &total->own_max, change - nested, is_first);
}

/* Tells the others. What is returned can be added to until the next: `nth` and `use` are not set. */
static inline struct tare_phase_change *tare_phase_change(struct tare_phases_part *phases, struct tare_fold *f,
                                                          int known, uint32_t tid, int device, int64_t begin_ns,
                                                          int64_t t, bool is_end)
{
	struct tare_phase_known *k = &phases->known[known];
	struct tare_phase_changes *all = &f->phase_changes;
	struct tare_phase_change *c;

	c = &TARE_APPEND(all->items, all->count, all->cap);
	c->process = k->process;
	c->device = device;
	c->tid = tid;
	c->known = (uint64_t)known;
	c->name = k->name;
	c->is_end = is_end;
	c->is_mark = k->what == TARE_PHASE_MARK;
	c->is_step = tare_phase_is_step(k);
	c->begin_ns = begin_ns;
	c->t = t;
	return c;
}

#endif
