/* SPDX-License-Identifier: Apache-2.0 */
/* Where a recording lies while it is made, and where it goes. */
#ifndef TARE_SESSION_FOLDER_H
#define TARE_SESSION_FOLDER_H

#include "base/err.h"
#include "base/owned.h"
#include "base/str.h"

#include <stdbool.h>

struct tare_folder {
	TARE_OWNED char *path; /* what the user asked for or we chose: NAME.tare, absolute */
	TARE_OWNED char *work; /* where it is written: the same, or a spool on a local disk */
	bool is_spooled;
};

/*
 * Makes the folder, mode 0700. `wanted`: -o, or NULL: PROGRAM-DATE-PID[.rRANK].tare in the current
 * folder, which never collides; of `python3 train.py`, train.py is the program. An existing `wanted` is refused, or with `force` replaced if it is a
 * recording. A network file system gets a spool on a local disk (mapped files do not belong there); with `no_paths` not
 * where TMPDIR says, for the recording names it meanwhile.
 */
int tare_folder_make(struct tare_folder *out, const char *wanted, bool force, bool no_paths, const char *const *argv,
                     struct tare_err *err);

/* The name that is chosen without `wanted`, no folder in it; the caller frees it. */
char *tare_folder_own_name(const char *const *argv);
/* Its beginning, for what else is written of a program: PROGRAM-KINDDATE-PID. */
void tare_folder_add_stem(struct tare_str *out, const char *const *argv, const char *kind);

/* Moves a spooled recording to its place. On failure the recording stays where `work` says. */
int tare_folder_settle(struct tare_folder *folder, struct tare_err *err);
/* While it is half of a recording (an import) a signal that ends us takes it away, too. */
void tare_folder_watch(const struct tare_folder *folder, bool is_half);
/* Takes the recording away again, with what is in it: nothing came of it. */
void tare_folder_remove(const struct tare_folder *folder);
TARE_FREES(tare_folder_free, tare_folder);

/* Is this file system one that other machines share, or that lives in memory? NULL: local. */
const char *tare_folder_remote_kind(const char *path);

#endif
