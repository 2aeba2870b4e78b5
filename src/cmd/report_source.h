/* SPDX-License-Identifier: Apache-2.0 */
/* Files of source for a page, where they lie on this machine. */
#ifndef TARE_CMD_REPORT_SOURCE_H
#define TARE_CMD_REPORT_SOURCE_H

#include "view/page.h"

/* tare_page.read_source; `of`: the recording, whose begin says what was changed since. */
void tare_report_read_source(const void *of, const char *path, struct tare_page_source *out);

#endif
