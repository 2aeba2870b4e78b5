/* SPDX-License-Identifier: Apache-2.0 */
/* Ledgers: copies of the state of the fold. */
#include "ledger/rows/rows.h"

#include "base/xalloc.h"
#include "record/bytes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_of_several_hosts(const struct tare_fold *f)
{
	const struct tare_device *first = NULL;

	for (int i = 0; i < f->device_nr; i++) {
		if (first && f->devices[i] && f->devices[i]->device->machine != first->machine)
			return true;
		if (!first && f->devices[i])
			first = f->devices[i]->device;
	}
	return false;
}

/* Rule "heap blocks" */
static uint64_t heap_error(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m)
{
	double variance = 0;

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device)
		if (f->buckets[i].account == TARE_BUCKET_VARIANCE)
			variance += (double)tare_fold_amount(f, &f->buckets[i], m)->bytes;
	return variance > 0 ? (uint64_t)(sqrt(variance) * 1024) : 0;
}

/* Of all programs together. */
static void add_sizes(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                      struct tare_arena *memory, struct tare_device_ledger *out)
{
	struct tare_amount sums[TARE_HEAP_POWERS] = { 0 };

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device)
		if (f->buckets[i].account == TARE_BUCKET_HEAP_SIZED)
			tare_amount_add(&sums[f->buckets[i].owner], tare_fold_amount(f, &f->buckets[i], m));
	out->sizes = tare_arena_alloc(memory, sizeof(sums) / sizeof(sums[0]) * sizeof(*out->sizes));
	for (int power = 0; power < TARE_HEAP_POWERS; power++)
		if (sums[power].count > 0)
			out->sizes[out->size_nr++] =
				(struct tare_size_sum){ power, (uint64_t)sums[power].count, sums[power].bytes };
}

static enum tare_evidence used_by(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m)
{
	if (d->device->flags & TARE_DEVICE_HEAP)
		return heap_error(f, d, m) ? TARE_EVIDENCE_INFERRED : TARE_EVIDENCE_EXACT;
	return d->is_measured ? TARE_EVIDENCE_WEIGHED : TARE_EVIDENCE_INFERRED;
}

void tare_fold_snapshot(struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                        struct tare_ledger *out)
{
	const struct tare_device *device = d->device;
	struct tare_device_ledger *l = &out->devices[tare_fold_device_place(f, d)];
	int64_t used = m == TARE_MOMENT_NOW ? d->used : d->moment_used[m], sum = 0;

	*l = (struct tare_device_ledger){
		.index = tare_device_number(device),
		.host = is_of_several_hosts(f) ? tare_arena_strdup(out->memory, device->host) : NULL,
		.name = tare_arena_strdup(out->memory, device->name ? device->name : ""),
		.total = device->total,
		.reserved = device->reserved,
		.used = d->is_measured || d->sum || used ? (uint64_t)used : TARE_NOT_KNOWN,
		.used_start = d->is_measured ? (uint64_t)d->used_start : TARE_NOT_KNOWN,
		.t_ns = t,
		.used_by = used_by(f, d, m),
		.nvml = device->flags & TARE_DEVICE_NVML,
		.integrated = device->flags & TARE_DEVICE_INTEGRATED,
		.simulated = device->flags & TARE_DEVICE_SIMULATED,
		.imported = device->flags & TARE_DEVICE_IMPORTED,
		.is_heap = device->flags & TARE_DEVICE_HEAP,
		.heap_error = heap_error(f, d, m),
	};
	snprintf(l->uuid, sizeof(l->uuid), "%s", device->uuid);
	if (l->is_heap)
		add_sizes(f, d, m, out->memory, l);
	tare_fold_rows(f, d, m, t, out->memory, l);
	if (!l->is_heap || !f->without_heap_lines)
		tare_fold_lines(f, d, m, t, out->memory, l);
	tare_fold_pool_rows(f, d, m, out->memory, l);
	tare_parts_device_rows(f, d, m, t, out->memory, l);
	tare_graphs_rows_of(&f->parts->graphs, f, d, m, out);
	tare_fold_pinned_rows(f, d, m, out);
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device)
		if (f->buckets[i].account == TARE_BUCKET_ASLEEP)
			l->asleep += tare_fold_amount(f, &f->buckets[i], m)->bytes;
	for (int i = 0; i < l->row_nr; i++) {
		if (!l->rows[i].leaf)
			continue;
		sum += l->rows[i].bytes;
		l->elastic += l->rows[i].elastic ? l->rows[i].bytes : 0;
	}
	l->unexplained = l->used == TARE_NOT_KNOWN ? 0 : used - sum;
	tare_fold_advise(f, d, m, t, out, l);
}

