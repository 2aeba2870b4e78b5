/* SPDX-License-Identifier: Apache-2.0 */
/* Where a recording can be cut in two without losing what connects the parts. */
#include "ledger/fold.h"

#include "base/map.h"

/* From the last call to the cut: the two groups of a checkpoint, and the weighing of the call. */
enum { CLEAR_NS = 60000 };

struct pass {
	int64_t cut;
	struct tare_map dels;      /* thread → when its last DEL began */
	struct tare_map witnesses; /* device → its last witness, if no call came since */
};

static void forbid(struct pass *p, int64_t begin, int64_t end)
{
	if (begin <= p->cut && p->cut <= end)
		p->cut = begin - 1;
}

/* An UNDO takes the thread's last DEL back, so no cut may come between. */
static void see_call(struct pass *p, const struct tare_event *e)
{
	uint64_t thread, since;
	const uint64_t *del;

	forbid(p, e->begin_ns - e->reading_before_ns, e->end_ns + e->reading_after_ns + CLEAR_NS);
	if (e->kind == TARE_KIND_POOL)
		return;
	thread = (uint64_t)e->process->index << 32 | e->rec.event->tid;
	if (e->rec.event->effect == TARE_EFFECT_DEL)
		*tare_map_put(&p->dels, thread, NULL) = (uint64_t)e->begin_ns;
	del = tare_map_get(&p->dels, thread);
	if (e->rec.event->effect == TARE_EFFECT_UNDO && del)
		forbid(p, (int64_t)*del, e->end_ns + CLEAR_NS);
	if (e->device && tare_map_remove(&p->witnesses, (uint64_t)e->device->index, &since) &&
	    e->begin_ns - (int64_t)since <= TARE_OUT_OF_TIME_NS)
		forbid(p, (int64_t)since, e->begin_ns);
}

static void see(struct pass *p, const struct tare_event *e)
{
	switch (e->kind) {
	case TARE_KIND_EVENT:
	case TARE_KIND_POOL:
		see_call(p, e);
		return;
	case TARE_KIND_TENSOR: /* from the teardown on, the end is known and would be lost */
		if ((e->rec.tensor->flags & TARE_TENSOR_FINALIZING) && e->at_ns <= p->cut)
			p->cut = e->at_ns - 1;
		return;
	case TARE_KIND_DEVICE:
	case TARE_KIND_READING:
	case TARE_KIND_PEER:
		forbid(p, e->at_ns, e->at_ns + CLEAR_NS);
		if (e->device)
			*tare_map_put(&p->witnesses, (uint64_t)e->device->index, NULL) =
				(uint64_t)e->at_ns;
		return;
	default:
		return;
	}
}

static int64_t pass_over(const struct tare_ledger_source *source, int64_t cut)
{
	struct pass p = { .cut = cut };
	struct tare_event e;

	source->rewind(source->arg);
	while (source->next(source->arg, &e))
		see(&p, &e);
	tare_map_free(&p.dels);
	tare_map_free(&p.witnesses);
	return p.cut;
}

/*
 * Behind a call, and before anything that the fold looks at together with the next one. Every pass may
 * move the cut to where an earlier one found nothing in the way, so they go on until none moves it.
 */
int64_t tare_fold_cut(const struct tare_ledger_source *source, int64_t until)
{
	int64_t cut = until, before;

	do {
		before = cut;
		cut = pass_over(source, cut);
	} while (cut != before);
	source->rewind(source->arg);
	return cut;
}
