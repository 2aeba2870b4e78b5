/* SPDX-License-Identifier: Apache-2.0 */
/* The peaks of all phases that are open on a device: those that are the same are kept once. */
#include "ledger/core/peak.h"
#include "ledger/phases/phases.h"

#include "base/array.h"

#include <string.h>

static bool is_same_amount(const struct tare_high_water *a, const struct tare_high_water *b)
{
	return a->used == b->used && a->live == b->live;
}

void tare_phase_peaks_add(struct tare_phases_device *own, struct tare_phase_peak peak)
{
	struct tare_phase_peak *last = own->peak_nr ? &own->peaks[own->peak_nr - 1] : NULL;

	if (!peak.frame_nr)
		return;
	if (last && !last->is_later && !peak.is_later && is_same_amount(&last->most, &peak.most)) {
		last->frame_nr += peak.frame_nr;
		return;
	}
	TARE_APPEND(own->peaks, own->peak_nr, own->peak_cap) = peak;
}

void tare_phase_peaks_raise(struct tare_phases_device *own, const struct tare_high_water *most)
{
	bool is_last_raised = false;
	size_t kept = 0;

	for (size_t i = 0; i < own->peak_nr; i++) {
		struct tare_phase_peak p = own->peaks[i];
		bool is_raised = tare_high_water_raise(&p.most, most);

		p.is_later |= is_raised;
		if (is_raised && is_last_raised)
			own->peaks[kept - 1].frame_nr += p.frame_nr;
		else
			own->peaks[kept++] = p;
		is_last_raised = is_raised;
	}
	own->peak_nr = kept;
}

struct tare_high_water tare_phase_peaks_take(struct tare_phases_device *own, size_t nr, size_t place, int64_t begin_ns)
{
	size_t i = own->peak_nr - 1;
	struct tare_high_water most;

	while (nr - own->peaks[i].frame_nr > place)
		nr -= own->peaks[i--].frame_nr;
	most = own->peaks[i].most;
	if (!own->peaks[i].is_later)
		most.ns = begin_ns;
	if (--own->peaks[i].frame_nr)
		return most;
	own->peak_nr--;
	memmove(&own->peaks[i], &own->peaks[i + 1], (own->peak_nr - i) * sizeof(*own->peaks));
	return most;
}

bool tare_phase_peaks_are_whole(const struct tare_phases_device *own)
{
	size_t nr = 0;

	for (size_t i = 0; i < own->peak_nr && nr <= own->open_nr; i++)
		nr += own->peaks[i].frame_nr;
	return nr == own->open_nr;
}
