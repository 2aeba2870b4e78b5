/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that end while calls of others overlap: what each had, and when it can have gone. */
#include "ledger/settle/overlap.h"

#include "base/xalloc.h"

#include <stdlib.h>

/* What a process has, once all its calls are booked. */
static struct tare_leaver leaver_of(const struct tare_overlap *o, int process)
{
	struct tare_leaver l = { .process = process, .at = TARE_NOBODY };

	for (int i = o->d->buckets; i >= 0; i = o->f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &o->f->buckets[i];

		if (b->process != process || !tare_bucket_is_device(b))
			continue;
		l.bytes += b->now.bytes;
		if (b->account == TARE_ACCOUNT_DRIVER)
			l.driver += b->now.bytes;
	}
	for (size_t i = 0; i < o->step_nr; i++)
		for (size_t k = 0; o->steps[i].process == process && k < o->members[i].op_nr; k++) {
			const struct tare_op *op = &o->ops.items[o->members[i].op_first + k];

			if (tare_bucket_is_device(&o->f->buckets[op->bucket]))
				l.bytes += op->by.bytes;
		}
	if (l.driver < 0)
		l.driver = 0;
	l.bytes -= l.driver;
	return l;
}

void tare_overlap_find_leavers(struct tare_overlap *o)
{
	int64_t until = o->point_nr ? o->points[o->point_nr - 1].until : INT64_MIN;

	o->leavers = tare_xcalloc((size_t)o->f->process_nr + 1, sizeof(*o->leavers));
	for (int i = 0; i < o->f->process_nr; i++) {
		int64_t over = tare_fold_leaves_at(o->f, o->d, i);
		struct tare_leaver l;

		if (over >= until)
			continue;
		l = leaver_of(o, i);
		while (l.from < o->point_nr && o->points[l.from].until <= over)
			l.from++;
		if (l.bytes > 0 && l.from < o->point_nr)
			o->leavers[o->leaver_nr++] = l;
	}
}

/*
 * Removes the processes that went in this stretch from the books. Returns the change of the device: not above
 * 0.
 */
int64_t tare_overlap_end(struct tare_overlap *o, size_t k)
{
	struct tare_stretch *s = &o->stretches[k];
	int64_t bytes = 0, beyond = -s->rest, gone;
	bool *is_leaving = NULL;

	for (size_t i = 0; i < o->leaver_nr; i++) {
		const struct tare_leaver *l = &o->leavers[i];

		if (l->at != k)
			continue;
		if (!is_leaving)
			is_leaving = tare_xcalloc((size_t)o->f->process_nr, sizeof(*is_leaving));
		is_leaving[l->process] = true;
		bytes += l->bytes;
	}
	if (!is_leaving)
		return 0;
	if (beyond < 0 && (s->unknowns || s->yielding))
		beyond = 0; /* calls under way took that */
	gone = tare_fold_end_of(o->f, o->d, o->points[k].until, is_leaving, beyond);
	s->rest += gone - bytes;
	free(is_leaving);
	return -gone;
}

void tare_overlap_find_work(struct tare_overlap *o)
{
	for (size_t k = 0; k <= o->point_nr; k++)
		for (size_t i = o->stretches[k].first; i != TARE_NOBODY; i = o->members[i].next)
			if (o->steps[i].effect != TARE_EFFECT_DEL)
				o->work_to = k + 1;
	for (size_t i = 0; i < o->step_nr; i++)
		if (o->steps[i].effect != TARE_EFFECT_DEL && tare_member_is_unknown(o, i) && o->work_to < o->members[i].to)
			o->work_to = o->members[i].to;
}

static bool has_leaver(const struct tare_overlap *o, size_t k)
{
	for (size_t i = 0; i < o->leaver_nr; i++)
		if (o->leavers[i].at == k)
			return true;
	return o->stretches[k].has_leaver;
}

void tare_overlap_pass_leavers(struct tare_overlap *o, size_t k)
{
	int64_t known = o->stretches[k].known;

	if (!has_leaver(o, k))
		return;
	o->d->used += known;
	tare_fold_ends_pass(o->f, o->d, o->points[k].t);
	o->d->used -= known;
}