/* Makes room for every device and process of the recording. */
void tare_fold_snapshot_begin(struct tare_fold *f, const char *at, struct tare_ledger *out)
{
	struct tare_arena *memory = tare_xcalloc(1, sizeof(*memory));

	*out = (struct tare_ledger){ .memory = memory, .at = tare_arena_strdup(memory, at) };
	for (int i = 0; i < f->device_nr; i++)
		out->device_nr += f->devices[i] != NULL;
	out->devices = tare_arena_alloc(memory, (size_t)out->device_nr * sizeof(*out->devices) + 1);
	out->hosts = tare_arena_alloc(memory, (size_t)f->process_nr * sizeof(*out->hosts) + 1);
	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process *p = f->processes[i] ? f->processes[i]->process : NULL;

		if (!p || p->role != TARE_ROLE_PROGRAM)
			continue;
		f->processes[i]->host_row = out->host_nr;
		out->hosts[out->host_nr++] =
			(struct tare_host_ledger){ .pid = p->pid,
			                           .generation = p->generation,
			                           .name = tare_arena_strdup(memory, p->program ? p->program : ""),
			                           .rss = TARE_NOT_KNOWN,
			                           .peak_rss = TARE_NOT_KNOWN,
#define IS_NOT_KNOWN(FIELD, LINE) .FIELD = TARE_NOT_KNOWN,
			                           TARE_HOST_MEMORY(IS_NOT_KNOWN)
#undef IS_NOT_KNOWN
		    };
	}
}

void tare_fold_snapshot_hosts(struct tare_fold *f, enum tare_moment m, struct tare_ledger *out)
{
	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process_fold *p = f->processes[i];
		const struct tare_host_now *now;
		struct tare_host_ledger *h;

		if (!p || p->host_row < 0)
			continue;
		now = tare_fold_host_at(f, p, m);
		h = &out->hosts[p->host_row];
		h->tensors = now->tensors;
		if (!now->is_read)
			continue;
#define SHOW(FIELD, LINE) h->FIELD = now->memory[TARE_HOST_##FIELD];
		TARE_HOST_MEMORY(SHOW)
#undef SHOW
		h->rss = tare_bytes_sum(tare_bytes_sum(h->anon, h->file), h->shmem);
	}
	tare_tensors_host_rows(&f->parts->tensors, f, m, out);
}

/*
 * Finishes a ledger: removes processes that did not live at that time, and sets peaks, which are of the whole recording.
 */
void tare_fold_snapshot_end(struct tare_fold *f, const struct tare_instant *at, struct tare_ledger *out)
{
	int kept = 0;

	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process_fold *p = f->processes[i];

		if (!p || p->host_row < 0)
			continue;
		if (at->kind == TARE_INSTANT_TIME && (p->process->first_ns > at->t_ns || (p->is_ended && p->end_ns < at->t_ns)))
			continue;
		if (p->most_resident)
			out->hosts[p->host_row].peak_rss = p->most_resident;
		out->hosts[p->host_row].peak_file = p->most_file;
		out->hosts[kept++] = out->hosts[p->host_row];
	}
	out->host_nr = kept;
	for (int i = 0; i < f->device_nr; i++) {
		const struct tare_device_fold *d = f->devices[i];
		struct tare_device_ledger *l;

		if (!d)
			continue;
		l = &out->devices[tare_fold_device_place(f, d)];
		l->peak_t_ns = d->moment_ns[TARE_MOMENT_PEAK];
		l->peak_used = d->has_moment[TARE_MOMENT_PEAK] ? (uint64_t)d->moment_used[TARE_MOMENT_PEAK] : l->used;
		l->own_peak = d->own_peak.used;
		l->own_peak_t_ns = d->own_peak.ns;
		tare_fold_timeline(&d->samples, out->memory, &l->timeline);
	}
	if (f->host.most)
		tare_fold_timeline(&f->host.samples, out->memory, &out->host_timeline);
}

void tare_ledger_free(struct tare_ledger *ledger)
{
	if (ledger->memory)
		tare_arena_free(ledger->memory);
	free(ledger->memory);
	*ledger = (struct tare_ledger){ 0 };
}

int64_t tare_fold_doubt_ns(const struct tare_fold *f, enum tare_moment m, int64_t t)
{
	return f->is_over && (m == TARE_MOMENT_NOW || m == TARE_MOMENT_END) ? INT64_MAX : t;
}

/* The time of doubt of what is of several instants: that of the last one. */
int64_t tare_fold_doubt_ns_of(const struct tare_instant *at, const struct tare_ledger *l)
{
	int64_t t = l->t_ns;

	if (at->kind == TARE_INSTANT_MOMENT && at->moment == TARE_MOMENT_END)
		return INT64_MAX;
	for (int i = 0; l->t_ns < 0 && i < l->device_nr; i++)
		t = l->devices[i].t_ns > t ? l->devices[i].t_ns : t;
	return t < 0 ? INT64_MAX : t;
}
