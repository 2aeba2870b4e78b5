/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_DUMP_PRINT_H
#define TARE_CMD_DUMP_PRINT_H

#include "base/str.h"
#include "trace/log.h"

/* One line each, appended to `out`; texts from a recording are escaped. `name` is the log's. */
struct tare_dump_style {
	bool json;    /* one JSON object a line */
	bool offsets; /* where the record lies in its file, and how long it is */
};

void tare_dump_header(struct tare_str *out, const struct tare_dump_style *style, const char *name,
		      const struct tare_log_info *info);
void tare_dump_record(struct tare_str *out, const struct tare_dump_style *style, const char *name,
		      const struct tare_log_info *info, const struct tare_log_record *rec);
void tare_dump_gap(struct tare_str *out, const struct tare_dump_style *style, const char *name,
		   const struct tare_log_info *info, const struct tare_log_record *gap);
void tare_dump_counts(struct tare_str *out, const struct tare_dump_style *style, const char *name,
		      const struct tare_log_counts *counts);

#endif
