/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_REPORT_REPLAY_H
#define TARE_CMD_REPORT_REPLAY_H

#include "ledger/ledger.h"
#include "trace/recording.h"

/*
 * Advice that only a replay can give: what PyTorch's pool would have needed with expandable segments. Adds a finding to a ledger
 * of the peak where much of the pool was not in use then. The recording is at its begin again.
 */
void tare_report_replay(struct tare_ledger *ledger, struct tare_recording *recording);

#endif
