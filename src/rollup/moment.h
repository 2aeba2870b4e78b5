/* SPDX-License-Identifier: Apache-2.0 */
/* For which moment a state may speak of a recording that is still written. */
#ifndef TARE_ROLLUP_MOMENT_H
#define TARE_ROLLUP_MOMENT_H

#include "session/settled.h"
#include "trace/recording.h"

/* A call that lasts longer may contradict the state, which then is not used. */
#define TARE_ROLLUP_MARGIN_NS INT64_C(1000000000)

/*
 * Before that moment no process has a record that is in no segment yet. The recording is opened for what segments have. `settled`:
 * NULL: nobody writes the logs. `is_cut_short`: a log may have more that is settled than segments have of it.
 */
int64_t tare_rollup_told_until(const struct tare_recording *recording, const struct tare_settled *settled,
                               bool is_cut_short);

#endif
