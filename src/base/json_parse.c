/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a text of JSON into a tree of values, and gets members of it. */
#include "base/json.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct parse {
	struct tare_arena *arena;
	const char *start, *p, *end;
	unsigned depth;
	const char *problem; /* first one, and where */
	const char *problem_at;
};

static bool fail(struct parse *s, const char *problem)
{
	if (!s->problem) {
		s->problem = problem;
		s->problem_at = s->p;
	}
	return false;
}

static void skip_blanks(struct parse *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\t' || *s->p == '\r'))
		s->p++;
}

static bool is_next(struct parse *s, char c)
{
	skip_blanks(s);
	return s->p < s->end && *s->p == c;
}

static bool take(struct parse *s, char c)
{
	if (!is_next(s, c))
		return false;
	s->p++;
	return true;
}

static bool parse_hex4(struct parse *s, unsigned *out)
{
	unsigned v = 0;

	if (s->end - s->p < 4)
		return fail(s, "\\u needs four digits");
	for (int i = 0; i < 4; i++) {
		char c = *s->p++;

		if (!isxdigit((unsigned char)c))
			return fail(s, "\\u needs four digits");
		v = v * 16 + (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
	}
	*out = v;
	return true;
}

static char *put_utf8(char *to, unsigned c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 63));
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	}
	return to;
}

/* After "\u". Two halves of a surrogate pair are one character; a half alone becomes U+FFFD. */
static char *parse_unicode(struct parse *s, char *to)
{
	unsigned c, low;

	if (!parse_hex4(s, &c))
		return NULL;
	if (c >= 0xd800 && c < 0xdc00 && s->end - s->p >= 6 && s->p[0] == '\\' && s->p[1] == 'u') {
		const char *back = s->p;

		s->p += 2;
		if (!parse_hex4(s, &low))
			return NULL;
		if (low >= 0xdc00 && low < 0xe000)
			return put_utf8(to, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
		s->p = back;
	}
	return put_utf8(to, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
}

static char *parse_escape(struct parse *s, char *to)
{
	static const char from[] = "\"\\/ntrbf", plain[] = "\"\\/\n\t\r\b\f";
	const char *found;
	char c;

	if (s->p == s->end) {
		fail(s, "the string is not closed");
		return NULL;
	}
	c = *s->p++;
	if (c == 'u')
		return parse_unicode(s, to);
	found = c ? strchr(from, c) : NULL;
	if (!found) {
		fail(s, "unknown escape");
		return NULL;
	}
	*to++ = plain[found - from];
	return to;
}

static bool parse_string(struct parse *s, const char **text, size_t *len)
{
	const char *close;
	char *buf, *to;

	if (!take(s, '"'))
		return fail(s, "a string was expected");
	/* The decoded text is never longer than the raw one. */
	for (close = s->p; close < s->end && *close != '"'; close++)
		if (*close == '\\' && close + 1 < s->end)
			close++;
	if (close >= s->end)
		return fail(s, "the string is not closed");
	to = buf = tare_arena_alloc(s->arena, (size_t)(close - s->p) + 1);
	while (s->p < close) {
		if ((unsigned char)*s->p < 0x20)
			return fail(s, "a control character in a string");
		if (*s->p != '\\') {
			*to++ = *s->p++;
			continue;
		}
		s->p++;
		to = parse_escape(s, to);
		if (!to)
			return false;
	}
	s->p = close + 1;
	*text = buf;
	*len = (size_t)(to - buf);
	return true;
}

static bool parse_digits(struct parse *s)
{
	const char *from = s->p;

	while (s->p < s->end && isdigit((unsigned char)*s->p))
		s->p++;
	return s->p > from || fail(s, "a digit was expected");
}

/* Sets the integer forms where they are exact. `text` is digits with an optional minus sign. */
static void set_integer(struct tare_json_value *v, const char *text)
{
	errno = 0;
	v->is_negative = text[0] == '-';
	if (v->is_negative) {
		v->i = strtoll(text, NULL, 10);
		v->is_integer = !errno;
		return;
	}
	v->u = strtoull(text, NULL, 10);
	v->is_integer = !errno;
	v->i = v->u <= INT64_MAX ? (int64_t)v->u : INT64_MAX;
}

static bool parse_number(struct parse *s, struct tare_json_value *v)
{
	const char *from = s->p;
	bool is_plain = true;
	char *copy;

	if (*s->p == '-')
		s->p++;
	if (s->p < s->end && *s->p == '0')
		s->p++;
	else if (!parse_digits(s))
		return false;
	if (s->p < s->end && *s->p == '.') {
		s->p++;
		is_plain = false;
		if (!parse_digits(s))
			return false;
	}
	if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
		s->p++;
		is_plain = false;
		if (s->p < s->end && (*s->p == '+' || *s->p == '-'))
			s->p++;
		if (!parse_digits(s))
			return false;
	}
	v->type = TARE_JSON_NUMBER;
	copy = tare_arena_strndup(s->arena, from, (size_t)(s->p - from));
	v->number = strtod(copy, NULL);
	if (is_plain)
		set_integer(v, copy);
	return true;
}

static bool parse_word(struct parse *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n))
		return fail(s, "a value was expected");
	s->p += n;
	return true;
}

