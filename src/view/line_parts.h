/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_LINE_PARTS_H
#define TARE_VIEW_LINE_PARTS_H

#include "base/emit.h"
#include "base/err.h"
#include "ledger/ledger.h"

/* One line of a program taken apart: what it holds of every device and made resident on the host, by what. */
struct tare_line_choice {
	const char *file; /* as the ledgers name it */
	uint32_t line;
};

/*
 * Finds the line that "FILE:N" means, where FILE is the end of a name, whole folders at a time. Returns 0,
 * TARE_E_USAGE, or TARE_E_NOT_FOUND where no line or lines of several files are meant. `out` lives as long as
 * the ledgers.
 */
int tare_line_find(const struct tare_ledger *const *ledgers, int ledger_nr, const char *text,
                   struct tare_line_choice *out, struct tare_err *err);

/* A table for each device on which the line has anything. JSON: "line" and "parts". */
void tare_line_parts_show(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_line_choice *line);

/* Is this the end of that file's name? Of a name without a folder, any folder is. */
bool tare_line_is_file(const char *file, const char *end, size_t len);

/* line_made.c: the tensors that one line made and that are there, by what they are for. */
struct tare_line_made {
	const char *at;
	const char *title; /* NULL: it stands below another table of that line */
	int device;        /* -1: the CPU */
	int64_t pid;       /* -1: of several */
	const struct tare_line_choice *choice;
	struct tare_blocks_ledger tensors; /* of that line */
	bool has_ever;
	const struct tare_tensor_rows *rows; /* of all lines */
};

/* A table, JSON: "made"; in text nothing where no tensor was ever made. */
void tare_line_made_show(struct tare_emit *e, const struct tare_line_made *made);

/*
 * annotate.c: a source file beside what its lines hold, as memory_profiler prints one. This is the file that `text`, the end of a name, means, as the ledgers name it. Returns 0, or TARE_E_NOT_FOUND where
 * there is none or several.
 */
int tare_annotate_find(const struct tare_ledger *const *ledgers, int ledger_nr, const char *text, const char **file,
                       struct tare_err *err);

/*
 * A table for each device; `source` is the file's text, NULL: not to be had, and then only lines with
 * something to show. `note`: what is to be said of the source, or NULL. JSON: "file" and "rows".
 */
void tare_annotate_show(struct tare_emit *e, const struct tare_ledger *ledger, const char *file, const char *source,
                        const char *note);

#endif
