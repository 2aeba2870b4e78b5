/* SPDX-License-Identifier: Apache-2.0 */
/* Where a recording can be cut in two without losing what connects the parts. */
#include "ledger/fold.h"

#include "base/map.h"

/* From the last call to the cut: the two groups of a checkpoint, and the weighing of the call. */
enum { CLEAR_NS = 60000 };

/* When the thread's last DEL began: an UNDO takes it back, so no cut may come between. */
static uint64_t *del_of(struct tare_map *dels, const struct tare_event *e)
{
	return tare_map_put(dels, (uint64_t)e->process->index << 32 | e->rec.event->tid, NULL);
}

/* What the event forbids: a cut from *begin to its end and a little longer. */
static bool is_uncut(const struct tare_event *e, struct tare_map *dels, int64_t *begin)
{
	*begin = e->begin_ns;
	switch (e->kind) {
	case TARE_KIND_EVENT:
		if (e->rec.event->effect == TARE_EFFECT_DEL)
			*del_of(dels, e) = (uint64_t)e->begin_ns;
		if (e->rec.event->effect == TARE_EFFECT_UNDO)
			*begin = (int64_t)*del_of(dels, e);
		return true;
	case TARE_KIND_DEVICE:
	case TARE_KIND_READING:
	case TARE_KIND_PEER:
		return true;
	default:
		return false;
	}
}

/*
 * The last moment up to `until` at which no call is under way, nor was a short while ago. Every pass
 * may move it before a call that an earlier one found harmless, so they go on until none does.
 */
int64_t tare_fold_cut(const struct tare_ledger_source *source, int64_t until)
{
	int64_t cut = until, before, begin;

	do {
		struct tare_map dels = { 0 };
		struct tare_event e;

		before = cut;
		source->rewind(source->arg);
		while (source->next(source->arg, &e))
			if (is_uncut(&e, &dels, &begin) && begin <= cut &&
			    cut <= e.end_ns + CLEAR_NS)
				cut = begin - 1;
		tare_map_free(&dels);
	} while (cut != before);
	source->rewind(source->arg);
	return cut;
}
