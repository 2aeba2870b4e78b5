/* SPDX-License-Identifier: Apache-2.0 */
/* Ledgers: where the state of the fold is copied out. */
#include "ledger/fold.h"

#include <stdio.h>
#include <stdlib.h>

static int order_of(const struct tare_device *device)
{
	return device->nvml_index >= 0 ? device->nvml_index : (1 << 20) + device->index;
}

/* NVML's order, as nvidia-smi shows it; what NVML does not know stands behind. */
static int place_of(const struct tare_fold *f, const struct tare_device_fold *d)
{
	int place = 0;

	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i] &&
		    (order_of(f->devices[i]->device) < order_of(d->device) ||
		     (order_of(f->devices[i]->device) == order_of(d->device) && i < d->index)))
			place++;
	return place;
}

void tare_fold_snapshot(struct tare_fold *f, const struct tare_device_fold *d, enum tare_mark m,
			int64_t t, struct tare_ledger *out)
{
	const struct tare_device *device = d->device;
	struct tare_device_ledger *l = &out->devices[place_of(f, d)];
	int64_t used = m == TARE_MARK_NOW ? d->used : d->mark_used[m], sum = 0;

	*l = (struct tare_device_ledger){
		.index = device->nvml_index >= 0 ? device->nvml_index : device->index,
		.name = tare_arena_strdup(out->memory, device->name ? device->name : ""),
		.total = device->total,
		.reserved = device->reserved,
		.used = d->is_measured || d->sum || used ? (uint64_t)used : TARE_NOT_KNOWN,
		.used_start = d->is_measured ? (uint64_t)d->used_start : TARE_NOT_KNOWN,
		.t_ns = t,
		.used_by = d->is_measured ? TARE_EVIDENCE_WEIGHED : TARE_EVIDENCE_INFERRED,
		.nvml = device->flags & TARE_DEVICE_NVML,
		.integrated = device->flags & TARE_DEVICE_INTEGRATED,
		.simulated = device->flags & TARE_DEVICE_SIMULATED,
	};
	snprintf(l->uuid, sizeof(l->uuid), "%s", device->uuid);
	tare_fold_rows(f, d, m, out->memory, l);
	for (int i = 0; i < l->row_nr; i++) {
		if (!l->rows[i].leaf)
			continue;
		sum += l->rows[i].bytes;
		l->elastic += l->rows[i].elastic ? l->rows[i].bytes : 0;
	}
	l->unexplained = l->used == TARE_NOT_KNOWN ? 0 : used - sum;
}

/* When the peak was, on every ledger: it is known only at the end. */
void tare_fold_snapshot_peak(const struct tare_fold *f, const struct tare_device_fold *d,
			     struct tare_ledger *out)
{
	struct tare_device_ledger *l = &out->devices[place_of(f, d)];

	l->peak_t_ns = d->mark_ns[TARE_MARK_PEAK];
	l->peak_used = d->is_marked[TARE_MARK_PEAK] ? (uint64_t)d->mark_used[TARE_MARK_PEAK] :
						      l->used;
}

void tare_fold_snapshot_hosts(struct tare_fold *f, enum tare_mark m, struct tare_ledger *out)
{
	out->hosts = tare_arena_alloc(out->memory,
				      (size_t)f->process_nr * sizeof(*out->hosts) + 1);
	out->host_nr = 0;
	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process_fold *p = f->processes[i];
		const struct tare_host_now *h;
		uint64_t none = TARE_NOT_KNOWN;
		bool is_read;

		if (!p || p->process->role != TARE_ROLE_PROGRAM)
			continue;
		h = tare_fold_host_at(f, p, m);
		is_read = h->is_read;
		out->hosts[out->host_nr++] = (struct tare_host_ledger){
			.pid = p->process->pid,
			.generation = p->process->generation,
			.name = tare_arena_strdup(out->memory,
						  p->process->program ? p->process->program : ""),
			.pss = is_read ? h->pss : none,
			.rss = is_read ? h->anon + h->file + h->shmem : none,
			.anon = is_read ? h->anon : none,
			.file = is_read ? h->file : none,
			.shmem = is_read ? h->shmem : none,
			.swap = is_read ? h->swap : none,
			.peak_rss = is_read ? h->peak : none,
			.pinned = h->pinned,
			.registered = h->registered,
		};
	}
}

/*
 * Something is about to happen on the device at t: instants before it see it as it is now. Until the
 * first reading nothing is known, and then it holds for all instants before.
 */
void tare_fold_advance(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	if (d->will_be_measured && !d->is_measured && t != INT64_MAX)
		return;
	while (d->instant_next < f->timed_nr && f->timed[d->instant_next].t_ns < t) {
		const struct tare_timed *at = &f->timed[d->instant_next++];

		tare_fold_snapshot(f, d, TARE_MARK_NOW, at->t_ns, at->out);
	}
}

void tare_ledger_free(struct tare_ledger *ledger)
{
	if (ledger->memory)
		tare_arena_free(ledger->memory);
	free(ledger->memory);
	*ledger = (struct tare_ledger){ 0 };
}
