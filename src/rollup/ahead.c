/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folds ahead: goes on with the fold of a recording that is still written, segment by segment, so that its end has
 * less to do.
 */
#include "rollup/ahead.h"

#include "base/disk.h"
#include "base/number.h"
#include "ledger/recording.h"
#include "rollup/moment.h"
#include "store/manifest.h"

#include <stdlib.h>

/* How far a fold gets: as far as this segment has events; `is_last`: there is none behind it. */
struct reach {
	uint32_t number;
	bool is_last;
};

static uint64_t size_of(const char *folder, uint32_t number)
{
	TARE_FREED_HERE char *path = tare_manifest_path(folder, number);
	uint64_t size = tare_disk_file(path);

	return size;
}

/* Of the segments behind the state, as many as have `most` bytes, one at least. */
static struct reach reach_of(const struct tare_manifest *m, const char *folder, uint32_t known, uint64_t most)
{
	struct reach reach = { 0 };
	uint64_t bytes = 0;

	for (size_t i = 0; i < m->nr && bytes < most; i++) {
		if (m->numbers[i] <= known || m->numbers[i] == m->dropped.rest)
			continue;
		reach.number = m->numbers[i];
		reach.is_last = i + 1 == m->nr;
		bytes += size_of(folder, m->numbers[i]);
	}
	return reach;
}

/* A second before what is there ends, so that few calls last longer; 0: no moment is later than that of the state. */
static int64_t moment_of(const struct tare_recording *recording, const struct tare_settled *settled,
                         const struct reach *reach)
{
	size_t nr = tare_recording_state_nr(recording);
	int64_t known = nr ? tare_recording_state(recording, nr - 1).until_ns : 0;
	int64_t until =
		tare_least(tare_recording_last_ns(recording) - TARE_ROLLUP_MARGIN_NS, tare_recording_settled_ns(recording));

	until = tare_least(until, tare_rollup_told_until(recording, settled, true));
	if (!reach->is_last)
		until = tare_least(until, tare_recording_segments_begin_ns(recording, reach->number) - 1);
	return until > known ? until : 0;
}

static int fold(struct tare_recording *recording, const struct tare_settled *settled, const struct reach *reach,
                struct tare_rollup_ahead *out)
{
	int64_t until = moment_of(recording, settled, reach);
	struct tare_ledger_saved saved = { 0 };

	if (!until)
		return TARE_E_NOT_FOUND;
	tare_ledger_save_recording(recording, reach->number, until, &saved);
	tare_ledger_saved_cut(&saved, saved.state.len);
	out->at = (struct tare_recording_state){ reach->number, until };
	out->bytes = saved.state;
	out->has_more = !reach->is_last;
	return 0;
}

static uint32_t newest_known(const struct tare_recording *recording)
{
	size_t nr = tare_recording_state_nr(recording);

	return nr ? tare_recording_state(recording, nr - 1).number : 0;
}

/* Which segments went to keep the cap: of these nothing can be read any more. */
static bool is_as_it_was(const struct tare_manifest *then, const char *folder)
{
	TARE_FREED_BY(tare_manifest_free) struct tare_manifest now = { 0 };
	bool is_same = !tare_manifest_read(&now, folder, NULL) && !now.fault && now.dropped.rest == then->dropped.rest;

	return is_same;
}

int tare_rollup_ahead(const char *folder, const struct tare_rollup_ahead *before, uint64_t most,
                      struct tare_rollup_ahead *out, struct tare_err *err)
{
	struct tare_log_reach segments = { .scope = TARE_LOG_SEGMENTS, .is_unchecked = true };
	struct tare_settled *settled = NULL;
	struct tare_recording *recording = NULL;
	TARE_FREED_BY(tare_manifest_free) struct tare_manifest manifest = { 0 };
	struct reach reach;
	int rc = tare_manifest_read(&manifest, folder, err);

	*out = (struct tare_rollup_ahead){ 0 };
	if (!rc && !manifest.fault) {
		settled = tare_settled_new(folder); /* before it is read what segments have */
		rc = tare_recording_open_scope(&recording, folder, &segments, err);
	}
	if (recording) {
		if (before->at.number)
			tare_recording_lend_state(recording, &before->at, before->bytes.data, before->bytes.len);
		reach = reach_of(&manifest, folder, newest_known(recording), most);
		rc = reach.number ? fold(recording, settled, &reach, out) : TARE_E_NOT_FOUND;
		if (!rc && !is_as_it_was(&manifest, folder))
			rc = tare_err_set(err, TARE_E_RANGE, "%s: events went meanwhile", folder);
	} else if (!rc) {
		rc = TARE_E_NOT_FOUND;
	}
	if (rc)
		tare_str_free(&out->bytes);
	tare_recording_close(recording);
	tare_settled_free(settled);
	return rc;
}
