/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_RECORDING_H
#define TARE_LEDGER_RECORDING_H

#include "base/str.h"
#include "trace/recording.h"

/*
 * The state of the fold of a recording at a moment, to be kept beside its segments: what tare_ledger_of_recording() may
 * go on from. The recording is opened for what segments have, and goes on from the states that are there.
 */
void tare_ledger_save_recording(struct tare_recording *recording, int64_t until_ns,
				struct tare_str *out);

#endif
