/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the moment up to which the logs of a running recording are settled, so that a state may speak of it. */
#include "rollup/moment.h"

#include "base/number.h"
#include "record/format.h"

/* Segments have less of the log than is settled: what comes next may be as old as this. Without a ring it has what its files have. */
static bool has_more(const struct tare_settled *settled, const struct tare_process *p)
{
	const struct tare_log_info *info = tare_log_info(tare_recording_log(p));
	uint64_t below;

	if (!p->log[0])
		return false;
	below = tare_settled_below(settled, p->log, false);
	if (below == UINT64_MAX)
		return tare_log_has_from(info, p->log, info->end);
	return below - info->end > UINT64_C(2) * TARE_BLOCK_MAX;
}

int64_t tare_rollup_told_until(const struct tare_recording *recording, const struct tare_settled *settled,
                               bool is_cut_short)
{
	int64_t until = INT64_MAX;

	for (int i = 0; settled && i < tare_recording_process_nr(recording); i++) {
		const struct tare_process *p = tare_recording_process(recording, i);
		uint64_t oldest = tare_settled_oldest(settled, p->log);

		if (oldest < UINT64_MAX >> 1)
			until = tare_least(until, tare_recording_time_ns(recording, p, oldest) - 1);
		if (is_cut_short && has_more(settled, p))
			until = tare_least(until, p->last_ns - TARE_ROLLUP_MARGIN_NS);
	}
	return until;
}
