/* SPDX-License-Identifier: Apache-2.0 */
/* What PyTorch's allocator would have had with other settings, for a page: the replays of tare whatif --best. */
#ifndef TARE_CMD_REPORT_SETTINGS_H
#define TARE_CMD_REPORT_SETTINGS_H

#include "view/page.h"

struct tare_recording;

/*
 * As recorded first, then what has least. None where the recording has no such allocator or too many events to be replayed at once, or
 * where a replay does not reproduce it. Caller frees; texts are constants.
 */
struct tare_page_setting *tare_report_settings(struct tare_recording *recording, size_t *nr);

#endif
