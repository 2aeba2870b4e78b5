/* SPDX-License-Identifier: Apache-2.0 */
/* `tare info --check`: the views of a recording beside each other, at instants all over it. */
#include "cmd/info.h"

#include "base/disk.h"
#include "base/xalloc.h"
#include "cmd/report.h"
#include "ledger/build.h"
#include "trace/recording.h"
#include "view/agree.h"
#include "view/by.h"

#include <stdlib.h>

/* Of a large recording few instants, for each has as many rows as there are lines, stacks and blocks. */
enum { INSTANTS = 50, INSTANTS_OF_LARGE = 10 };
#define LARGE (UINT64_C(16) << 20)

/* Moments that the picture has, and so the instants that the tables are made of. */
struct chosen {
	struct tare_instant at[INSTANTS];
	const struct tare_memory_history_panel *panels[INSTANTS];
	const struct tare_memory_history_point *points[INSTANTS];
	int nr;
};

/* Another comes at the same nanosecond: a state that did not last is at no instant. */
static bool lasts(const struct tare_memory_history_panel *p, size_t i)
{
	return i + 1 == p->point_nr || p->points[i + 1].t_ns > p->points[i].t_ns;
}

/*
 * dropped_ns: what was before went to keep a cap, so a report of then has bounds and no rows, though a picture has the points that a
 * state kept. -1: nothing went.
 */
static void choose(struct chosen *out, const struct tare_memory_history *history, int most, int64_t dropped_ns)
{
	size_t each = history->panel_nr ? (size_t)(most / history->panel_nr) : 0;

	for (int k = 0; k < history->panel_nr; k++) {
		const struct tare_memory_history_panel *p = &history->panels[k];

		for (size_t i = 0; i < each && i < p->point_nr && out->nr < most; i++) {
			size_t at = p->point_nr <= each ? i : i * (p->point_nr - 1) / (each > 1 ? each - 1 : 1);

			if (!lasts(p, at) || p->points[at].t_ns < dropped_ns)
				continue;
			out->panels[out->nr] = p;
			out->points[out->nr] = &p->points[at];
			out->at[out->nr++] =
				(struct tare_instant){ .kind = TARE_INSTANT_TIME, .t_ns = p->points[at].t_ns, .text = "check" };
		}
	}
}

/* Rule "sources": what is in use was counted by another one then. */
static bool is_counted_alike(const struct tare_ledger *l, const struct tare_ledger *peak,
                             const struct tare_memory_history_panel *p)
{
	return p->device < 0 || l->devices[p->device].used_start == peak->devices[p->device].used_start;
}

static void check(struct tare_recording *recording, int most, struct tare_agreement *a, int *instants)
{
	TARE_FREED_HERE struct chosen *chosen = tare_xcalloc(1, sizeof(*chosen));
	struct tare_ledger *ledgers = tare_xcalloc(INSTANTS, sizeof(*ledgers)), peak;
	struct tare_memory_history history;

	tare_report_history(recording, TARE_BY_CATEGORY, &peak, &history);
	for (int i = 0; i < history.panel_nr; i++) {
		const struct tare_memory_history_panel *p = &history.panels[i];

		tare_agree_time(a, &peak, p);
		if (p->has_peak && p->device >= 0)
			tare_agree_at(a, &peak, p, &p->peak);
	}
	choose(chosen, &history, most, tare_recording_dropped_ns(recording));
	if (chosen->nr)
		tare_ledger_of_recording(recording, NULL, chosen->at, chosen->nr, ledgers);
	for (int i = 0; i < chosen->nr; i++) {
		if (is_counted_alike(&ledgers[i], &peak, chosen->panels[i]))
			tare_agree_at(a, &ledgers[i], chosen->panels[i], chosen->points[i]);
		tare_ledger_free(&ledgers[i]);
	}
	*instants = chosen->nr;
	tare_memory_history_free(&history);
	tare_ledger_free(&peak);
	free(ledgers);
}

int tare_info_check(struct tare_emit *e, const char *path, bool *agree, struct tare_err *err)
{
	struct tare_agreement a = { 0 };
	struct tare_recording *recording;
	int instants, rc = tare_recording_open_any(&recording, &path, 1, err);

	if (rc)
		return rc;
	check(recording, tare_disk_most(path) > LARGE ? INSTANTS_OF_LARGE : INSTANTS, &a, &instants);
	tare_recording_close(recording);
	*agree = !a.differ;
	tare_emit_int(e, "instants", instants);
	tare_emit_uint(e, "figures", a.figures);
	tare_emit_uint(e, "differ", a.differ);
	tare_emit_str(e, "why", a.differ ? tare_str_text(&a.why) : NULL);
	if (a.differ)
		tare_emit_note(e, "! %s", tare_str_text(&a.why));
	tare_emit_note(e, "%llu figures of all views at %d instants: %llu differ", (unsigned long long)a.figures, instants,
	               (unsigned long long)a.differ);
	tare_str_free(&a.why);
	return 0;
}
