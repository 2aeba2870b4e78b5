/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that begin and end, and pauses of the recording, as they come: the calls before them are settled first. */
#include "ledger/settle/settle.h"

#include "base/array.h"

/* An end waits for calls under way on a device: they are settled together. */
void tare_fold_process_end(struct tare_fold *f, int process, int64_t t)
{
	struct tare_process_fold *p = f->processes[process];

	if (p->is_ending)
		return;
	p->is_ending = true;
	p->end_ns = t;
	TARE_APPEND(f->ends, f->end_nr, f->end_cap) = (struct tare_end){ process, t };
	for (int i = 0; i < f->device_nr; i++) {
		struct tare_device_fold *d = f->devices[i];

		if (!d || (d->cluster.count && d->cluster_until > t))
			continue;
		tare_fold_cluster_close(f, d);
		tare_fold_reading_flush(f, d);
		tare_fold_ends_pass(f, d, t);
	}
	tare_fold_ends_finish(f);
}

/* A process generation ends when the first record of the next one comes. */
void tare_fold_process_begin(struct tare_fold *f, const struct tare_process *p, int64_t t)
{
	struct tare_process_fold *own = tare_fold_process(f, p);

	if (own->is_seen)
		return;
	own->is_seen = true;
	if (p->role != TARE_ROLE_PROGRAM || !p->generation)
		return;
	for (int i = 0; i < f->process_nr; i++) {
		struct tare_process_fold *q = f->processes[i];

		if (q && !q->is_ending && q->process->pid == p->pid && q->process->pid_namespace == p->pid_namespace &&
		    q->process->machine == p->machine && q->process->generation < p->generation)
			tare_fold_process_end(f, i, t);
	}
}

/* ---- pauses ---- */

/*
 * Settles all calls before a pause: what they changed must not be taken for a change in the pause.
 */
static void begin_pause(struct tare_fold *f)
{
	for (int i = 0; i < f->device_nr; i++) {
		struct tare_device_fold *d = f->devices[i];

		if (!d)
			continue;
		tare_fold_cluster_close(f, d);
		tare_fold_reading_flush(f, d);
		d->is_pause_open = true;
	}
}

/* Recording is stopped: what was recorded of the program's work ends there. */
static void end_work(struct tare_fold *f, int64_t t)
{
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i] && !f->devices[i]->has_moment[TARE_MOMENT_END])
			tare_fold_set_moment(f, f->devices[i], TARE_MOMENT_END, t);
	tare_fold_host_end(f, t);
}

void tare_fold_control(struct tare_fold *f, const struct tare_event *e)
{
	if (tare_pauses_halts(&f->parts->pauses, e))
		begin_pause(f);
	if (tare_pauses_control(&f->parts->pauses, f, e))
		end_work(f, e->at_ns);
}
