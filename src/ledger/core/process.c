/* SPDX-License-Identifier: Apache-2.0 */
/* Processes: where they are, when they end, and their host memory. */
#include "ledger/core/fold.h"

#include "base/xalloc.h"
#include "record/bytes.h"

#include <stdlib.h>

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
		for (int m = 0; m < TARE_MOMENT_NR; m++)
			f->processes[i]->host_moment[m] = f->host_moment_nr[m];
	}
	return f->processes[i];
}

struct tare_process_on_device *tare_fold_process_on_new(struct tare_fold *f, int process, int device)
{
	struct tare_process_fold *p = f->processes[process];

	if (device >= p->on_device_nr) {
		p->on_device = tare_xrealloc(p->on_device, (size_t)device + 1, sizeof(struct tare_process_on_device *));
		while (p->on_device_nr <= device)
			p->on_device[p->on_device_nr++] = NULL;
	}
	if (!p->on_device[device])
		p->on_device[device] = tare_xcalloc(1, sizeof(struct tare_process_on_device));
	return p->on_device[device];
}

int64_t tare_fold_process_bytes(const struct tare_fold *f, const struct tare_device_fold *d, int process)
{
	int64_t sum = 0;

	for (size_t c = 0; c < f->context_nr; c++) {
		if (f->contexts[c].process != process || f->contexts[c].device != d->index)
			continue;
		for (int i = f->contexts[c].buckets; i >= 0; i = f->buckets[i].next_of_context)
			if (tare_bucket_is_device(&f->buckets[i]))
				sum += f->buckets[i].now.bytes;
	}
	return sum;
}

void tare_fold_host_keep(struct tare_fold *f, struct tare_process_fold *p)
{
	for (int m = 0; m < TARE_MOMENT_NR; m++) {
		if (p->host_moment[m] == f->host_moment_nr[m])
			continue;
		p->host_kept[m] = p->host;
		p->host_moment[m] = f->host_moment_nr[m];
	}
}

const struct tare_host_now *tare_fold_host_at(const struct tare_fold *f, const struct tare_process_fold *p,
                                              enum tare_moment m)
{
	if (m == TARE_MOMENT_NOW || p->host_moment[m] != f->host_moment_nr[m])
		return &p->host;
	return &p->host_kept[m];
}

/* A process that is ending has none any more: what was read last holds. */
static bool has_memory(const struct tare_rec_host *r)
{
	return tare_bytes_are_known(r->anon) || tare_bytes_are_known(r->peak) || tare_bytes_are_known(r->pss);
}

static void raise_most(uint64_t *most, uint64_t bytes)
{
	if (tare_bytes_are_known(bytes) && *most < bytes)
		*most = bytes;
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
#define KEEP(FIELD, LINE) p->host.memory[TARE_HOST_##FIELD] = r->FIELD;
	TARE_HOST_MEMORY(KEEP)
#undef KEEP
	raise_most(&p->most_resident, r->peak);
	raise_most(&p->most_file, tare_bytes_sum(r->file, r->shmem));
}

/* Readings come ten times a second, of a short process none may; the process itself knows the most there was. */
void tare_fold_host_most(struct tare_fold *f, const struct tare_event *e)
{
	raise_most(&tare_fold_process(f, e->process)->most_resident, e->rec.end->most_resident);
}

bool tare_fold_is_over(const struct tare_process_fold *p, int64_t t)
{
	if (!p || p->process->role != TARE_ROLE_PROGRAM)
		return false;
	return (p->is_ending && p->end_ns <= t) || (p->process->last_ns > 0 && p->process->last_ns < t);
}

bool tare_fold_is_any_over(const struct tare_fold *f, int64_t t)
{
	for (int i = 0; i < f->process_nr; i++)
		if (tare_fold_is_over(f->processes[i], t))
			return true;
	return false;
}

/* A pid of the machine the device is in: another machine gives the same numbers to others. */
bool tare_other_process_is(const struct tare_device_fold *d, const struct tare_process_fold *p, uint32_t pid)
{
	return p && p->process->role == TARE_ROLE_PROGRAM && p->process->pid == pid &&
	       p->process->machine == d->device->machine;
}
