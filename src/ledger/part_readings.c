/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts the first reading of a call from the thread's call before it. How long a reading took is told in steps, which are rounded up, and
 * of one that took long they are large: it may seem to have begun before earlier calls of its own thread, which would be settled together
 * with it as if they had overlapped.
 */
#include "ledger/run.h"

/* Whose call it is; 0: the event is no call. */
static uint64_t thread_of(const struct tare_event *e)
{
	uint32_t tid;

	if (!e->process || (e->kind != TARE_KIND_EVENT && e->kind != TARE_KIND_POOL))
		return 0;
	tid = e->kind == TARE_KIND_POOL ? e->rec.pool->tid : e->rec.event->tid;
	return (uint64_t)(e->process->index + 1) << 32 | (tid & ~TARE_TID_INSIDE);
}

/* 0 would say that nobody told how long it took. */
static void begin_behind(struct tare_event *e, int64_t end)
{
	if (e->begin_ns >= end && e->begin_ns - e->reading_before_ns < end)
		e->reading_before_ns = e->begin_ns > end ? e->begin_ns - end : 1;
}

void tare_fold_part_readings(struct tare_fold *f, struct tare_event *e)
{
	uint64_t thread = thread_of(e), *until;
	bool is_new;

	if (!thread)
		return;
	until = tare_map_put(&f->called_until, thread, &is_new);
	if (!is_new)
		begin_behind(e, (int64_t)*until);
	if (is_new || (int64_t)*until < e->end_ns)
		*until = (uint64_t)e->end_ns;
}

void tare_fold_part_swap(struct tare_fold *f)
{
	struct tare_map own = f->called_until;

	f->called_until = f->called_until_seen;
	f->called_until_seen = own;
}

void tare_fold_part_keep(struct tare_fold *f)
{
	const struct tare_map_slot *slot;

	for (size_t at = 0; (slot = tare_map_next(&f->called_until, &at));)
		*tare_map_put(&f->called_until_seen, slot->key, NULL) = slot->value;
}
