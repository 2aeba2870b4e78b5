/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_RECORDING_STATE_H
#define TARE_LEDGER_RECORDING_STATE_H

#include "base/str.h"
#include "ledger/state/state.h"
#include "trace/recording.h"

/* The processes, devices and stacks of a recording, as its states name them. */
struct tare_ledger_names tare_ledger_names_of(struct tare_recording *recording);

/* What stands before the state in its file: of which processes and devices it is. */
void tare_ledger_add_identity(struct tare_str *out, const struct tare_recording *recording);

/* What stands behind it is the state. False: it is of other processes and devices than these. */
bool tare_ledger_state_of(struct tare_ledger_state *out, const struct tare_str *saved,
                          const struct tare_recording *recording, int64_t until_ns);

struct tare_loaded_state {
	struct tare_str bytes; /* the caller frees them */
	struct tare_ledger_state state;
};

/* The i-th state of the recording. False, and nothing to free: it is damaged, or of other processes and devices. */
bool tare_loaded_state_read(struct tare_loaded_state *l, const struct tare_recording *recording, size_t i);

#endif
