/* SPDX-License-Identifier: Apache-2.0 */
/* The most in each part of each step. */
#include "ledger/history/history.h"

#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>

TARE_COMPARATOR(by_memory, struct tare_step_curve, TARE_RISING(of->memory) TARE_RISING(mark->begin_ns))

static void add_curve(struct tare_step_curves *out, const struct tare_training *of, size_t mark)
{
	struct tare_step_curve *c = &out->items[out->nr++];

	*c = (struct tare_step_curve){ .of = of, .mark = &of->marks[mark], .is_last = mark + 1 == of->mark_nr };
	for (int i = 0; i < TARE_STEP_PARTS; i++)
		c->used[i] = c->live[i] = -1;
}

void tare_step_curves_begin(struct tare_step_curves *out, const struct tare_ledger *ledger)
{
	size_t nr = 0;
	int last = -1;

	*out = (struct tare_step_curves){ 0 };
	for (int i = 0; i < ledger->training_nr; i++) {
		nr += ledger->trainings[i].mark_nr;
		last = ledger->trainings[i].memory > last ? ledger->trainings[i].memory : last;
	}
	out->items = tare_xcalloc(nr + 1, sizeof(*out->items));
	out->range_nr = last + 2;
	out->ranges = tare_xcalloc((size_t)out->range_nr, sizeof(*out->ranges));
	for (int i = 0; i < ledger->training_nr; i++)
		for (size_t k = 0; k < ledger->trainings[i].mark_nr; k++)
			add_curve(out, &ledger->trainings[i], k);
	TARE_SORT(out->items, out->nr, by_memory);
	for (size_t i = 0; i < out->nr; i++) {
		struct tare_step_range *r = &out->ranges[out->items[i].of->memory + 1];

		if (!r->end)
			*r = (struct tare_step_range){ .next = i, .until_ns = INT64_MIN };
		r->end = i + 1;
	}
}

static int part_of(const struct tare_training_mark *m, int64_t t)
{
	double part = m->ns > 0 ? (double)(t - m->begin_ns) / (double)m->ns : 0;

	return part >= 1 ? TARE_STEP_PARTS - 1 : part <= 0 ? 0 : (int)(part * TARE_STEP_PARTS);
}

static void cover(struct tare_step_curve *c, int64_t from, int64_t to, int64_t used, int64_t live)
{
	int last = part_of(c->mark, to);

	for (int i = part_of(c->mark, from); i <= last; i++) {
		c->used[i] = used > c->used[i] ? used : c->used[i];
		c->live[i] = live > c->live[i] ? live : c->live[i];
	}
}

static int64_t end_of(const struct tare_step_curve *c)
{
	return c->mark->begin_ns + c->mark->ns;
}

/* What held since the last time that something was said; nothing is known of before `known`. */
static int64_t pass(struct tare_step_curves *curves, struct tare_step_range *r, int64_t known)
{
	int64_t from = r->until_ns > known ? r->until_ns : known;

	while (r->next < r->end && end_of(&curves->items[r->next]) < from)
		r->next++;
	return from;
}

/* What comes as a step ends is of the next one; of the last one where there is none. */
static void hold(struct tare_step_curve *c, int64_t from, int64_t t, int64_t used, int64_t live)
{
	int64_t begin = c->mark->begin_ns > from ? c->mark->begin_ns : from;
	int64_t end = end_of(c) < t ? end_of(c) : t;

	if (begin <= end && (begin < end_of(c) || c->is_last))
		cover(c, begin, end, used, live);
}

void tare_history_step_device(struct tare_step_curves *curves, const struct tare_fold *f,
                              const struct tare_device_fold *d, int64_t t)
{
	struct tare_step_range *r = &curves->ranges[d->index + 1];
	int64_t from = pass(curves, r, f->known_ns);

	for (size_t i = r->next; i < r->end && curves->items[i].mark->begin_ns < t; i++)
		hold(&curves->items[i], from, t, d->used, d->live);
	r->until_ns = t > from ? t : from;
}

void tare_history_step_host(struct tare_step_curves *curves, const struct tare_fold *f, int64_t t)
{
	struct tare_step_range *r = &curves->ranges[0];
	int64_t from = pass(curves, r, f->known_ns);

	for (size_t i = r->next; i < r->end && curves->items[i].mark->begin_ns < t; i++) {
		const struct tare_process_fold *p = f->processes[curves->items[i].of->process];

		if (p)
			hold(&curves->items[i], from, t, 0, p->host.tensors.bytes);
	}
	r->until_ns = t > from ? t : from;
}
