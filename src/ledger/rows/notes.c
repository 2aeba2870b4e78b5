/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader of the ledger must know before trusting it, in sentences. */
#include "ledger/rows/rows.h"

#include "base/number.h"
#include "base/units.h"

#include <string.h>

/* So many bytes of unexplained changes between calls hint that calls were not seen. */
#define BETWEEN_BYTES (16 * TARE_MIB)

/*
 * Notes a recorded process that NVML lists but that made no recorded context: it reached the driver past the
 * recorder.
 */
static void note_route(struct tare_fold *f, const struct tare_device_fold *d)
{
	for (size_t i = 0; i < d->other_nr; i++) {
		const struct tare_other_process *p = &d->others[i];
		char size[TARE_UNITS_TEXT_MAX];
		bool is_recorded = false, has_context = false;

		for (int k = 0; k < f->process_nr; k++) {
			const struct tare_process_fold *q = f->processes[k];

			if (!tare_other_process_is(d, q, p->pid))
				continue;
			is_recorded = true;
			has_context |= q->has_context;
		}
		/* A context may have been made while recording was paused. */
		if (is_recorded && !has_context && p->most > 0 && !f->pause_nr)
			tare_fold_note(f,
			               "process %u reached the driver by an unknown route: NVML lists "
			               "it with %s on GPU %d but no context was recorded; its memory "
			               "is in unexplained",
			               p->pid, tare_units_human(size, (uint64_t)p->most), tare_device_number(d->device));
	}
}

/* What is missing of the counters that say how much is in use. */
static void note_counter(struct tare_fold *f, const struct tare_device_fold *d, int gpu)
{
	if (!d->is_measured && d->sum)
		tare_fold_note(f,
		               "GPU %d: neither NVML nor the driver said how much memory is in use, so "
		               "used is computed from the calls",
		               gpu);
	else if (d->primary == TARE_SOURCE_CUDA && d->sum != d->used_start)
		tare_fold_note(f,
		               "GPU %d: there is no NVML, so what was in use before the first context, "
		               "that context included, is one row",
		               gpu);
}

static void note_device(struct tare_fold *f, const struct tare_device_fold *d)
{
	int gpu = tare_device_number(d->device);
	char size[TARE_UNITS_TEXT_MAX];
	uint64_t contended = 0;

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device)
		contended += f->buckets[i].now.low != f->buckets[i].now.high;
	if (contended)
		tare_fold_note(f,
		               "GPU %d: calls of unknown size overlapped, so %llu row%s lie%s between "
		               "two bounds; record with fewer threads for sharper ones",
		               gpu, (unsigned long long)contended, tare_plural(contended), contended == 1 ? "s" : "");
	if (d->unexplained_between > BETWEEN_BYTES)
		tare_fold_note(f,
		               "GPU %d: %s changed between recorded calls; a library may have reached "
		               "the driver by an unknown route, or another process changed",
		               gpu, tare_units_human(size, (uint64_t)d->unexplained_between));
	if (d->is_pid_mismatch)
		tare_fold_note(f,
		               "GPU %d: NVML lists processes under pids of another namespace, so a "
		               "change of other processes cannot be told apart; run tare in the "
		               "host's pid namespace",
		               gpu);
	/* What is imported says itself where its figures come from. */
	if (!(d->device->flags & TARE_DEVICE_IMPORTED))
		note_counter(f, d, gpu);
	note_route(f, d);
}

static void fold_notes_of_calls(struct tare_fold *f)
{
	if (f->unweighed)
		tare_fold_note(f,
		               "%llu call%s could not be weighed within the time allowed; what they "
		               "changed is in unexplained",
		               (unsigned long long)f->unweighed, tare_plural(f->unweighed));
	if (f->unknown_frees)
		tare_fold_note(f,
		               f->pause_nr ? "%llu free%s of memory allocated before recording began or "
		                             "while it was paused"
		                           : "%llu free%s of memory allocated before recording began",
		               (unsigned long long)f->unknown_frees, tare_plural(f->unknown_frees));
	if (f->missed_frees)
		tare_fold_note(f,
		               "%llu allocation%s came back at an address still in use: as many frees "
		               "were not seen",
		               (unsigned long long)f->missed_frees, tare_plural(f->missed_frees));
	tare_phases_note_strays(&f->parts->phases, f);
}

static void note_streams(struct tare_fold *f)
{
	if (f->parts->tensors.other_stream_blocks)
		tare_fold_note(f,
		               "%llu block%s of PyTorch's allocator came from a thread whose current stream is not that of "
		               "the first block in the same segment: an allocation that names its stream; by stream their "
		               "segments count as the first block's",
		               (unsigned long long)f->parts->tensors.other_stream_blocks,
		               tare_plural(f->parts->tensors.other_stream_blocks));
}

void tare_fold_notes(struct tare_fold *f)
{
	tare_pauses_notes(&f->parts->pauses, f);
	fold_notes_of_calls(f);
	note_streams(f);
	tare_phases_notes(&f->parts->phases, f);
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			note_device(f, f->devices[i]);
}
