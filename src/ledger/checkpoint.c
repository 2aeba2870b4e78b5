/* SPDX-License-Identifier: Apache-2.0 */
/* Folds what comes before a moment, and makes records of the state that this leads to. */
#include "ledger/checkpoint.h"

#include "base/xalloc.h"
#include "ledger/run.h"
#include "ledger/save/checkpoint_private.h"

#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->event.at_ns != y->event.at_ns)
		return x->event.at_ns < y->event.at_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

struct prefix {
	const struct tare_ledger_source *source;
	int64_t point;
};

static bool next_of_prefix(void *arg, struct tare_event *e)
{
	struct prefix *p = arg;

	while (p->source->next(p->source->arg, e))
		if (e->at_ns <= p->point)
			return true;
	return false;
}

static void rewind_prefix(void *arg)
{
	struct prefix *p = arg;

	p->source->rewind(p->source->arg);
}

/*
 * The process in whose log witnesses go: `tare` itself; in a recording without its log, a program.
 */
static const struct tare_process *part_of_tare(const struct tare_fold *f)
{
	const struct tare_process *first = NULL;

	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process *p = f->processes[i] ? f->processes[i]->process : NULL;

		if (p && p->role == TARE_ROLE_TARE)
			return p;
		if (p && !first)
			first = p;
	}
	return first;
}

int64_t tare_ledger_checkpoint(const struct tare_ledger_source *source,
			       const struct tare_ledger_opts *opts, int64_t until_ns,
			       void (*emit)(void *arg, const struct tare_event *e), void *arg)
{
	struct prefix prefix = { source, tare_checkpoint_point(source, until_ns) };
	struct tare_ledger_source cut_source = { .next = next_of_prefix,
						 .rewind = rewind_prefix,
						 .arg = &prefix };
	struct tare_fold f;
	struct checkpoint c = { .f = &f, .point = prefix.point };

	tare_fold_begin(&f, &cut_source, opts);
	tare_fold_run(&f);
	c.tare = part_of_tare(&f);
	c.saved = tare_xcalloc(f.bucket_nr, sizeof(*c.saved));
	c.is_saved = tare_xcalloc(f.context_nr, sizeof(*c.is_saved));
	c.group_ns = tare_xcalloc((size_t)f.device_nr * TARE_MOMENT_NR, sizeof(*c.group_ns));
	tare_checkpoint_fill(&c);
	if (c.item_nr)
		qsort(c.items, c.item_nr, sizeof(*c.items), by_time);
	for (size_t i = 0; i < c.item_nr; i++) {
		c.items[i].event.rec.head = &c.items[i].rec.head;
		emit(arg, &c.items[i].event);
	}
	free(c.items);
	free(c.saved);
	free(c.is_saved);
	free(c.group_ns);
	tare_fold_end(&f);
	return prefix.point;
}
