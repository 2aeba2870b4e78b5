/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_INSTANTS_H
#define TARE_CMD_INSTANTS_H

#include "base/err.h"
#include "ledger/build.h"
#include "trace/recording.h"

/*
 * What was asked for by a name becomes a time of this recording: snapshots, phases, where memory ran out. Returns 0, or USAGE,
 * NOT_FOUND, RANGE with a sentence on what there is instead.
 */
int tare_instants_settle(struct tare_recording *recording, struct tare_instant *instants, int n, struct tare_err *err);

#endif
