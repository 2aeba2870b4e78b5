/* SPDX-License-Identifier: Apache-2.0 */
/* Turns instants that were asked for by name into times of a recording. */
#include "cmd/report.h"

#include "base/str.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

/* A state of that very moment may be kept. */
static bool is_kept(const struct tare_recording *recording, const struct tare_instant *at)
{
	size_t nr = tare_recording_state_nr(recording);

	for (size_t i = nr; i < nr + tare_recording_kept_nr(recording); i++)
		if (!at->is_per_device && tare_recording_state(recording, i).until_ns == at->t_ns)
			return true;
	return false;
}

static bool is_before(const struct tare_instant *at, int64_t t)
{
	return at->kind == TARE_INSTANT_TIME && tare_instant_first_ns(at) < t;
}

/* Several recordings are read without states, so before the latest moment up to which one has dropped events there is no ledger of all. */
static int check_several(const struct tare_recording *recording, const struct tare_instant *instants, int n,
                         struct tare_err *err)
{
	int64_t dropped_ns = tare_recording_dropped_ns(recording);

	for (int i = 0; i < n && tare_recording_folder_nr(recording) > 1; i++)
		if (is_before(&instants[i], dropped_ns))
			return tare_err_set(err, TARE_E_RANGE,
			                    "%s: not all of these recordings have their events before %.1f s, "
			                    "which went to keep them under their caps; read each alone",
			                    instants[i].text, (double)dropped_ns / 1e9);
	return 0;
}

/* Of a span whose events were dropped to keep a cap, only what is kept of it is known. */
static int check_instants(const struct tare_recording *recording, const struct tare_instant *instants, int n,
                          struct tare_err *err)
{
	int64_t dropped_ns = tare_recording_dropped_ns(recording);
	int rc = check_several(recording, instants, n, err);

	for (int i = 0; i < n && !rc; i++)
		if (is_before(&instants[i], dropped_ns) && (n > 1 || !is_kept(recording, &instants[i])))
			rc = tare_err_set(err, TARE_E_RANGE,
			                  "%s: events before %.1f s were dropped to keep the recording under its cap, and their "
			                  "totals are left; ask for peak, end or a later time, or for this moment alone, without "
			                  "--by, to see what is known of it",
			                  instants[i].text, (double)dropped_ns / 1e9);
	return rc;
}

/* "snapshot:1" is the instant with that number, "snapshot:NAME" the last one that was called so. */
static const struct tare_snapshot_mark *find_snapshot(const struct tare_recording *recording, const char *name)
{
	char number[16];

	for (int i = tare_recording_snapshot_nr(recording); i-- > 0;) {
		const struct tare_snapshot_mark *mark = tare_recording_snapshot(recording, i);

		snprintf(number, sizeof(number), "%u", (unsigned)mark->number);
		if (!strcmp(number, name) || !strcmp(mark->name, name))
			return mark;
	}
	return NULL;
}

static int no_snapshot(const struct tare_recording *recording, const char *text, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str known = { 0 };
	int n = tare_recording_snapshot_nr(recording), rc;

	for (int i = 0; i < n; i++) {
		const struct tare_snapshot_mark *mark = tare_recording_snapshot(recording, i);

		tare_str_addf(&known, "%s%u%s%s", i ? ", " : "", (unsigned)mark->number, mark->name[0] ? " " : "", mark->name);
	}
	if (n)
		rc = tare_err_set(err, TARE_E_NOT_FOUND, "%s: there is no such snapshot; there is %s", text,
		                  tare_str_text(&known));
	else
		rc = tare_err_set(err, TARE_E_NOT_FOUND,
		                  "%s: this recording has no snapshots; tare ctl REC snapshot takes one "
		                  "while it runs",
		                  text);
	return rc;
}

static int resolve(const struct tare_recording *recording, struct tare_instant *instants, int n, struct tare_err *err)
{
	for (int i = 0; i < n; i++) {
		const struct tare_snapshot_mark *mark;

		if (instants[i].kind != TARE_INSTANT_SNAPSHOT)
			continue;
		mark = find_snapshot(recording, strchr(instants[i].text, ':') + 1);
		if (!mark)
			return no_snapshot(recording, instants[i].text, err);
		instants[i].kind = TARE_INSTANT_TIME;
		instants[i].t_ns = mark->at_ns;
	}
	return 0;
}

/* A time as the report prints it may be rounded up: that much behind the last record is its end. */
enum { ROUNDED = 100 };

/* Nothing was recorded then, which is not to say that nothing was in use. */
static int check_end(const struct tare_recording *recording, const struct tare_instant *instants, int n,
                     struct tare_err *err)
{
	int64_t last_ns = tare_recording_last_ns(recording);
	char text[TARE_UNITS_TEXT_MAX];

	for (int i = 0; i < n; i++)
		if (instants[i].kind == TARE_INSTANT_TIME && instants[i].t_ns > last_ns + last_ns / ROUNDED)
			return tare_err_set(err, TARE_E_RANGE,
			                    "%s: the recording is %s long%s; ask for an earlier time, or for end", instants[i].text,
			                    tare_units_duration(text, last_ns), tare_recording_is_open(recording) ? " so far" : "");
	return 0;
}

int tare_instants_settle(struct tare_recording *recording, struct tare_instant *instants, int n, struct tare_err *err)
{
	int rc = check_end(recording, instants, n, err);

	if (rc == 0)
		rc = resolve(recording, instants, n, err);
	if (rc == 0)
		rc = tare_phase_instants_settle(recording, instants, n, err);
	if (rc == 0)
		rc = tare_oom_instants_settle(recording, instants, n, err);
	if (rc == 0)
		rc = check_instants(recording, instants, n, err);
	return rc;
}
