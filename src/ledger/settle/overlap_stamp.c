/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "call order": in which order the calls of a cluster were made. The driver makes calls one after the other, each mostly
 * just before it returns: so a call counts as made when it ended. But a thread may lose the CPU before it returns, and
 * another be given meanwhile the address that the first gives back: then that was made before.
 */
#include "ledger/settle/overlap.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/map.h"
#include "base/xalloc.h"

#include <stdlib.h>

/* A call by the time at which one that takes an address has it, and one that gives it back may have done so. */
struct stamped {
	int64_t t;
	size_t step;
	int64_t first_begin; /* of this call and all that follow */
};

/* Addresses that are given back by a call. */
struct giving {
	uint64_t at, end;
	size_t step;
};

struct order {
	const struct tare_overlap *o;
	struct tare_made *made;
	struct tare_map taken; /* address → number of the call that took it last */
	struct giving *giving;
	size_t giving_nr, giving_cap;
};

TARE_COMPARATOR(by_time, struct stamped, TARE_RISING(t) TARE_RISING(step))

static void give(struct order *w, uint64_t at, uint64_t end, size_t step)
{
	TARE_APPEND(w->giving, w->giving_nr, w->giving_cap) = (struct giving){ at, end, step };
}

/* How many bytes are given back; not known: 1. */
static uint64_t returned(const struct order *w, const struct tare_step *s)
{
	const uint64_t *taken = tare_map_get(&w->taken, s->handle);
	int object;

	if (taken && w->o->steps[*taken].process == s->process)
		return w->made[*taken].bytes;
	object = tare_fold_object_find(w->o->f, s->process, s->class, s->handle);
	return object >= 0 && w->o->f->objects[object].granted ? w->o->f->objects[object].granted : 1;
}

static void begin_return(struct order *w, size_t step)
{
	const struct tare_step *s = &w->o->steps[step];
	struct tare_made *m = &w->made[step];

	m->bytes = returned(w, s);
	give(w, m->at, m->at + m->bytes, step);
}

/*
 * A call took addresses: whoever gave them back did it before. What else a return gave back others may take. Returns that
 * ended before all calls that follow began are of no use any more.
 */
static void take(struct order *w, size_t step, int64_t first_begin)
{
	const struct tare_step *s = &w->o->steps[step];
	struct tare_made *own = &w->made[step];
	uint64_t at = own->at, end = own->at + own->bytes;
	size_t count = w->giving_nr;
	struct giving behind = { 0 }; /* of one return on both sides of what is taken */

	w->giving_nr = 0;
	for (size_t i = 0; i < count; i++) {
		struct giving g = w->giving[i];
		struct tare_made *before = &w->made[g.step];

		if (w->o->steps[g.step].end < first_begin)
			continue;
		if (w->o->steps[g.step].process != s->process || g.at >= end || g.end <= at) {
			w->giving[w->giving_nr++] = g;
			continue;
		}
		if (before->stamp >= own->stamp)
			before->stamp = own->stamp - 1;
		if (own->since < before->stamp)
			own->since = before->stamp;
		if (g.at < at)
			w->giving[w->giving_nr++] = (struct giving){ g.at, at, g.step };
		if (g.end > end && g.at < at)
			behind = (struct giving){ end, g.end, g.step };
		else if (g.end > end)
			w->giving[w->giving_nr++] = (struct giving){ end, g.end, g.step };
	}
	if (behind.end)
		give(w, behind.at, behind.end, behind.step);
	*tare_map_put(&w->taken, at, NULL) = step;
}

static struct stamped *list_calls(const struct tare_overlap *o)
{
	struct stamped *list = tare_xcalloc(o->step_nr, sizeof(*list));
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < o->step_nr; i++) {
		const struct tare_step *s = &o->steps[i];

		list[i] = (struct stamped){ .t = s->effect == TARE_EFFECT_DEL ? s->begin : s->end, .step = i };
	}
	TARE_SORT(list, o->step_nr, by_time);
	for (size_t i = o->step_nr; i-- > 0;) {
		if (first > o->steps[list[i].step].begin)
			first = o->steps[list[i].step].begin;
		list[i].first_begin = first;
	}
	return list;
}

void tare_overlap_stamp(const struct tare_overlap *o, struct tare_made *made)
{
	TARE_FREED_HERE struct stamped *list = list_calls(o);
	struct order w = { .o = o, .made = made };

	for (size_t i = 0; i < o->step_nr; i++) {
		const struct tare_step *s = &o->steps[i];

		made[i] = (struct tare_made){
			.stamp = s->effect == TARE_EFFECT_DEL && !tare_step_is_of_pages(s) ? s->begin : s->end,
			.since = s->begin,
			.at = s->handle,
			.bytes = s->granted ? s->granted : s->asked,
		};
	}
	for (size_t i = 0; i < o->step_nr; i++) {
		const struct tare_step *s = &o->steps[list[i].step];

		if (!tare_step_is_of_pages(s))
			continue;
		if (s->effect == TARE_EFFECT_DEL)
			begin_return(&w, list[i].step);
		else if (s->effect == TARE_EFFECT_NEW)
			take(&w, list[i].step, list[i].first_begin);
	}
	tare_map_free(&w.taken);
	free(w.giving);
}
