/* SPDX-License-Identifier: Apache-2.0 */
/* A recording for tare whatif, and for whoever asks what would have fitted. */
#include "cmd/whatif_open.h"

#include "cmd/whatif_recording.h"
#include "trace/recording.h"

static int open_recording(struct tare_whatif *w, const char *path, const struct tare_whatif_reading *reading,
                          const struct tare_whatif_ask *ask, struct tare_err *err)
{
	struct tare_recording *recording;
	struct tare_trace trace;
	int rc = tare_recording_open_any(&recording, &path, 1, err);

	if (rc)
		return rc;
	rc = tare_whatif_recording(&trace, recording, path, reading, err);
	tare_recording_close(recording);
	return rc ? rc : tare_whatif_of(w, &trace, ask, err);
}

/* A block a little above max_split_size_mb may have been asked for as less: both are tried, and what is nearer is kept. */
static void try_less(struct tare_whatif *w, const char *path, const struct tare_whatif_ask *ask)
{
	struct tare_whatif_reading reading = { UINT64_MAX, w->recorded.max_split, true };
	struct tare_err err;
	struct tare_whatif other;

	if (!w->sum.mismatches || w->recorded.max_split == UINT64_MAX || open_recording(&other, path, &reading, ask, &err))
		return;
	if (other.sum.mismatches < w->sum.mismatches) {
		struct tare_whatif was = *w;

		*w = other;
		other = was;
	}
	tare_whatif_close(&other);
}

int tare_whatif_open(struct tare_whatif *w, const char *path, const struct tare_whatif_ask *ask, struct tare_err *err)
{
	static const struct tare_whatif_reading as_told = { UINT64_MAX, 0, true };
	int rc = open_recording(w, path, &as_told, ask, err);

	if (!rc)
		try_less(w, path, ask);
	return rc;
}
