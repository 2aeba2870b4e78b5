/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_STR_H
#define TARE_BASE_STR_H

#include "base/owned.h"

#include <stdarg.h>
#include <stddef.h>

/* A string that grows. {0} is an empty one. Always NUL-terminated; may hold NUL bytes inside. */
struct tare_str {
	char *data; /* NULL while nothing was ever added: read it through tare_str_text() */
	size_t len;
	size_t cap;
};

void tare_str_add(struct tare_str *s, const char *text);
void tare_str_add_n(struct tare_str *s, const char *bytes, size_t n);
void tare_str_add_char(struct tare_str *s, char c);
void tare_str_add_repeat(struct tare_str *s, const char *text, size_t times);
void tare_str_addf(struct tare_str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tare_str_vaddf(struct tare_str *s, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/*
 * Adds TEXT broken between words so that no line is longer than `width` columns; every line after
 * the first starts with `indent` blanks. `column` is where the first line starts.
 */
void tare_str_add_wrapped(struct tare_str *s, const char *text, size_t column, size_t indent, size_t width);

const char *tare_str_text(const struct tare_str *s); /* never NULL */
void tare_str_cut(struct tare_str *s, size_t len);   /* shortens; keeps the memory */
char *tare_str_steal(struct tare_str *s);            /* caller frees; s is empty afterwards */
char *tare_str_format(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* a text of its own; caller frees */
void tare_str_free(struct tare_str *s);                                            /* s is empty afterwards */

/* Columns that a UTF-8 text takes on a terminal, one per code point. */
size_t tare_str_columns(const char *text);

#endif
