/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_replay.h"

#include "base/arena.h"
#include "cmd/whatif_recording.h"
#include "replay/whatif.h"

#include <string.h>

#define EVENTS_MAX   1000000 /* of more the replay would make the report slow */
#define UNUSED_BYTES (INT64_C(256) << 20)
#define UNUSED_SHARE 20 /* … and a twentieth of what was in use */
#define SAVED_BYTES  (UINT64_C(64) << 20)

/* Is so much of the pool unused that a replay is worth the time? With expandable segments there is nothing to advise. */
static bool is_worth_it(const struct tare_device_ledger *d)
{
	int64_t unused = 0;

	for (int i = 0; i < d->segment_nr; i++) {
		if (d->segments[i].is_expandable)
			return false;
		unused += d->segments[i].bytes - d->segments[i].live;
	}
	return d->used != TARE_NOT_KNOWN && unused >= UNUSED_BYTES &&
	       unused >= (int64_t)d->used / UNUSED_SHARE;
}

static const char *folder_of(struct tare_recording *recording)
{
	for (int i = 0; i < tare_recording_process_nr(recording); i++)
		if (tare_recording_process(recording, i)->role == TARE_ROLE_PROGRAM)
			return tare_recording_process(recording, i)->folder;
	return "";
}

/* What the most reserved would have been, of one allocator on one GPU. False: nobody can say. */
static bool replay(struct tare_recording *recording, uint64_t *was, uint64_t *would)
{
	static const struct tare_whatif_ask ask = { .conf = "expandable_segments:True" };
	static const struct tare_whatif_reading reading = { .most = EVENTS_MAX };
	struct tare_err err = { 0 };
	struct tare_trace trace;
	struct tare_whatif w;
	bool is_right;

	if (tare_whatif_recording(&trace, recording, folder_of(recording), &reading, &err))
		return false;
	if (trace.device_count != 1) {
		tare_trace_free(&trace);
		return false;
	}
	if (tare_whatif_of(&w, &trace, &ask, &err))
		return false;
	is_right = !w.sum.mismatches && w.is_complete;
	*was = w.sum.figures.peak_reserved;
	*would = w.asked.figures.peak_reserved;
	tare_whatif_close(&w);
	return is_right;
}

/* In front of those that save less. */
static void insert(struct tare_ledger *l, struct tare_device_ledger *d,
		   const struct tare_finding *finding)
{
	struct tare_finding *all =
		tare_arena_alloc(l->memory, (size_t)(d->finding_nr + 1) * sizeof(*all));
	int at = 0;

	while (at < d->finding_nr && d->findings[at].bytes >= finding->bytes)
		at++;
	if (d->finding_nr) {
		memcpy(all, d->findings, (size_t)at * sizeof(*all));
		memcpy(all + at + 1, d->findings + at, (size_t)(d->finding_nr - at) * sizeof(*all));
	}
	all[at] = *finding;
	d->findings = all;
	d->finding_nr++;
}

void tare_report_replay(struct tare_ledger *ledger, struct tare_recording *recording)
{
	struct tare_device_ledger *d = ledger->devices;
	uint64_t was, would;

	if (ledger->device_nr != 1 || !is_worth_it(d))
		return;
	tare_recording_rewind(recording);
	if (replay(recording, &was, &would) && was > would && was - would >= SAVED_BYTES)
		insert(ledger, d,
		       &(struct tare_finding){ .advice = TARE_ADVICE_EXPANDABLE,
					       .account =
						       tare_advices[TARE_ADVICE_EXPANDABLE].account,
					       .bytes = (int64_t)(was - would),
					       .pid = d->segments[0].pid,
					       .name = "",
					       .each = (int64_t)was,
					       .next = (int64_t)would });
	tare_recording_rewind(recording);
}
