/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of a device and lists of its processes between calls, which wait for each other: when and how they count. */
#include "ledger/settle/settle.h"

#include "base/array.h"

/*
 * Rule "out of time": a witness can be stamped some milliseconds before or after it was taken, when the
 * machine is busy. If the next call's own first reading says that nothing had changed, the witness is of
 * another moment, unless a list says that somebody else changed.
 */
void tare_fold_reading_check(struct tare_fold *f, struct tare_device_fold *d, const struct tare_step *s)
{
	int source = tare_fold_step_source(d, s);

	if (!d->has_reading || !d->is_measured || s->begin - d->reading_ns > TARE_OUT_OF_TIME_NS ||
	    !d->source_known[source] || !d->source_known[d->reading_source])
		return;
	if ((int64_t)s->before + d->source_offset[source] == d->used &&
	    d->reading_used + d->source_offset[d->reading_source] != d->used && !tare_other_processes_have_moved(f, d))
		d->has_reading = false;
}

/* A list alone counts when it was taken, or right behind what is settled: instants before that see what was known before. */
static void advance_to_list(struct tare_fold *f, struct tare_device_fold *d)
{
	tare_fold_advance(f, d, d->cluster.count || d->list_ns <= d->last_ns ? d->last_ns + 1 : d->list_ns);
}

/* The reading that was taken with a list may be of no use: then the list is not that of the next one. */
bool tare_fold_list_is_older(const struct tare_device_fold *d, int64_t reading_begin)
{
	return d->has_list && d->list_ns < reading_begin - TARE_TOGETHER_NS;
}

/*
 * A reading and a list of processes that were taken together come one after the other, in either
 * order. They wait for each other, so that the growth of another process is not unexplained in between.
 */
void tare_fold_reading_flush(struct tare_fold *f, struct tare_device_fold *d)
{
	int64_t change = 0, explained = 0;

	if (d->has_reading) {
		tare_fold_advance(f, d, d->reading_ns);
		change = tare_fold_normal(f, d, (uint64_t)d->reading_used, d->reading_source, d->used) - d->used;
	} else if (d->has_list) {
		advance_to_list(f, d);
	}
	if (!d->has_list && d->has_reading && tare_fold_peer_is_of_use(d, d->reading_peers))
		explained = tare_fold_peer_level_between(f, d, d->reading_peers, change);
	if (d->has_list) {
		int64_t open = d->unexplained_open, others = tare_other_processes_take_list(f, d, change);

		explained = others - open;
		if (change > 0)
			explained = explained < 0 ? 0 : explained > change ? change : explained;
		else
			explained = explained > 0 ? 0 : explained < change ? change : explained;
		/* The reading and the list are of two moments, and a process came or went between: the next ones may tell which. */
		if (!explained && (change > 0) != (others > open) && change && others != open)
			d->unexplained_open = open - others;
	}
	if (d->has_reading) {
		d->has_reading = false;
		tare_fold_between_calls(f, d, d->reading_ns, change, explained);
		tare_fold_peak(f, d, d->reading_ns);
	}
}

void tare_other_process_take(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
	const struct tare_rec_peer *r = e->rec.peer;
	int known;

	if (d->has_list && (d->list != r->list || d->list_of != e->process->index))
		tare_fold_reading_flush(f, d);
	d->has_list = true;
	d->list = r->list;
	d->list_of = e->process->index;
	d->list_ns = e->at_ns;
	if (!r->pid) /* an empty list */
		return;
	known = tare_other_process_find(d, r->pid);
	if (!d->others[known].name && e->text && *e->text)
		d->others[known].name = tare_arena_strdup(&f->arena, e->text);
	TARE_APPEND(d->reads, d->read_nr, d->read_cap) = (struct tare_other_process_read){ known, r->used };
}
