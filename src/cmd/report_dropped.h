/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_REPORT_DROPPED_H
#define TARE_CMD_REPORT_DROPPED_H

#include "base/emit.h"
#include "ledger/build.h"
#include "trace/recording.h"

/* Is the moment in a span whose events went to keep the cap, and is there something that can be said of it? */
bool tare_report_is_dropped(const struct tare_recording *recording, const struct tare_instant *at);
/* What can be said. */
void tare_report_dropped(struct tare_emit *e, const struct tare_recording *recording, const struct tare_instant *at);

#endif
