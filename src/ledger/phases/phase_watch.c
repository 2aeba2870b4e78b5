/* SPDX-License-Identifier: Apache-2.0 */
/* Phases that somebody asked for by their name or path. */
#include "ledger/phases/phases.h"

#include <string.h>

static bool phase_is_watched(const struct tare_phases_part *phases, const struct tare_fold *f, int known, int watch)
{
	const struct tare_phase_known *k = &phases->known[known];

	return !strcmp(f->watches[watch].name, k->name) || !strcmp(f->watches[watch].name, k->path);
}

void tare_phase_watch_begin(struct tare_phases_part *phases, struct tare_fold *f, struct tare_phase_frame *x)
{
	for (int i = 0; i < f->watch_nr; i++) {
		struct tare_phase_watch *w = &f->watches[i];

		if (!phase_is_watched(phases, f, x->known, i) || ++w->seen != w->nth)
			continue;
		w->is_found = true;
		w->begin_ns = x->begin_ns;
		w->serial = x->serial;
		x->is_watched = true;
	}
}

void tare_phases_count_watched(const struct tare_phases_part *phases, struct tare_fold *f)
{
	for (int i = 0; i < f->watch_nr; i++)
		for (size_t k = 0; k < phases->known_nr; k++)
			if (phase_is_watched(phases, f, (int)k, i))
				f->watches[i].seen += phases->known[k].repeats;
}

void tare_phase_watch_end(struct tare_fold *f, const struct tare_phase_frame *x, int64_t t)
{
	for (int i = 0; x->is_watched && i < f->watch_nr; i++)
		if (f->watches[i].serial == x->serial)
			f->watches[i].end_ns = t;
}
