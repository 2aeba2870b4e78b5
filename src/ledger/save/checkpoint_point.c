/* SPDX-License-Identifier: Apache-2.0 */
/*
 * At which moments a checkpoint can replace what was before, without losing what connects it with what
 * follows.
 */
#include "ledger/save/save.h"

#include "base/map.h"

/* From the last call to the point: the two groups of a checkpoint, and the weighing of the call. */
enum { CLEAR_NS = 60000 };

struct pass {
	int64_t point;
	struct tare_map dels;      /* thread → when its last DEL began */
	struct tare_map witnesses; /* device → its last witness, if no call came since */
	struct tare_map users;     /* processes with a call on a device */
	struct tare_map makers;    /* processes with a tensor on the CPU */
	struct tare_map torn;      /* ended with tensors, but without a device → when */
};

static void forbid(struct pass *p, int64_t begin, int64_t end)
{
	if (begin <= p->point && p->point <= end)
		p->point = begin - 1;
}

/*
 * Notes the end of a process without a device: it may be the end of the recording, which a checkpoint behind
 * it would lose. Work of another process removes the note.
 */
static void look_at_teardown(struct pass *p, const struct tare_process *process, int64_t t)
{
	bool is_new;
	uint64_t *since = tare_map_put(&p->torn, (uint64_t)process->index, &is_new);

	if (is_new)
		*since = (uint64_t)t;
}

static void look_at_work(struct pass *p, const struct tare_event *e)
{
	const struct tare_map_slot *slot;
	struct tare_map left = { 0 };

	if (!p->torn.count && !p->torn.has_zero)
		return;
	for (size_t at = 0; (slot = tare_map_next(&p->torn, &at));)
		if (slot->key == (uint64_t)e->process->index)
			*tare_map_put(&left, slot->key, NULL) = slot->value;
		else
			forbid(p, (int64_t)slot->value, e->at_ns);
	tare_map_free(&p->torn);
	p->torn = left;
}

/* An UNDO reverses the thread's last DEL, so no checkpoint may come between. */
static void look_at_call(struct pass *p, const struct tare_event *e)
{
	uint64_t thread, since;
	const uint64_t *del;

	if (e->device)
		tare_map_put(&p->users, (uint64_t)e->process->index, NULL);
	look_at_work(p, e);
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

static bool is_user(const struct pass *p, const struct tare_process *process)
{
	return tare_map_get(&p->users, (uint64_t)process->index) != NULL;
}

static void look_at_tensor(struct pass *p, const struct tare_event *e)
{
	const struct tare_rec_tensor *r = e->rec.tensor;

	if (r->flags & TARE_TENSOR_HOST)
		tare_map_put(&p->makers, (uint64_t)e->process->index, NULL);
	if (r->flags & TARE_TENSOR_FINALIZING) {
		if (r->flags & TARE_TENSOR_HOST && !is_user(p, e->process))
			look_at_teardown(p, e->process, e->at_ns);
		else if (e->at_ns <= p->point) /* a checkpoint behind it would lose the end */
			p->point = e->at_ns - 1;
	} else if (r->bytes > 0) {
		look_at_work(p, e);
	}
}

/* A process ends; of one that used a device a checkpoint has the end. */
static void look_at_end(struct pass *p, const struct tare_process *process, int64_t t)
{
	if (process && !is_user(p, process) && tare_map_get(&p->makers, (uint64_t)process->index))
		look_at_teardown(p, process, t);
}

static void look_at(struct pass *p, const struct tare_event *e)
{
	switch (e->kind) {
	case TARE_KIND_EVENT:
	case TARE_KIND_POOL:
		look_at_call(p, e);
		return;
	case TARE_KIND_TENSOR:
		look_at_tensor(p, e);
		return;
	case TARE_KIND_HOST_TENSORS:
		tare_map_put(&p->makers, (uint64_t)e->process->index, NULL);
		return;
	case TARE_KIND_END:
		look_at_end(p, e->process, e->at_ns);
		return;
	case TARE_KIND_EXIT:
		look_at_end(p, e->about, e->at_ns);
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

static int64_t pass_over(const struct tare_ledger_source *source, int64_t point)
{
	struct pass p = { .point = point };
	const struct tare_map_slot *slot;
	struct tare_event e;

	source->rewind(source->arg);
	while (source->next(source->arg, &e))
		look_at(&p, &e);
	for (size_t at = 0; (slot = tare_map_next(&p.torn, &at));)
		if ((int64_t)slot->value <= p.point)
			p.point = (int64_t)slot->value - 1;
	tare_map_free(&p.users);
	tare_map_free(&p.makers);
	tare_map_free(&p.torn);
	tare_map_free(&p.dels);
	tare_map_free(&p.witnesses);
	return p.point;
}

/*
 * Behind a call, and before anything that the fold looks at together with the next one. Every pass may
 * move the point to where an earlier one found nothing in the way, so they go on until none moves it.
 */
int64_t tare_checkpoint_point(const struct tare_ledger_source *source, int64_t until)
{
	int64_t point = until, before;

	do {
		before = point;
		point = pass_over(source, point);
	} while (point != before);
	source->rewind(source->arg);
	return point;
}
