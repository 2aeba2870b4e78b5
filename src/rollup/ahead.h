/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folds what the segments of a recording have while it is written, beside those who make them, so that little is left to be folded at its
 * end. The state of the fold is the caller's, who lends it to a reader of the recording (tare_recording_lend_state());
 * the recording has nothing of it.
 */
#ifndef TARE_ROLLUP_AHEAD_H
#define TARE_ROLLUP_AHEAD_H

#include "base/str.h"
#include "trace/recording.h"

struct tare_rollup_ahead {
	struct tare_recording_state at;
	struct tare_str bytes;
	bool has_more; /* segments have more than was folded: there is a limit to what is folded at once */
};

/*
 * From `before` (number 0: from the newest state beside the segments, or the begin) on. `most`: so many bytes of segments at once, about.
 * 0, and `out` has a later state; NOT_FOUND: there is nothing to fold yet; RANGE: events went meanwhile to keep a cap.
 */
int tare_rollup_ahead(const char *folder, const struct tare_rollup_ahead *before, uint64_t most,
                      struct tare_rollup_ahead *out, struct tare_err *err);

#endif
