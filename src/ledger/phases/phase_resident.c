/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a phase's process was resident (anonymous and of files). It is read a few times a second only, so it is
 * known of phases that a reading falls into, and is what that reading says.
 */
#include "ledger/phases/phases.h"

#include "base/array.h"
#include "record/bytes.h"

void tare_phase_resident_widen(struct tare_phases_part *phases, const struct tare_fold *f)
{
	phases->residents = tare_array_widen(phases->residents, (size_t)phases->process_nr, (size_t)f->process_nr,
	                                     sizeof(*phases->residents));
	phases->process_nr = f->process_nr;
}

static void raise_most(struct tare_phase_resident *r, int64_t bytes, int64_t t)
{
	if (!r->readings++ || r->most < bytes) {
		r->most = bytes;
		r->most_ns = t;
	}
	r->last = bytes;
}

/* Since the process began: all that was read of it. What it began with nobody has read. */
struct tare_phase_resident tare_phase_resident_so_far(const struct tare_phases_part *phases, int process)
{
	struct tare_phase_resident all = { 0 };

	if (process < phases->process_nr)
		all = phases->residents[process];
	all.before = -1;
	return all;
}

void tare_phase_resident_read(struct tare_phases_part *phases, const struct tare_event *e)
{
	const struct tare_rec_host *r = e->rec.host;
	int64_t bytes;

	if (!e->about || e->about->index >= phases->process_nr || !tare_bytes_are_known(r->anon) ||
	    !tare_bytes_are_known(r->file))
		return;
	bytes = (int64_t)(r->anon + r->file);
	raise_most(&phases->residents[e->about->index], bytes, e->at_ns);
	for (size_t i = 0; i < phases->frame_nr; i++) {
		struct tare_phase_frame *x = &phases->frames[i];

		if (x->is_used && !x->is_ended && x->process == e->about->index)
			raise_most(&x->resident, bytes, e->at_ns);
	}
}

/* The phase has ended once more. */
void tare_phase_resident_add(struct tare_phase_resident_total *sum, const struct tare_phase_resident *r)
{
	sum->after = r->readings ? r->last : -1;
	sum->without_change += !r->readings || r->before < 0;
	if (!r->readings)
		return;
	sum->change += r->before < 0 ? 0 : r->last - r->before;
	if (!sum->readings || sum->most < r->most) {
		sum->most = r->most;
		sum->most_ns = r->most_ns;
	}
	sum->readings += r->readings;
}
