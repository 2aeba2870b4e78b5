/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_RECORDING_H
#define TARE_LEDGER_RECORDING_H

#include "base/owned.h"
#include "ledger/state/state.h"
#include "trace/recording.h"

/*
 * The state of the fold of a recording at a moment, to be kept beside its segments: what tare_ledger_of_recording() may
 * go on from, as if segments behind that `number` were not there. The recording is opened for what segments have, and goes on from the states that are there. Returns how many of
 * them, the older first, hold: later segments have calls that began before the others, and say what these should know. `out`, which is empty, gets the state, and
 * what came since the last that holds.
 */
#define TARE_SEGMENTS_AND_LOGS                                                                                         \
	UINT32_MAX /* instead of a number: the recording was opened whole, and all that is settled counts */
size_t tare_ledger_save_recording(struct tare_recording *recording, uint32_t number, int64_t until_ns,
                                  struct tare_ledger_saved *out);

/* Options of a ledger with what a recording adds to them: its notes stand first, and there is room for one more; its processes. */
struct tare_recording_opts {
	struct tare_ledger_opts opts;
	TARE_OWNED const char **notes;
	TARE_OWNED const struct tare_process **processes;
};
struct tare_recording_opts tare_recording_opts_of(const struct tare_recording *recording,
                                                  const struct tare_ledger_opts *opts);
TARE_FREES(tare_recording_opts_free, tare_recording_opts);
/* What the recording has to say that makes no figure wrong. */
void tare_recording_add_remarks(const struct tare_recording *recording, struct tare_ledger *out);

#endif
