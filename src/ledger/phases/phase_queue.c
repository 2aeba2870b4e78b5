/* SPDX-License-Identifier: Apache-2.0 */
/* What is done with boundaries that the CPU and all devices have taken. */
#include "ledger/phases/phase_queue.h"

#include "ledger/phases/phase_stack.h"

/* Up to which boundary the CPU and all devices have taken them. */
static size_t taken_by_all(const struct tare_phases_part *phases, const struct tare_fold *f)
{
	size_t least = phases->host.next;

	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i] && phases->devices[i].next < least)
			least = phases->devices[i].next;
	return least;
}

void tare_phase_begin_queue(struct tare_phases_part *phases)
{
	if (phases->taken < phases->queue_base)
		phases->taken = phases->queue_base;
	for (int i = 0; i < phases->device_nr; i++)
		if (phases->devices[i].next < phases->taken) /* it was not there */
			phases->devices[i].next = phases->taken;
}

/* Cuts the queue where that is no more work than what was done with what goes. */
static void shorten(struct tare_phases_part *phases)
{
	size_t gone = phases->taken - phases->queue_base, left = phases->queue_nr - gone;

	if (left && (gone < 1024 || gone < left))
		return;
	if (left)
		memmove(phases->queue, phases->queue + gone, left * sizeof(*phases->queue));
	phases->queue_nr = left;
	phases->queue_base += gone;
}

void tare_phase_forget_taken(struct tare_phases_part *phases, const struct tare_fold *f)
{
	size_t until = taken_by_all(phases, f);

	for (; phases->taken < until; phases->taken++) {
		const struct tare_phase_boundary *b = &phases->queue[phases->taken - phases->queue_base];

		if (b->into >= 0)
			tare_phase_free_frame(phases, b->frame);
	}
	shorten(phases);
}
