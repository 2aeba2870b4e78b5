/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text from outside: names, paths and lines that a recorded program, a file or a command line made. Any bytes may
 * be in it. Whatever is printed goes through one function for its format:
 *
 *     text            tare_text_add_name
 *     JSON            tare_json_str
 *     CSV             tare_text_add_csv
 *     HTML, SVG       tare_text_add_markup
 *     Markdown        tare_text_add_markdown
 */
#ifndef TARE_BASE_TEXT_H
#define TARE_BASE_TEXT_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 sequence at p, and what it stands for. 0: none (overlong and surrogates are none). */
size_t tare_text_decode(const char *p, size_t left, uint32_t *code);

/* Shows as itself: not a control character, and none that reorders, hides or parts what stands around it. */
bool tare_text_is_plain(uint32_t code);

/* "c.so" of "/a/b/c.so"; all of it where nothing stands behind the last slash. */
const char *tare_text_last_part(const char *path);

/* Each character that is not plain, and each byte that is no UTF-8, becomes "?". */
void tare_text_add_name(struct tare_str *out, const char *name);

/* The same of text of several lines: "\n" and "\t" stay, and nothing else that is not plain. */
void tare_text_add_lines(struct tare_str *out, const char *text, size_t len);

/*
 * A cell: in quotes where it must be, on one line, valid UTF-8; what is not plain becomes U+FFFD. A cell that a
 * spreadsheet would take for a formula (it begins with = + - or @) gets a ' before it, unless it is a number.
 */
void tare_text_add_csv(struct tare_str *out, const char *text);

/*
 * In quotes, as a string of JSON. Nothing is lost of what is UTF-8: characters that are not plain are escaped, not
 * replaced.
 */
void tare_text_add_quoted(struct tare_str *out, const char *text, size_t len);

/* For HTML and SVG, between tags and in quoted attributes. `columns`: cut to so many, with an ellipsis at the end. */
void tare_text_add_markup(struct tare_str *out, const char *text, size_t columns);

/* In a cell of a table, or with is_line as a whole line or behind a line's mark. */
void tare_text_add_markdown(struct tare_str *out, const char *text, bool is_line);

/* Everything of `s` from `start` on, in ASCII, column by column. */
void tare_text_to_ascii(struct tare_str *s, size_t start);

#endif
