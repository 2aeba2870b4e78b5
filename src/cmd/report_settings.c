/* SPDX-License-Identifier: Apache-2.0 */
/* Replays PyTorch's pool for a page: what other settings would have needed. */
#include "cmd/report_settings.h"

#include "base/xalloc.h"
#include "cmd/whatif_recording.h"
#include "replay/whatif.h"
#include "trace/recording.h"

#include <stdlib.h>

/* Of more a page would wait for its replays: it leaves them out. */
enum { EVENTS_MAX = 150000 };

static const char *folder_of(const struct tare_recording *recording)
{
	for (int i = 0; i < tare_recording_process_nr(recording); i++)
		if (tare_recording_process(recording, i)->role == TARE_ROLE_PROGRAM)
			return tare_recording_process(recording, i)->folder;
	return "";
}

static struct tare_page_setting setting_of(const struct tare_whatif_case *c)
{
	return (struct tare_page_setting){ .conf = c->conf,
		                               .peak_reserved = c->figures.peak_reserved,
		                               .driver_allocs = c->figures.driver_allocs,
		                               .runs_out = c->oom.is_there };
}

struct tare_page_setting *tare_report_settings(struct tare_recording *recording, size_t *nr)
{
	static const struct tare_whatif_reading reading = { EVENTS_MAX, 0, true };
	static const struct tare_whatif_ask ask = { .conf = NULL };
	struct tare_page_setting *out;
	struct tare_whatif_case recorded, *best;
	struct tare_err err = { 0 };
	struct tare_trace trace;
	struct tare_whatif w;
	size_t count;
	int rc;

	*nr = 0;
	tare_recording_rewind(recording);
	rc = tare_whatif_recording(&trace, recording, folder_of(recording), &reading, &err);
	tare_recording_rewind(recording);
	if (rc || tare_whatif_of(&w, &trace, &ask, &err))
		return NULL;
	if (w.sum.mismatches || !w.is_complete || !w.trace.device_count) {
		tare_whatif_close(&w);
		return NULL;
	}
	best = tare_whatif_best(&w, &ask, &count);
	out = tare_xcalloc(count + 1, sizeof(*out));
	recorded = (struct tare_whatif_case){ .figures = w.sum.figures, .oom = w.sum.oom };
	out[(*nr)++] = setting_of(&recorded);
	for (size_t i = 0; i < count; i++)
		out[(*nr)++] = setting_of(&best[i]);
	free(best);
	tare_whatif_close(&w);
	return out;
}
