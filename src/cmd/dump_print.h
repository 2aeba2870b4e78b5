/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_DUMP_PRINT_H
#define TARE_CMD_DUMP_PRINT_H

#include "base/emit.h"
#include "trace/log.h"

/* A log that is printed: a line of text, or an object of JSON Lines, for each of what follows. */
struct tare_dump {
	struct tare_emit *e;
	const char *name; /* of the log, as people see it */
	const struct tare_log_info *info;
	bool has_offsets; /* say where a record lies in its file, and how long it is */
};

void tare_dump_header(const struct tare_dump *d);
void tare_dump_record(const struct tare_dump *d, const struct tare_log_record *rec);
void tare_dump_gap(const struct tare_dump *d, const struct tare_log_record *gap);
void tare_dump_counts(const struct tare_dump *d, const struct tare_log_counts *counts);

#endif
