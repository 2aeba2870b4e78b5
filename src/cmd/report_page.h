/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_REPORT_PAGE_H
#define TARE_CMD_REPORT_PAGE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct tare_recording;

struct tare_report_page_options {
	bool is_confidential; /* names and paths are left out, and source */
	bool without_source;  /* nothing of the program's source, which this machine may have */
	bool with_any_source; /* also of a recording that was made on another machine */
};

/*
 * Writes the page of a recording, which was opened from `paths`, into FILE ("-": stdout). Returns 0, or RANGE: the peak or
 * the end is in a span whose events went.
 */
int tare_report_page(const char *file, struct tare_recording *recording, const char *const *paths, size_t path_nr,
                     const struct tare_report_page_options *options, struct tare_err *err);

#endif