static bool parse_value(struct parse *s, struct tare_json_value *v);

static bool parse_members(struct parse *s, struct tare_json_value *v, char close)
{
	struct tare_json_value **tail = &v->first;

	v->type = close == '}' ? TARE_JSON_OBJECT : TARE_JSON_ARRAY;
	s->p++;
	if (take(s, close))
		return true;
	if (++s->depth > TARE_JSON_MAX_DEPTH)
		return fail(s, "nested too deeply");
	do {
		struct tare_json_value *item = tare_arena_alloc(s->arena, sizeof(*item));
		size_t len;

		if (close == '}' && !parse_string(s, &item->key, &len))
			return false;
		if (close == '}' && !take(s, ':'))
			return fail(s, "\":\" was expected");
		if (!parse_value(s, item))
			return false;
		*tail = item;
		tail = &item->next;
		v->count++;
	} while (take(s, ','));
	s->depth--;
	return take(s, close) || fail(s, close == '}' ? "\",\" or \"}\" was expected" : "\",\" or \"]\" was expected");
}

static bool parse_value(struct parse *s, struct tare_json_value *v)
{
	skip_blanks(s);
	if (s->p == s->end)
		return fail(s, "the text ends here");
	switch (*s->p) {
	case '{':
		return parse_members(s, v, '}');
	case '[':
		return parse_members(s, v, ']');
	case '"':
		v->type = TARE_JSON_STRING;
		return parse_string(s, &v->text, &v->text_len);
	case 't':
		v->type = TARE_JSON_BOOL;
		v->is_true = true;
		return parse_word(s, "true");
	case 'f':
		v->type = TARE_JSON_BOOL;
		return parse_word(s, "false");
	case 'n':
		return parse_word(s, "null");
	default:
		if (*s->p != '-' && !isdigit((unsigned char)*s->p))
			return fail(s, "a value was expected");
		return parse_number(s, v);
	}
}

int tare_json_parse(struct tare_arena *arena, const char *text, size_t len, const struct tare_json_value **value,
                    struct tare_err *err)
{
	struct parse s = { .arena = arena, .start = text, .p = text, .end = text + len };
	struct tare_json_value *v = tare_arena_alloc(arena, sizeof(*v));
	unsigned line = 1, column = 1;

	if (parse_value(&s, v)) {
		skip_blanks(&s);
		if (s.p == s.end) {
			*value = v;
			return 0;
		}
		fail(&s, "more text after the value");
	}
	for (const char *p = text; p < s.problem_at; p++) {
		column = *p == '\n' ? 1 : column + 1;
		line += *p == '\n';
	}
	return tare_err_set(err, TARE_E_FORMAT, "line %u, column %u: %s", line, column, s.problem);
}

static const struct tare_json_value *step(const struct tare_json_value *v, const char *name, size_t len)
{
	const struct tare_json_value *item = v->first;

	if (v->type == TARE_JSON_ARRAY) {
		for (unsigned long n = strtoul(name, NULL, 10); item && n; n--)
			item = item->next;
		return isdigit((unsigned char)*name) ? item : NULL;
	}
	for (; item; item = item->next)
		if (v->type == TARE_JSON_OBJECT && strlen(item->key) == len && !memcmp(item->key, name, len))
			return item;
	return NULL;
}

const struct tare_json_value *tare_json_get(const struct tare_json_value *v, const char *path)
{
	while (v && *path) {
		size_t n = strcspn(path, ".");

		v = step(v, path, n);
		path += n + (path[n] == '.');
	}
	return v;
}

const char *tare_json_get_str(const struct tare_json_value *v, const char *path)
{
	v = tare_json_get(v, path);
	return v && v->type == TARE_JSON_STRING ? v->text : NULL;
}

bool tare_json_get_u64(const struct tare_json_value *v, const char *path, uint64_t *out)
{
	v = tare_json_get(v, path);
	if (!v || !v->is_integer || v->is_negative)
		return false;
	*out = v->u;
	return true;
}

bool tare_json_get_i64(const struct tare_json_value *v, const char *path, int64_t *out)
{
	v = tare_json_get(v, path);
	if (!v || !v->is_integer || (!v->is_negative && v->u > INT64_MAX))
		return false;
	*out = v->i;
	return true;
}

bool tare_json_get_bool(const struct tare_json_value *v, const char *path, bool fallback)
{
	v = tare_json_get(v, path);
	return v && v->type == TARE_JSON_BOOL ? v->is_true : fallback;
}
