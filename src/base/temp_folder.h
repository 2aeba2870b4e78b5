/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_TEMP_FOLDER_H
#define TARE_BASE_TEMP_FOLDER_H

#include "base/err.h"

/* Makes FOLDER/NAME, whose last six letters are X and become what is free. The caller frees *out. */
int tare_temp_folder_make(const char *folder, const char *name, char **out, struct tare_err *err);
/* Removes it with the files in it, and frees the path; NULL is allowed. */
void tare_temp_folder_remove(char *path);

#endif
