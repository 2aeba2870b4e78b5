/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_JSON_H
#define TARE_BASE_JSON_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { TARE_JSON_MAX_DEPTH = 64 };

/*
 * Writer. It appends to a string and looks never back, so the caller may write the string out and
 * cut it to 0 at any point. Commas, escapes and indentation are its business; bytes that are not
 * UTF-8 become U+FFFD, and what is not plain (base/text.h) is escaped. Integers stay integers; NaN and
 * infinity become null.
 *
 *     struct tare_json j = { .out = &str, .is_pretty = true };
 *     tare_json_open(&j, NULL, '{');
 *     tare_json_u64(&j, "tare", 1);
 *     tare_json_open(&j, "devices", '[');
 *     …
 *     tare_json_close(&j);
 *     tare_json_close(&j);
 *
 * `key` is NULL inside an array and at the top.
 */
struct tare_json {
	struct tare_str *out;
	bool is_pretty;
	unsigned depth;
	bool has_item;                    /* in the innermost container */
	char closer[TARE_JSON_MAX_DEPTH]; /* '}' or ']' per depth */
};

void tare_json_open(struct tare_json *j, const char *key, char bracket); /* '{' or '[' */
void tare_json_close(struct tare_json *j);
void tare_json_str(struct tare_json *j, const char *key, const char *text); /* NULL: null */
void tare_json_str_n(struct tare_json *j, const char *key, const char *text, size_t len);
void tare_json_u64(struct tare_json *j, const char *key, uint64_t v);
void tare_json_i64(struct tare_json *j, const char *key, int64_t v);
void tare_json_number(struct tare_json *j, const char *key, double v);
void tare_json_bool(struct tare_json *j, const char *key, bool v);
void tare_json_null(struct tare_json *j, const char *key);

/* Parser (json_parse.c): a tree whose memory is the arena's. Any bytes may be given to it. */
enum tare_json_type {
	TARE_JSON_NULL,
	TARE_JSON_BOOL,
	TARE_JSON_NUMBER,
	TARE_JSON_STRING,
	TARE_JSON_ARRAY,
	TARE_JSON_OBJECT,
};

struct tare_json_value {
	enum tare_json_type type;
	bool is_true;
	bool is_integer; /* a number without fraction and exponent that fits in `u` or `i` */
	bool is_negative;
	uint64_t u; /* valid if is_integer && !is_negative */
	int64_t i;  /* valid if is_integer and it fits */
	double number;
	const char *text; /* a string; may hold NUL bytes, then text_len tells */
	size_t text_len;
	const char *key;               /* of this member, inside an object */
	size_t count;                  /* of items or members */
	struct tare_json_value *first; /* item or member */
	struct tare_json_value *next;
};

/* Returns 0, or TARE_E_FORMAT with "line 3, column 7: …". */
int tare_json_parse(struct tare_arena *arena, const char *text, size_t len, const struct tare_json_value **value,
                    struct tare_err *err);

/*
 * Reading a tree. All accept NULL and values of another type, so that chains need one check.
 * A dotted path goes into objects and, by number, into arrays: "devices.0.used_bytes".
 */
const struct tare_json_value *tare_json_get(const struct tare_json_value *v, const char *path);
const char *tare_json_get_str(const struct tare_json_value *v, const char *path); /* or NULL */
bool tare_json_get_u64(const struct tare_json_value *v, const char *path, uint64_t *out);
bool tare_json_get_i64(const struct tare_json_value *v, const char *path, int64_t *out);
bool tare_json_get_bool(const struct tare_json_value *v, const char *path, bool fallback);

#endif
