/* SPDX-License-Identifier: Apache-2.0 */
/* Which phases are open: stacks of threads, ranges, moments. No bytes here. */
#include "ledger/phases/phase_stack.h"

#include "base/array.h"
#include "base/xalloc.h"

#include <string.h>

/* Ids are numbers that count up, or addresses. */
static uint64_t range_key(int process, uint8_t source, uint64_t id)
{
	return (id * 0x9e3779b97f4a7c15u) ^ ((uint64_t)process << 8 | source);
}

int tare_phase_new_frame(struct tare_phases_part *phases, const struct tare_fold *f)
{
	TARE_APPEND(phases->frames, phases->frame_nr, phases->frame_cap) = (struct tare_phase_frame){
		.below = -1,
		.levels = tare_xcalloc((size_t)f->device_nr + 1, sizeof(struct tare_phase_level)),
	};
	return (int)(phases->frame_nr - 1);
}

void tare_phase_link_other(struct tare_phases_part *phases, int frame)
{
	const struct tare_phase_frame *x = &phases->frames[frame];

	if (x->known < 0)
		*tare_map_put(&phases->mark_of, (uint64_t)x->process, NULL) = (uint64_t)frame + 1;
	else
		*tare_map_put(&phases->range_of, range_key(x->process, x->source, x->id), NULL) = (uint64_t)frame + 1;
}

void tare_phase_unlink_other(struct tare_phases_part *phases, int frame)
{
	const struct tare_phase_frame *x = &phases->frames[frame];
	int at;

	if (phases->known[x->known].what == TARE_PHASE_BEGIN) {
		tare_map_remove(&phases->range_of, range_key(x->process, x->source, x->id), NULL);
		return;
	}
	at = (int)*tare_phase_top(phases, x->process, x->tid) - 1;
	while (at >= 0 && phases->frames[at].below != frame)
		at = phases->frames[at].below;
	if (at >= 0)
		phases->frames[at].below = x->below;
}

void tare_phases_step(const struct tare_phases_part *phases, struct tare_step *s)
{
	const uint64_t *top =
		phases->open_nr ? tare_map_get(&phases->top_of, tare_phase_thread_key(s->process, s->tid)) : NULL;
	int innermost = top ? (int)*top - 1 : -1;
	int frame = tare_phase_around(phases, innermost, "");

	if (frame < 0)
		frame = innermost;
	s->phase = frame < 0 ? NULL : phases->known[phases->frames[frame].known].path;
}

/* Most are of no domain, "". */
static bool is_same_domain(const char *a, const char *b)
{
	return *a == *b && (!*a || !strcmp(a, b));
}

/* Each source, and each domain of NVTX, has stacks of its own: its pop ends its own innermost one. */
int tare_phase_find_open(struct tare_phases_part *phases, const struct tare_event *e)
{
	const struct tare_rec_phase *r = e->rec.phase;
	const char *domain = e->domain ? e->domain : "";
	int i;

	if (r->what == TARE_PHASE_END) {
		uint64_t *range = tare_map_get(&phases->range_of, range_key(e->process->index, r->source, r->id));

		return range ? (int)*range - 1 : -1;
	}
	i = (int)*tare_phase_top(phases, e->process->index, r->tid) - 1;
	for (; i >= 0; i = phases->frames[i].below) {
		const struct tare_phase_frame *x = &phases->frames[i];

		if (x->source == r->source && (phases->is_full || is_same_domain(phases->known[x->known].domain, domain)))
			break;
	}
	return i;
}
