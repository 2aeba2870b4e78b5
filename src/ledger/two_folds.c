/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of a moment long before the end of a recording, by two folds. One goes on from the newest state before the moment, and
 * stops soon behind it: it has the books of then. The other goes on from the newest state of all, and has what a report
 * says of the whole recording, such as steps, phases and sentences. So a report reads two intervals between
 * states, however long the recording is.
 *
 * What the books of then show of live blocks depends on what became of them later: a block that is still live in the later state
 * is asked for there; what became of one that later states had, and that went between two of them, stands beside these
 * (state/ended.c); and until all others have gone the earlier fold goes on.
 */
#include "ledger/run.h"
#include "ledger/state/private.h"

/* The numbers of processes in a ledger, and what only later events tell of devices. */
void tare_fold_learn(struct tare_fold *f, const struct tare_fold *later)
{
	for (int i = 0; i < later->process_nr; i++)
		if (later->processes[i])
			tare_fold_process(f, later->processes[i]->process)->host_row = later->processes[i]->host_row;
	for (int i = 0; i < later->device_nr; i++) {
		const struct tare_device_fold *d = later->devices[i];

		if (d)
			tare_fold_device(f, d->device)->will_be_measured |= d->is_measured || d->will_be_measured;
	}
}

/* Has every device, and whatever is of the host, passed all instants? */
static bool is_passed(const struct tare_fold *f)
{
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i] && f->devices[i]->instant_next < f->timed_nr)
			return false;
	return f->host_next == f->timed_nr;
}

/* Blocks of the CPU change at their own time: nothing of theirs that is to come is of an instant. */
static bool is_host_passed(const struct tare_fold *f)
{
	int64_t last = f->timed_nr ? f->timed[f->timed_nr - 1].t_ns : INT64_MIN;
	const struct tare_host_fold *h = &f->host;

	return (h->queue_at == h->queue_nr || h->queue[h->queue_at].t > last) &&
	       (f->end_next == f->end_nr || f->ends[f->end_next].t > last);
}

/* The ends of what is shown, as far as states tell of them. */
static void learn_ends(struct tare_fold *f, const struct tare_ledger_span *span)
{
	TARE_FREED_BY(tare_str_free) struct tare_str bytes = { 0 };

	for (size_t i = 0;
	     span->ended && !tare_tensors_are_known(&f->parts->tensors) && span->ended(span->source->arg, i, &bytes); i++)
		tare_ended_learn(&f->parts->tensors, &f->later->parts->tensors, &bytes);
}

static void show_host(struct tare_fold *f, const struct tare_ledger_span *span)
{
	tare_host_show(&f->parts->tensors, f, INT64_MAX);
	tare_tensors_await(&f->parts->tensors, f);
	learn_ends(f, span);
}

/*
 * Stops when all instants are shown and it is known what became of the blocks that were live there: in this fold, or because the later
 * one has them. False: the source ended before.
 */
static bool run_until_shown(struct tare_fold *f, const struct tare_ledger_span *span)
{
	bool is_shown = false;

	while (tare_fold_take_next(f)) {
		if (!is_shown && is_passed(f) && is_host_passed(f)) {
			is_shown = true;
			show_host(f, span);
		}
		if (is_shown && tare_tensors_are_known(&f->parts->tensors))
			return true;
	}
	return false;
}

static bool reaches_further(const struct tare_ledger_span *span)
{
	return span->reach_further && span->reach_further(span->source->arg);
}

struct twice {
	const struct tare_ledger_span *then;
	const struct tare_ledger_opts *opts;
	const struct tare_ledger_names *names;
	const struct tare_instant *instants;
	int nr;
	int64_t until; /* moments from here on are the later fold's */
	struct tare_ledger *out;
};

/* Shows the instants of the earlier fold, which is free afterwards unless 0 is returned. */
static int show(const struct twice *t, struct tare_fold *f, struct tare_fold *later)
{
	for (;;) {
		int rc = tare_fold_begin_before(f, t->then, t->opts, t->names, later);

		if (rc)
			return rc;
		tare_fold_add_instants(f, t->instants, t->nr, INT64_MIN, t->until, t->out);
		if (run_until_shown(f, t->then))
			return 0;
		if (!reaches_further(t->then)) {
			tare_fold_settle_all(f);
			show_host(f, t->then);
			return 0;
		}
		tare_fold_end(f);
		for (int i = 0; i < t->nr; i++)
			tare_ledger_free(&t->out[i]);
		tare_fold_begin_ledgers(later, t->instants, t->nr, t->out);
	}
}

int tare_ledger_resume_twice(const struct tare_ledger_span *then, const struct tare_ledger_span *last,
                             const struct tare_ledger_opts *opts, const struct tare_ledger_names *names,
                             const struct tare_instant *instants, int instant_nr, struct tare_ledger *out)
{
	struct twice t = {
		then, opts, names, instants, instant_nr, last->from->until_ns, out,
	};
	struct tare_fold earlier, later;
	int rc = tare_fold_begin_from(&later, last, opts, names);

	if (rc)
		return rc;
	tare_fold_begin_ledgers(&later, instants, instant_nr, out);
	rc = show(&t, &earlier, &later);
	if (!rc) {
		last->source->rewind(last->source->arg);
		tare_fold_add_instants(&later, instants, instant_nr, t.until, INT64_MAX, out);
		tare_fold_run_to_end(&later);
		tare_tensors_finish(&earlier.parts->tensors, &earlier);
		tare_fold_finish_ledgers(&later, instants, instant_nr, out);
		tare_fold_end(&earlier);
	}
	for (int i = 0; rc && i < instant_nr; i++)
		tare_ledger_free(&out[i]);
	tare_fold_end(&later);
	return rc;
}
