/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The length of the UTF-8 sequence at p, or 0 when it is none (overlong and surrogates are none). */
static size_t utf8_len(const unsigned char *p, size_t left)
{
	static const struct {
		unsigned char from, to, second_from, second_to, len;
	} forms[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	if (p[0] < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (p[0] < forms[i].from || p[0] > forms[i].to)
			continue;
		if (left < forms[i].len || p[1] < forms[i].second_from || p[1] > forms[i].second_to)
			return 0;
		for (size_t k = 2; k < forms[i].len; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].len;
	}
	return 0;
}

static void add_escape(struct tare_str *out, unsigned char c)
{
	static const char from[] = "\"\\\n\t\r\b\f", to[] = "\"\\ntrbf";
	const char *p = c ? strchr(from, c) : NULL;

	if (p)
		tare_str_addf(out, "\\%c", to[p - from]);
	else
		tare_str_addf(out, "\\u%04x", c);
}

static void add_string(struct tare_str *out, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len;

	tare_str_add_char(out, '"');
	while (p < end) {
		size_t n = utf8_len(p, (size_t)(end - p));

		if (n == 0)
			tare_str_add(out, "\xef\xbf\xbd");
		else if (n == 1 && (*p < 0x20 || *p == '"' || *p == '\\' || *p == 0x7f))
			add_escape(out, *p);
		else
			tare_str_add_n(out, (const char *)p, n);
		p += n ? n : 1;
	}
	tare_str_add_char(out, '"');
}

static void new_line(struct tare_json *j)
{
	tare_str_add_char(j->out, '\n');
	tare_str_add_repeat(j->out, "  ", j->depth);
}

/* What stands before every value: comma, line, key. */
static void lead(struct tare_json *j, const char *key)
{
	if (j->has_item)
		tare_str_add_char(j->out, ',');
	if (j->is_pretty && j->depth)
		new_line(j);
	else if (j->has_item)
		tare_str_add_char(j->out, ' ');
	j->has_item = true;
	if (!key)
		return;
	add_string(j->out, key, strlen(key));
	tare_str_add(j->out, ": ");
}

void tare_json_open(struct tare_json *j, const char *key, char bracket)
{
	lead(j, key);
	tare_str_add_char(j->out, bracket);
	if (j->depth < TARE_JSON_MAX_DEPTH)
		j->closer[j->depth] = bracket == '{' ? '}' : ']';
	j->depth++;
	j->has_item = false;
}

void tare_json_close(struct tare_json *j)
{
	j->depth--;
	if (j->is_pretty && j->has_item)
		new_line(j);
	tare_str_add_char(j->out, j->closer[j->depth < TARE_JSON_MAX_DEPTH ? j->depth : 0]);
	j->has_item = true;
	if (!j->depth)
		tare_str_add_char(j->out, '\n');
}

void tare_json_str_n(struct tare_json *j, const char *key, const char *text, size_t len)
{
	lead(j, key);
	add_string(j->out, text, len);
}

void tare_json_str(struct tare_json *j, const char *key, const char *text)
{
	if (text)
		tare_json_str_n(j, key, text, strlen(text));
	else
		tare_json_null(j, key);
}

void tare_json_u64(struct tare_json *j, const char *key, uint64_t v)
{
	lead(j, key);
	tare_str_addf(j->out, "%llu", (unsigned long long)v);
}

void tare_json_i64(struct tare_json *j, const char *key, int64_t v)
{
	lead(j, key);
	tare_str_addf(j->out, "%lld", (long long)v);
}

void tare_json_number(struct tare_json *j, const char *key, double v)
{
	if (!isfinite(v)) {
		tare_json_null(j, key);
		return;
	}
	lead(j, key);
	tare_str_addf(j->out, "%.12g", v);
}

void tare_json_bool(struct tare_json *j, const char *key, bool v)
{
	lead(j, key);
	tare_str_add(j->out, v ? "true" : "false");
}

void tare_json_null(struct tare_json *j, const char *key)
{
	lead(j, key);
	tare_str_add(j->out, "null");
}
