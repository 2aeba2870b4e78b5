/* SPDX-License-Identifier: Apache-2.0 */
/* Replays PyTorch's pool for an advice: what expandable segments would have needed. */
#include "cmd/report.h"

#include "base/arena.h"
#include "cmd/whatif_recording.h"
#include "replay/whatif.h"

#include <string.h>

#define EVENTS_MAX   1000000 /* of more the replay would make the report slow */
#define UNUSED_BYTES (INT64_C(256) << 20)
#define UNUSED_SHARE 20 /* … and a twentieth of what was in use */
#define SAVED_BYTES  (INT64_C(64) << 20)

/* With expandable segments there is nothing to advise. */
static bool has_expandable(const struct tare_device_ledger *d)
{
	for (int i = 0; i < d->segment_nr; i++)
		if (d->segments[i].is_expandable)
			return true;
	return false;
}

/* Is so much of the pool unused that a replay is worth the time? */
static bool is_much_unused(const struct tare_device_ledger *d)
{
	int64_t unused = 0;

	for (int i = 0; i < d->segment_nr; i++)
		unused += d->segments[i].bytes - d->segments[i].live;
	return d->used != TARE_NOT_KNOWN && unused >= UNUSED_BYTES && unused >= (int64_t)d->used / UNUSED_SHARE;
}

/* How many requests PyTorch gave up on this GPU. */
static uint64_t refusals_of(const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	uint64_t count = 0;

	for (int i = 0; i < ledger->oom_nr; i++)
		if (ledger->ooms[i].is_torch && ledger->ooms[i].device == d->index)
			count += ledger->ooms[i].count;
	return count;
}

static const char *folder_of(struct tare_recording *recording)
{
	for (int i = 0; i < tare_recording_process_nr(recording); i++)
		if (tare_recording_process(recording, i)->role == TARE_ROLE_PROGRAM)
			return tare_recording_process(recording, i)->folder;
	return "";
}

struct outcome {
	uint64_t was, would; /* the most reserved */
	bool is_served;      /* whatever addresses the driver gives */
};

/* Of one allocator on one GPU. False: nobody can say. */
static bool replay(struct tare_recording *recording, struct outcome *out)
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
	*out = (struct outcome){ w.sum.figures.peak_reserved, w.asked.figures.peak_reserved,
		                     !w.asked.oom.is_there && !w.asked.orders_that_run_out };
	tare_whatif_close(&w);
	return is_right;
}

/* In front of those that save less. */
static void insert(struct tare_ledger *l, struct tare_device_ledger *d, const struct tare_finding *finding)
{
	struct tare_finding *all = tare_arena_alloc(l->memory, (size_t)(d->finding_nr + 1) * sizeof(*all));
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
	struct tare_finding finding = { .name = "" };
	bool is_unused, is_right;
	struct outcome o;

	if (ledger->device_nr != 1 || !d->segment_nr || has_expandable(d))
		return;
	is_unused = is_much_unused(d);
	finding.count = refusals_of(ledger, d);
	if (!finding.count && !is_unused)
		return;
	tare_recording_rewind(recording);
	is_right = replay(recording, &o);
	tare_recording_rewind(recording);
	if (!is_right)
		return;
	finding.bytes = o.was > o.would ? (int64_t)(o.was - o.would) : 0;
	if (finding.count && o.is_served)
		finding.advice = TARE_ADVICE_SERVED;
	else if (is_unused && finding.bytes >= SAVED_BYTES)
		finding.advice = TARE_ADVICE_EXPANDABLE;
	else
		return;
	finding.account = tare_advices[finding.advice].account;
	finding.pid = d->segments[0].pid;
	finding.each = (int64_t)o.was;
	finding.next = (int64_t)o.would;
	insert(ledger, d, &finding);
}
