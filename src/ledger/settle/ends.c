/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of processes that were noted: an end counts when each device, and then all of them, have settled the calls before it. */
#include "ledger/settle/settle.h"

/* Does the step make something on the device, in a process that has not ended? */
static bool is_work(const struct tare_fold *f, const struct tare_step *s)
{
	const struct tare_process_fold *p = f->processes[s->process];

	return (s->effect == TARE_EFFECT_NEW || s->effect == TARE_EFFECT_CHANGE) && !(s->flags & TARE_EVENT_FAILED) &&
	       !p->is_torn_down && !(p->is_ending && s->end > p->end_ns);
}

/*
 * Rule "end": the ledger at `end` is that of the moment before the first process ended after whose end no
 * recorded process took anything on this device any more. So an end counts no longer when the calls that are
 * about to be settled have such work behind it.
 */
void tare_fold_ends_lift(struct tare_fold *f, struct tare_device_fold *d)
{
	for (size_t i = 0; i < d->cluster.count; i++) {
		const struct tare_step *s = &d->cluster.items[i];

		if (is_work(f, s) && d->worked_ns < s->end)
			d->worked_ns = s->end;
	}
	if (f->worked_ns < d->worked_ns)
		f->worked_ns = d->worked_ns;
	if (d->has_moment[TARE_MOMENT_END] && d->moment_ns[TARE_MOMENT_END] < d->worked_ns)
		d->has_moment[TARE_MOMENT_END] = false;
	if (f->host.has_moment[TARE_MOMENT_END] && f->host.moment_ns[TARE_MOMENT_END] < f->worked_ns)
		f->host.has_moment[TARE_MOMENT_END] = false;
}

static bool is_end_of_work(const struct tare_fold *f, const struct tare_device_fold *d, const struct tare_end *e)
{
	return e->t >= d->worked_ns && !d->has_moment[TARE_MOMENT_END] && tare_fold_process_bytes(f, d, e->process);
}

/*
 * The device is settled up to `until`: notes the ends before that. Blocks that waited for the same calls may be of before
 * an end, and Python's first free at its teardown, which is one of these, is an end itself.
 */
void tare_fold_ends_pass(struct tare_fold *f, struct tare_device_fold *d, int64_t until)
{
	for (; d->end_next < f->end_nr && f->ends[d->end_next].t <= until; d->end_next++) {
		const struct tare_end *e = &f->ends[d->end_next];

		if (is_end_of_work(f, d, e))
			tare_fold_tensor_until(f, d, e->t);
		if (is_end_of_work(f, d, e))
			tare_fold_set_moment(f, d, TARE_MOMENT_END, e->t);
	}
}

/* A process ends, and all devices have settled the calls before that. */
static void end_now(struct tare_fold *f, int process, int64_t t)
{
	struct tare_process_fold *p = f->processes[process];

	tare_fold_heap_end(f, process, t);
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			tare_cards_left(&f->parts->cards, f, f->devices[i], process);
	tare_fold_host_until(f, INT64_MAX);
	if (p->host.tensors.count && t >= f->worked_ns)
		tare_fold_host_end(f, t);
	tare_fold_host_tensor_end(f, p, t);
	tare_graphs_ended(&f->parts->graphs, f, process);
	p->is_ended = true;
	tare_fold_share_end(f, process);
}

static bool has_passed(struct tare_fold *f, size_t end)
{
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i] && f->devices[i]->end_next <= end)
			return false;
	return true;
}

void tare_fold_ends_finish(struct tare_fold *f)
{
	while (f->end_next < f->end_nr && has_passed(f, f->end_next)) {
		struct tare_end e = f->ends[f->end_next++];

		end_now(f, e.process, e.t);
	}
}
