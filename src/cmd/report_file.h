/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_REPORT_FILE_H
#define TARE_CMD_REPORT_FILE_H

#include "base/err.h"
#include "export/export.h"
#include "ledger/build.h"

/* Every format that report has: those of tables (enum tare_emit_format), then those of files. */
extern const char tare_report_formats_with_bar[];
#define TARE_REPORT_FORMATS (tare_report_formats_with_bar + 1)

/* The format of a file that --format's place in that list stands for, or -1: one of tables, or none. */
int tare_report_file_format(int name);

/*
 * Writes what was at one instant, which may be changed, into FILE ("-": stdout) as another program reads it. Returns 0, USAGE, RANGE
 * (the instant is in a span whose events went), or why it cannot be written. What is not in the file as it was is said on stderr.
 */
int tare_report_file(const char *file, enum tare_export_format format, struct tare_instant *at,
                     const char *const *paths, size_t path_nr, const char *job, struct tare_err *err);

#endif
