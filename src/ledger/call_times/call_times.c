/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up how long calls of the driver took, as part of the fold, so that a state has it where the events went to keep
 * a cap.
 */
#include "ledger/call_times/call_times.h"

#include "base/array.h"

#include <string.h>

void tare_call_times_begin(struct tare_call_times_part *p, const struct tare_fold *f)
{
	if (!f->is_from_state)
		p->is_whole = !f->kept;
}

/* A process has some dozens of pairs of account and entry point: looking through them is quick. */
static struct tare_time_row *row_of(struct tare_call_times_part *p, const struct tare_process *process,
                                    enum tare_account account, const char *api)
{
	for (size_t i = 0; i < p->count; i++) {
		struct tare_call_time *c = &p->items[i];

		if (c->process == process && c->row.account == account && (c->row.api == api || !strcmp(c->row.api, api)))
			return &c->row;
	}
	p->items = tare_array_reserve(p->items, &p->cap, p->count + 1, sizeof(*p->items));
	p->items[p->count] = (struct tare_call_time){
		.process = process,
		.row = { .account = account, .api = api, .longest_ns = -1 },
	};
	return &p->items[p->count++].row;
}

/* The call of an UNDO was counted with its DEL. */
static bool is_call(const struct tare_event *e)
{
	if (!e->api || !e->process)
		return false;
	return e->kind == TARE_KIND_POOL || (e->kind == TARE_KIND_EVENT && e->rec.event->effect != TARE_EFFECT_UNDO);
}

void tare_call_times_add(struct tare_call_times_part *p, const struct tare_event *e)
{
	int64_t ns = e->end_ns - e->begin_ns;
	struct tare_time_row *row;
	unsigned class;

	if (!is_call(e))
		return;
	class = e->kind == TARE_KIND_POOL ? TARE_CLASS_POOL_STATE : e->rec.event->class;
	row = row_of(p, e->process, tare_classes[class].account, e->api);
	row->calls++;
	row->total_ns += ns;
	if (ns <= row->longest_ns)
		return;
	row->longest_ns = ns;
	row->longest_at_ns = e->begin_ns;
	row->longest_name = e->name;
}

/* Counted only where a state is to be made: a report sums up the calls by itself (driver_time.c), in a pass of its own. */
void tare_call_times_comes(struct tare_call_times_part *p, const struct tare_fold *f, const struct tare_event *e)
{
	if (f->keeps_history)
		tare_call_times_add(p, e);
}

const char *tare_call_times_check(const struct tare_call_times_part *p, const struct tare_fold *f)
{
	(void)f;
	for (size_t i = 0; i < p->count; i++)
		if (!p->items[i].process || !p->items[i].row.api || !p->items[i].row.calls)
			return "time of no call, or of calls of no process";
	return NULL;
}
