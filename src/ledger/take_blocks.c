/* SPDX-License-Identifier: Apache-2.0 */
/* The two passes over blocks of tensors on a device: one by one, and many at once. */
#include "ledger/run.h"

/*
 * Most events by far are these, and nothing but their time and place matters to most of what looks at
 * every event. Their device; NULL: it is another event, or the first of its device or process.
 */
static struct tare_device_fold *device_of_block(const struct tare_fold *f, const struct tare_event *e)
{
	if (e->kind != TARE_KIND_TENSOR || !e->device || !tare_fold_known_process(f, e->process))
		return NULL;
	return tare_fold_known_device(f, e->device);
}

bool tare_fold_prepass_block(struct tare_fold *f, const struct tare_event *e)
{
	struct tare_device_fold *d = device_of_block(f, e);

	if (!d)
		return false;
	if (f->seen_ns < e->end_ns)
		f->seen_ns = e->end_ns;
	if (f->first_ns > e->begin_ns)
		f->first_ns = e->begin_ns;
	if (d->max_begin < e->at_ns)
		d->max_begin = e->at_ns;
	return true;
}

/* Must something else be done before the block of the event? */
static bool is_any_before(const struct tare_fold *f, const struct tare_device_fold *d, const struct tare_event *e)
{
	const struct tare_step *late = d->late_next < d->late.count ? &d->late.items[d->late_next] : NULL;

	return (late && late->begin - late->reading_before <= e->at_ns) ||
	       (f->host_next < f->timed_nr && f->timed[f->host_next].t_ns < e->at_ns) ||
	       !f->processes[e->process->index]->is_seen;
}

bool tare_fold_take_block(struct tare_fold *f, const struct tare_event *e)
{
	struct tare_device_fold *d = device_of_block(f, e);

	if (!d || is_any_before(f, d, e))
		return false;
	if (f->last_ns < e->end_ns)
		f->last_ns = e->end_ns;
	if (d->max_begin < e->at_ns)
		d->max_begin = e->at_ns;
	tare_fold_tensor(f, d, e);
	return true;
}

int64_t tare_fold_nothing_until(const struct tare_fold *f, const struct tare_device_fold *d)
{
	const struct tare_step *late = d->late_next < d->late.count ? &d->late.items[d->late_next] : NULL;
	int64_t host = f->host_next < f->timed_nr ? f->timed[f->host_next].t_ns : INT64_MAX;
	int64_t until = late ? late->begin - late->reading_before - 1 : INT64_MAX;

	return host < until ? host : until;
}

void tare_fold_take_run(struct tare_fold *f, const struct tare_event *e, int64_t until)
{
	struct tare_device_fold *d = device_of_block(f, e);
	int64_t before = tare_fold_nothing_until(f, d);
	struct tare_block_run run;

	if (d->cluster.count || !f->source->run || !f->source->run(f->source->arg, before < until ? before : until, &run))
		return;
	tare_fold_tensors(f, d, e->process, &run);
	if (f->last_ns < run.times[run.n - 1])
		f->last_ns = run.times[run.n - 1];
	if (d->max_begin < run.times[run.n - 1])
		d->max_begin = run.times[run.n - 1];
}
