/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The little of a C library that the recorder needs, without malloc, locale, errno or stdio.
 */
#ifndef TARE_RECORDER_PLIB_H
#define TARE_RECORDER_PLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* %s, %u (uint32_t), %U and %x (uint64_t), nothing else. Always terminated; cut off at `size`. */
size_t tare_plib_format(char *out, size_t size, const char *format, ...);

uint64_t tare_plib_number(const char *text);           /* decimal, 0 for none; NULL allowed */
const char *tare_plib_first(const char *text, char c); /* just behind the first c, or NULL */
const char *tare_plib_last(const char *text, char c);  /* just behind the last c, or NULL */
/* The number of the line that begins with `key`, such as "VmHWM:", behind blanks. */
bool tare_plib_value(const char *text, const char *key, uint64_t *out);
const char *tare_plib_basename(const char *path);
bool tare_plib_starts(const char *text, const char *prefix);
bool tare_plib_equal(const char *a, const char *b);
void tare_plib_chomp(char *text); /* ends it at its first newline */

bool tare_plib_read_file(const char *path, char *out, size_t size);
bool tare_plib_readlink(const char *path, char *out, size_t size);
bool tare_plib_parse_uuid(const char *text, uint8_t out[16]); /* skips '-' */
void tare_plib_program_name(char *out, size_t size);          /* basename of /proc/self/exe */

uint64_t tare_plib_hash(const void *bytes, size_t size);

#endif
