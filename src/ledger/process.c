/* SPDX-License-Identifier: Apache-2.0 */
/* Processes: where they are, when they end, and what of them leaves the books then. */
#include "ledger/fold.h"

#include "base/xalloc.h"
#include "trace/bytes.h"

#include <stdlib.h>

/* An exec generation ends when the next one speaks. */
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

		if (q && !q->is_ended && q->process->pid == p->pid &&
		    q->process->pid_namespace == p->pid_namespace &&
		    q->process->machine == p->machine &&
		    q->process->generation < p->generation)
			tare_fold_process_end(f, i, t);
	}
}

struct tare_process_fold *tare_fold_process_new(struct tare_fold *f, const struct tare_process *p)
{
	int i = p->index;

	if (i >= f->process_nr) {
		f->processes = tare_xrealloc(f->processes, (size_t)i + 1, sizeof(*f->processes));
		while (f->process_nr <= i)
			f->processes[f->process_nr++] = NULL;
	}
	if (!f->processes[i]) {
		f->processes[i] = tare_xcalloc(1, sizeof(*f->processes[i]));
		f->processes[i]->process = p;
		f->processes[i]->host_row = -1;
		f->processes[i]->rank_at = -1;
		for (int m = 0; m < TARE_MARK_NR; m++)
			f->processes[i]->host_mark[m] = f->host_mark_nr[m];
	}
	return f->processes[i];
}

struct tare_place *tare_fold_place_new(struct tare_fold *f, int process, int device)
{
	struct tare_process_fold *p = f->processes[process];

	if (device >= p->place_nr) {
		p->places =
			tare_xrealloc(p->places, (size_t)device + 1, sizeof(struct tare_place *));
		while (p->place_nr <= device)
			p->places[p->place_nr++] = NULL;
	}
	if (!p->places[device])
		p->places[device] = tare_xcalloc(1, sizeof(struct tare_place));
	return p->places[device];
}

int64_t tare_fold_process_bytes(const struct tare_fold *f, const struct tare_device_fold *d,
				int process)
{
	int64_t sum = 0;

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device)
		if (f->buckets[i].process == process && tare_bucket_is_device(&f->buckets[i]))
			sum += f->buckets[i].now.bytes;
	return sum;
}

/*
 * Rule "end": the ledger at `end` is that of the moment before the first process ended after whose
 * end no recorded process took anything on this device any more. cluster.c lifts the mark when one
 * does.
 */
void tare_fold_process_end(struct tare_fold *f, int process, int64_t t)
{
	if (f->processes[process]->is_ended)
		return;
	for (int i = 0; i < f->device_nr; i++) {
		struct tare_device_fold *d = f->devices[i];

		if (!d)
			continue;
		tare_fold_cluster_close(f, d);
		tare_fold_reading_flush(f, d);
		if (!d->is_marked[TARE_MARK_END] && tare_fold_process_bytes(f, d, process))
			tare_fold_mark(f, d, TARE_MARK_END, t);
		tare_fold_aside_end(d, process);
	}
	tare_fold_host_until(f, INT64_MAX);
	if (f->processes[process]->host.tensors.count)
		tare_fold_host_end(f, t);
	tare_fold_host_tensor_end(f, f->processes[process], t);
	tare_fold_graph_end(f, process);
	f->processes[process]->is_ended = true;
	f->processes[process]->end_ns = t;
	tare_fold_share_end(f, process);
}

/* It ended in order, or nothing more can come from its log. */
static bool is_over(const struct tare_process_fold *p, int64_t t)
{
	if (!p || p->process->role != TARE_ROLE_PROGRAM)
		return false;
	return p->is_ended || (p->process->last_ns > 0 && p->process->last_ns < t);
}

bool tare_fold_is_any_over(const struct tare_fold *f, int64_t t)
{
	for (int i = 0; i < f->process_nr; i++)
		if (is_over(f->processes[i], t))
			return true;
	return false;
}

static void remove_process(struct tare_fold *f, struct tare_device_fold *d, int process)
{
	tare_fold_aside_end(d, process);
	tare_fold_take_back_blocks(f, d, process, -1);
	for (size_t i = 0; i < f->context_nr; i++) {
		struct tare_context *c = &f->contexts[i];

		if (c->process != process || c->device != d->index)
			continue;
		while (c->objects >= 0)
			tare_fold_object_remove(f, c->objects);
		c->is_live = false;
	}
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		struct tare_bucket *b = &f->buckets[i];
		struct tare_amount by;

		if (b->process != process)
			continue;
		by = (struct tare_amount){ .bytes = -b->now.bytes,
					   .low = -b->now.low,
					   .high = -b->now.high,
					   .count = -b->now.count,
					   .ns = -b->now.ns };
		tare_fold_book(f, i, &by);
	}
}

static int64_t driver_bytes(const struct tare_fold *f, const struct tare_device_fold *d,
			    int process)
{
	int64_t sum = 0;

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device)
		if (f->buckets[i].process == process &&
		    f->buckets[i].account == TARE_ACCOUNT_DRIVER)
			sum += f->buckets[i].now.bytes;
	return sum;
}

/*
 * Rule "driver start": most of it is taken for whoever is first, and stays until the last one is gone. What
 * of a process's row did not fall with it is from then on another's that is still there. Returns that.
 */
