/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of protocol 0, which are lines of text. */
#include "snapshot/pickle.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEX             "0123456789abcdef"
#define LAST_CODE_POINT 0x10fffful
#define REPLACEMENT     0xfffdul /* what stands for one that cannot be */

/* The bytes up to the end of the line, without it. */
static int line_of(struct tare_snapshot *s, const unsigned char **line, size_t *len)
{
	for (size_t ask = 256, seen = 0;; ask *= 2) {
		bool is_whole = tare_input_has(&s->in, ask);
		size_t have = (size_t)(s->in.end - s->in.at);
		const unsigned char *end = memchr(s->in.at + seen, '\n', have - seen);

		if (end) {
			*line = s->in.at;
			*len = (size_t)(end - s->in.at);
			s->in.at = end + 1;
			return 0;
		}
		if (!is_whole)
			return tare_pickle_too_short(s);
		if (ask >= TARE_PICKLE_TEXT)
			return tare_pickle_fail(s, TARE_E_LIMIT, "a line does not end");
		seen = have;
	}
}

static void add_code_point(struct tare_str *out, unsigned long c)
{
	char utf8[4];
	size_t n = 0;

	if (c < 0x80) {
		utf8[n++] = (char)c;
	} else if (c < 0x800) {
		utf8[n++] = (char)(0xc0 | c >> 6);
		utf8[n++] = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		utf8[n++] = (char)(0xe0 | c >> 12);
		utf8[n++] = (char)(0x80 | (c >> 6 & 63));
		utf8[n++] = (char)(0x80 | (c & 63));
	} else {
		utf8[n++] = (char)(0xf0 | (c >> 18 & 7));
		utf8[n++] = (char)(0x80 | (c >> 12 & 63));
		utf8[n++] = (char)(0x80 | (c >> 6 & 63));
		utf8[n++] = (char)(0x80 | (c & 63));
	}
	tare_str_add_n(out, utf8, n);
}

/* Hexadecimal digits behind a backslash; 0: not so many are there. */
static size_t escape(const unsigned char *at, size_t left, size_t digits, unsigned long *c)
{
	unsigned long n = 0;

	if (left < digits + 2)
		return 0;
	for (size_t i = 0; i < digits; i++) {
		const char *digit = at[2 + i] ? strchr(HEX, at[2 + i] | 0x20) : NULL;

		if (!digit)
			return 0;
		n = n << 4 | (unsigned long)(digit - HEX);
	}
	*c = n <= LAST_CODE_POINT ? n : REPLACEMENT;
	return digits + 2;
}

/* raw-unicode-escape of V, and what repr() writes for S. */
static int push_escaped(struct tare_snapshot *s, const unsigned char *at, size_t len, bool is_repr)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	uint32_t id;

	if (is_repr && len >= 2) {
		at++;
		len -= 2;
	}
	while (len) {
		unsigned long c = *at;
		size_t used = 0;

		if (*at == '\\' && len > 1) {
			if (at[1] == 'u' || at[1] == 'U')
				used = escape(at, len, at[1] == 'u' ? 4 : 8, &c);
			else if (is_repr && at[1] == 'x')
				used = escape(at, len, 2, &c);
			else if (is_repr) {
				c = at[1] == 'n' ? '\n' : at[1] == 't' ? '\t' : at[1];
				used = 2;
			}
		}
		used = used ? used : 1;
		add_code_point(&text, c);
		at += used;
		len -= used;
	}
	id = tare_intern_text(&s->intern, tare_str_text(&text), text.len);
	return tare_pickle_push(s, (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_TEXT, .ref = id });
}

static int push_number(struct tare_snapshot *s, const unsigned char *line, size_t len)
{
	struct tare_pickle_value value = { .kind = TARE_PICKLE_IS_INT };
	char text[64], *end;

	if (len == 2 && line[0] == '0' && (line[1] == '0' || line[1] == '1'))
		return tare_pickle_push(s, (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_BOOL, .i = line[1] == '1' });
	if (len >= sizeof(text))
		return tare_pickle_push(s, (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_OTHER });
	memcpy(text, line, len);
	text[len] = 0;
	errno = 0;
	value.i = *text == '-' ? strtoll(text, &end, 10) : (int64_t)strtoull(text, &end, 10);
	value.ref = *text != '-' && value.i < 0;
	if (end == text || (*end && strcmp(end, "L")))
		return tare_pickle_fail(s, TARE_E_CORRUPT, "'%s' is no number", text);
	if (errno)
		value = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_OTHER };
	return tare_pickle_push(s, value);
}

static int push_float(struct tare_snapshot *s, const unsigned char *line, size_t len)
{
	struct tare_pickle_value value = { .kind = TARE_PICKLE_IS_FLOAT };
	char text[64], *end;

	if (len >= sizeof(text))
		return tare_pickle_fail(s, TARE_E_CORRUPT, "a number has %zu digits", len);
	memcpy(text, line, len);
	text[len] = 0;
	value.d = strtod(text, &end);
	if (end == text || *end)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "'%s' is no number", text);
	return tare_pickle_push(s, value);
}

static int memo_op(struct tare_snapshot *s, unsigned char op, const unsigned char *line, size_t len)
{
	uint64_t index = 0;

	if (!len)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "what is remembered has no number");
	for (size_t i = 0; i < len; i++) {
		if (line[i] < '0' || line[i] > '9' || i > 9)
			return tare_pickle_fail(s, TARE_E_CORRUPT, "what is remembered has no number");
		index = 10 * index + line[i] - '0';
	}
	return op == 'p' ? tare_pickle_memo_put(s, index) : tare_pickle_memo_get(s, index);
}

int tare_pickle_line_op(struct tare_snapshot *s, unsigned char op)
{
	const unsigned char *line = NULL;
	size_t len = 0;
	int rc = line_of(s, &line, &len);

	if (rc)
		return rc;
	switch (op) {
	case 'I':
	case 'L':
		return push_number(s, line, len);
	case 'F':
		return push_float(s, line, len);
	case 'p':
	case 'g':
		return memo_op(s, op, line, len);
	default:
		return push_escaped(s, line, len, op == 'S');
	}
}
