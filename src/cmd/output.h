/* SPDX-License-Identifier: Apache-2.0 */
/* How a command writes to a terminal, a pipe or a file. */
#ifndef TARE_CMD_OUTPUT_H
#define TARE_CMD_OUTPUT_H

#include "base/err.h"
#include "base/print.h"
#include "base/str.h"

#include <stdio.h>

/*
 * How text may look on `out`: as wide as its terminal, or as COLUMNS says, from 40 to 200 columns (80 elsewhere, and there a table
 * may be wider), UTF-8 if the locale says so, colours on a terminal unless NO_COLOR is set.
 */
struct tare_text_style tare_terminal_style(FILE *out);

/* How wide help may be on stdout: as wide as it is written, if no screen is narrower. */
size_t tare_terminal_help_width(void);

/* Prints lines without colours, in ASCII where the locale needs that. 0 or a negative errno. */
int tare_terminal_write(FILE *out, struct tare_str *text);

/* TEXT becomes the content of the file, whole or not at all; "-" is stdout, and what is no file is written to. */
int tare_cmd_write_file(const char *path, const struct tare_str *text, struct tare_err *err);

#endif