static int64_t hand_over(struct tare_fold *f, struct tare_device_fold *d, int from, int64_t stays,
			 int64_t t)
{
	if (stays <= 0 || stays > driver_bytes(f, d, from))
		return 0;
	for (int i = 0; i < f->process_nr; i++) {
		int context;

		if (i == from || is_over(f->processes[i], t) || driver_bytes(f, d, i) <= 0)
			continue;
		context = tare_fold_context(f, i, d->index, 0);
		tare_fold_book_bytes(f, tare_fold_bucket(f, context, TARE_ACCOUNT_DRIVER, 0), stays,
				     TARE_EVIDENCE_INFERRED);
		return stays;
	}
	return 0;
}

/*
 * Rule "process end": the driver frees what an ended process had, some time after its last record.
 * A fall of at least half of what is booked for it shows that this has happened. Of several that
 * ended, it is the one nearest in size, or all if they are nearer together. Inside a call that makes
 * something any fall shows it (is_sure): such a call gives nothing back.
 */
void tare_fold_take_ended(struct tare_fold *f, struct tare_device_fold *d, int64_t t, bool is_sure,
			  int64_t *change)
{
	for (int i = 0; *change < 0 && i < f->process_nr; i++)
		if (is_over(f->processes[i], t))
			tare_fold_share_end(f, i);
	while (*change < 0) {
		int64_t fall = -*change, all = 0, best_bytes = 0;
		int best = -1;

		for (int i = 0; i < f->process_nr; i++) {
			int64_t bytes;

			if (!is_over(f->processes[i], t))
				continue;
			bytes = tare_fold_process_bytes(f, d, i);
			if (bytes <= 0)
				continue;
			all += bytes;
			if (best < 0 || llabs(bytes - fall) < llabs(best_bytes - fall)) {
				best = i;
				best_bytes = bytes;
			}
		}
		if (best < 0 || (!is_sure && fall < best_bytes / 2))
			return;
		if (!d->is_marked[TARE_MARK_END])
			tare_fold_mark(f, d, TARE_MARK_END, t);
		for (int i = 0; i < f->process_nr && all > best_bytes; i++) {
			if (i == best || llabs(all - fall) > llabs(best_bytes - fall) ||
			    !is_over(f->processes[i], t))
				continue;
			*change += tare_fold_process_bytes(f, d, i);
			remove_process(f, d, i);
		}
		best_bytes -= hand_over(f, d, best, best_bytes + *change, t);
		remove_process(f, d, best);
		*change += best_bytes;
	}
}

void tare_fold_host_keep(struct tare_fold *f, struct tare_process_fold *p)
{
	for (int m = 0; m < TARE_MARK_NR; m++) {
		if (p->host_mark[m] == f->host_mark_nr[m])
			continue;
		p->host_kept[m] = p->host;
		p->host_mark[m] = f->host_mark_nr[m];
	}
}

const struct tare_host_now *tare_fold_host_at(const struct tare_fold *f,
					      const struct tare_process_fold *p, enum tare_mark m)
{
	if (m == TARE_MARK_NOW || p->host_mark[m] != f->host_mark_nr[m])
		return &p->host;
	return &p->host_kept[m];
}

/* A process that is ending has none any more: what was read last holds. */
static bool has_memory(const struct tare_rec_host *r)
{
	return tare_bytes_are_known(r->anon) || tare_bytes_are_known(r->peak) || tare_bytes_are_known(r->pss);
}

void tare_fold_host(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_host *r = e->rec.host;
	struct tare_process_fold *p;

	if (!e->about || !has_memory(r))
		return;
	p = tare_fold_process(f, e->about);
	tare_fold_host_keep(f, p);
	p->host.is_read = true;
	p->host.anon = r->anon;
	p->host.file = r->file;
	p->host.shmem = r->shmem;
	p->host.swap = r->swap;
	p->host.peak = r->peak;
	p->host.pss = r->pss;
}

void tare_fold_process_free(struct tare_process_fold *p)
{
	if (!p)
		return;
	for (int i = 0; i < p->place_nr; i++) {
		if (!p->places[i])
			continue;
		tare_map_free(&p->places[i]->contexts);
		tare_map_free(&p->places[i]->pages);
		tare_blocks_free(&p->places[i]->blocks);
		free(p->places[i]->segments.items);
		free(p->places[i]);
	}
	free(p->places);
	for (int i = 0; i < TARE_FAMILY_NR; i++)
		tare_map_free(&p->live[i]);
	tare_map_free(&p->vmm);
	tare_map_free(&p->mapped);
	tare_map_free(&p->origin_of);
	tare_map_free(&p->site_of);
	tare_map_free(&p->shared);
	tare_map_free(&p->opened);
	tare_map_free(&p->origins);
	tare_map_free(&p->large_open);
	tare_map_free(&p->held_sizes);
	tare_map_free(&p->xla_devices);
	tare_map_free(&p->elastic);
	tare_map_free(&p->graphs);
	tare_map_free(&p->thread_streams);
	free(p->streams);
	tare_blocks_free(&p->host_blocks);
	free(p->probes.items);
	free(p);
}
