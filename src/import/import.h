/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a recording of a file that somebody else's tool wrote. */
#ifndef TARE_IMPORT_IMPORT_H
#define TARE_IMPORT_IMPORT_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Rows of import.def. */
enum tare_import_kind {
#define TARE_IMPORT(NAME, WHAT) TARE_IMPORT_##NAME,
#include "import/import.def"
	TARE_IMPORT_NR
};

/* "printed|…": for an option. */
extern const char tare_import_names[];

/* What the figures of a text are, as far as the text leaves it open. */
struct tare_import_units {
	uint64_t plain; /* bytes of a 1 without a unit; 0: the reader judges by the figure */
	bool is_binary; /* KB, MB and GB are powers of 1024, not of 1000 */
};

struct tare_import_options {
	int kind; /* enum tare_import_kind; -1: whichever knows the file */
	struct tare_import_units units;
};

struct tare_imported {
	enum tare_import_kind kind;
	uint64_t taken;      /* lines, blocks, snapshots: whatever the file consists of */
	uint64_t unreadable; /* of them, those that looked like it and could not be read */
	char *said;          /* one line on what was read; the caller frees it */
};

/*
 * Opens `path` ("-": standard input) and finds out what it is. FORMAT: no kind knows this file; EMPTY: it has no bytes.
 * Until tare_import_run() nothing is written.
 */
struct tare_import;
int tare_import_open(struct tare_import **out, const char *path, const struct tare_import_options *options,
                     struct tare_err *err);
/*
 * Writes the recording into `folder`, which is there and empty. FORMAT, CORRUPT …: the file is damaged; EMPTY: it has
 * nothing to import.
 */
int tare_import_run(struct tare_import *import, const char *folder, struct tare_imported *out, struct tare_err *err);
void tare_import_close(struct tare_import *import);

/* A memory snapshot of PyTorch as what its allocator was asked for: of a file, packed or not, or "-". */
struct tare_trace;
int tare_import_trace(struct tare_trace *trace, const char *path, struct tare_err *err);

#endif
