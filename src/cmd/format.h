/* SPDX-License-Identifier: Apache-2.0 */
/* The options of every command that prints a report: --format, and its short forms --json and --csv. */
#ifndef TARE_CMD_FORMAT_H
#define TARE_CMD_FORMAT_H

#include "base/args.h"
#include "base/emit.h"

/* A table of options has them if it has this one, of which the field is the first of the struct (call.c). */
#define TARE_FORMAT_OPTION "format"
struct tare_format_options {
	int name; /* enum tare_emit_format; -1: not given */
	bool json, csv;
};
#define TARE_FORMAT_DEFAULTS                                                                                           \
	{                                                                                                                  \
		.name = -1                                                                                                     \
	}

#define TARE_FORMAT_OPTS(STRUCT, FIELD)                                                                                \
	TARE_FORMAT_OPTS_OF(STRUCT, FIELD, TARE_EMIT_NAMES, "how to print it: for people, or as data (docs/JSON.md)")
/* The same for a command that has more formats behind those of tables. */
#define TARE_FORMAT_OPTS_OF(STRUCT, FIELD, NAMES, HELP)                                                                \
	TARE_OPT(STRUCT, FIELD.name, TARE_FORMAT_OPTION, 'F', CHOICE, NAMES, HELP),                                        \
		TARE_OPT(STRUCT, FIELD.json, "json", 0, FLAG, NULL, "print JSON, as docs/JSON.md describes it"),               \
		TARE_OPT(STRUCT, FIELD.csv, "csv", 0, FLAG, NULL, "print CSV, sizes in bytes")

/* Which was asked for: text, if none was. TARE_E_USAGE for two. */
int tare_format_choose(const struct tare_format_options *o, const char *command, enum tare_emit_format *out,
                       struct tare_err *err);

/* After the last table: USAGE if rows were to be in the order of a column that no table has. */
int tare_format_check_sort(const struct tare_emit *e, struct tare_err *err);

#endif
