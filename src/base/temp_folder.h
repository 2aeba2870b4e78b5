/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders that are gone when a command ends, however it ends: at its end, at exit(), and at a signal that ends it. Only kill -9 leaves them.
 */
#ifndef TARE_BASE_TEMP_FOLDER_H
#define TARE_BASE_TEMP_FOLDER_H

#include "base/err.h"

#include <sys/types.h>

/*
 * Makes FOLDER/NAME, whose last six letters are X and become what is free; NULL: where TMPDIR says, or in /tmp, also if that is a path from
 * the current folder, for a program that is told of the folder may go elsewhere. The caller frees *out.
 */
int tare_temp_folder_make(const char *folder, const char *name, char **out, struct tare_err *err);
/* Removes it with all that is in it, and frees the path; NULL is allowed. */
void tare_temp_folder_remove(char *path);

/* A folder of which half is worth nothing: it goes at a signal and at exit(), until it is whole and tare_temp_folder_keep() says so. */
void tare_temp_folder_watch(const char *path);
void tare_temp_folder_keep(const char *path);
/* A child that writes into such folders: at a signal it is told to end, and waited for. 0: there is none any more. */
void tare_temp_folder_writer(pid_t pid);

#endif
