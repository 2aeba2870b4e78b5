/* SPDX-License-Identifier: Apache-2.0 */
/* The page `control` of the recording, which `tare` and the recorded processes share. */
#ifndef TARE_RECORDER_RING_CONTROL_H
#define TARE_RECORDER_RING_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/recorder.h"

/* Some milliseconds; of a slow clock not even a second. So often what is asked for each record is asked of the kernel. */
#define TARE_SOME_TICKS (UINT64_C(1) << 24)

extern struct tare_control *tare_control; /* NULL: not looked for yet */

/* Never NULL: without a `tare` a page of this process alone, in which nobody commands and nobody counts. */
TARE_COLD struct tare_control *tare_control_page(void);

/* `tare` says each time that it drains when that was. */
bool tare_control_has_beaten_within(const struct tare_control *control, uint64_t ns);
/* False: nobody drains. */
bool tare_control_has_drainer(void);

/*
 * May so many bytes be written into the log without the recording outgrowing its cap? Nobody makes room any more where `tare`
 * has not been seen for long: then they may. `is_last_resort`: who asks has waited as long as it may for logs to become shorter, and
 * loses records otherwise. The second one takes them.
 */
bool tare_control_allows(uint64_t size, bool is_last_resort);
bool tare_control_take(uint64_t size, bool is_last_resort);

/* Opens `name` in the folder of the recording, as openat(2); no descriptor stays open. */
int tare_control_open(const char *name, int flags, int mode);

#endif
