/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_WRITE_FILE_H
#define TARE_CMD_WRITE_FILE_H

#include "base/err.h"
#include "base/str.h"

/* TEXT becomes the content of the file, whole or not at all; "-" is stdout, and what is no file is written to. */
int tare_cmd_write_file(const char *path, const struct tare_str *text, struct tare_err *err);

#endif
