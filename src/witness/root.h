/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of /proc and /sys below a root folder: "" is this machine, anything else a copy of the files of one. They
 * have no size before they are read, and what is not told is TARE_NOT_KNOWN.
 */
#ifndef TARE_WITNESS_ROOT_H
#define TARE_WITNESS_ROOT_H

#include "base/str.h"

#include <stdint.h>

/* Replaces `out` by the file's text. 0 or a negative errno. */
int tare_root_read(struct tare_str *out, const char *root, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* What follows KEY at the begin of a line, behind ":" or blanks; NULL if there is no such line. */
const char *tare_root_value(const char *text, const char *key);
uint64_t tare_root_number(const char *text, const char *key); /* "file 4096" */
uint64_t tare_root_kib(const char *text, const char *key);    /* "VmRSS:  4 kB", in bytes */

#endif
