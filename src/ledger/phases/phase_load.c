/* SPDX-License-Identifier: Apache-2.0 */
/* Phases out of a checkpoint of Tare 0.1.0: what is known of those that ended, and those that are still open. */
#include "ledger/phases/phase_queue.h"
#include "ledger/phases/phase_stack.h"

#include "base/array.h"

/* No device has more, and no recording lasts longer; damage must not overflow the sums. */
static int64_t sane(int64_t bytes)
{
	const int64_t most = INT64_C(1) << 44;

	return bytes > most ? most : bytes < -most ? -most : bytes;
}

static int64_t sane_ns(int64_t ns)
{
	const int64_t most = INT64_C(1) << 60;

	return ns > most ? most : ns < -most ? -most : ns;
}

static uint64_t key_of(int process, uint32_t number)
{
	return (uint64_t)process << 32 | number;
}

static int find(const struct tare_map *map, int process, uint32_t number)
{
	const uint64_t *place = tare_map_get(map, key_of(process, number));

	return place ? (int)*place - 1 : -1;
}

static int device_of(const struct tare_fold *f, const struct tare_event *e)
{
	int i = e->device ? e->device->index : -1;

	return i >= 0 && i < f->device_nr && f->devices[i] ? i : -1;
}

static void carry_sum(struct tare_phases_part *phases, struct tare_fold *f,
		      const struct tare_event *e, int process)
{
	const struct tare_rec_phase_sum *r = e->rec.phase_sum;
	int parent = find(&phases->number_of, process, r->parent), device = device_of(f, e);
	int known = tare_phase_known(phases, f, process, parent, e->name ? e->name : "",
				     e->domain ? e->domain : "", r->source, r->what);
	struct tare_phase_known *k = &phases->known[known];
	int64_t start = device < 0 ? 0 : f->devices[device]->used_start;
	bool is_new;

	*tare_map_put(&phases->number_of, key_of(process, r->number), &is_new) =
		(uint64_t)known + 1;
	if (is_new) {
		k->repeats += r->repeats;
		tare_phase_count_name(phases, known, r->repeats);
		k->unclosed += r->unclosed;
		k->threads += r->threads;
		k->ns = sane_ns(k->ns + sane_ns(r->ns));
		k->first_ns = sane_ns(r->first_ns);
		k->last_ns = sane_ns(r->last_ns);
		for (int i = 0; i < f->watch_nr; i++)
			if (tare_phase_is_watched(phases, f, known, i))
				f->watches[i].seen += r->repeats;
	}
	if (device < 0 || !r->seen)
		return;
	k->totals[device] = (struct tare_phase_total){
		.seen = r->seen,
		.before = sane(r->used_before) - start,
		.after = sane(r->used_after) - start,
		.change = sane(r->change),
		.change_min = sane(r->change_min),
		.change_max = sane(r->change_max),
		.own = sane(r->own),
		.own_min = sane(r->own_min),
		.own_max = sane(r->own_max),
		.peak = { sane(r->peak) - start, sane(r->peak_live), sane_ns(r->peak_ns) },
	};
}

/* One that is open was pushed in the order in which it is told here. */
static int open_frame(struct tare_phases_part *phases, struct tare_fold *f,
		      const struct tare_rec_phase_open *r, int process)
{
	int frame = find(&phases->open_of, process, r->open), known, top;

	if (frame >= 0)
		return frame;
	known = find(&phases->number_of, process, r->number);
	if (r->number && known < 0)
		return -1; /* damage */
	frame = tare_phase_frame(phases, f,
				 &(struct tare_phase_begin){ .known = known,
							     .process = process,
							     .tid = r->tid,
							     .id = r->id,
							     .t = sane_ns(r->begin_ns) });
	for (int i = 0; i < f->device_nr; i++)
		phases->frames[frame].levels[i] = (struct tare_phase_level){ .from_start = true };
	top = (int)*tare_phase_top(phases, process, r->tid) - 1;
	tare_phase_link(phases, frame,
			known < 0 ? -1
				  : tare_phase_around(phases, top, phases->known[known].domain));
	*tare_map_put(&phases->open_of, key_of(process, r->open), NULL) = (uint64_t)frame + 1;
	return frame;
}

static void carry_open(struct tare_phases_part *phases, struct tare_fold *f,
		       const struct tare_event *e, int process)
{
	const struct tare_rec_phase_open *r = e->rec.phase_open;
	int frame = open_frame(phases, f, r, process), device = device_of(f, e);
	struct tare_phases_device *own;
	struct tare_device_fold *d;

	if (frame < 0 || device < 0)
		return;
	d = f->devices[device];
	own = &phases->devices[device];
	phases->frames[frame].levels[device] = (struct tare_phase_level){
		.before = sane(r->used_before) - d->used_start,
		.nested = sane(r->nested),
	};
	tare_phase_open_on(own, frame);
	tare_phase_peaks_add(own, (struct tare_phase_peak){ .frame_nr = 1,
							    .is_later = true,
							    .most = { sane(r->peak) - d->used_start,
								      sane(r->peak_live),
								      sane_ns(r->peak_ns) } });
}

static void carry_part(struct tare_phases_part *phases, struct tare_fold *f,
		       const struct tare_event *e, int process)
{
	const struct tare_rec_phase_part *r = e->rec.phase_part;
	int device = device_of(f, e), place;

	place = find(r->is_open ? &phases->open_of : &phases->number_of, process, r->number);
	if (device < 0 || place < 0 || r->account >= TARE_ACCOUNT_NR)
		return;
	if (r->is_open)
		phases->frames[place].levels[device].accounts[r->account] = sane(r->bytes);
	else
		phases->known[place].totals[device].parts[r->account] = sane(r->bytes);
}

void tare_phases_load(struct tare_phases_part *phases, struct tare_fold *f,
		      const struct tare_event *e)
{
	const struct tare_process *process = e->about ? e->about : e->process;

	tare_fold_process(f, process);
	switch (e->kind) {
	case TARE_KIND_PHASE_SUM:
		carry_sum(phases, f, e, process->index);
		return;
	case TARE_KIND_PHASE_PART:
		carry_part(phases, f, e, process->index);
		return;
	case TARE_KIND_PHASE_OPEN:
		carry_open(phases, f, e, process->index);
		return;
	default:
		return;
	}
}
