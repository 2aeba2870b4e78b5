/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_unit(struct tare_str *out, uint32_t unit)
{
	tare_str_addf(out, "\\u%04x", (unsigned)unit);
}

static void add_escape(struct tare_str *out, uint32_t code)
{
	static const char from[] = "\"\\\n\t\r\b\f", to[] = "\"\\ntrbf";
	const char *p = code && code < 0x80 ? strchr(from, (int)code) : NULL;

	if (p) {
		tare_str_addf(out, "\\%c", to[p - from]);
	} else if (code < 0x10000) {
		add_unit(out, code);
	} else {
		add_unit(out, 0xd800 + ((code - 0x10000) >> 10));
		add_unit(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
	}
}

/* Nothing is lost of what is UTF-8: characters that are not plain are escaped, not replaced. */
static void add_string(struct tare_str *out, const char *text, size_t len)
{
	const char *p = text, *end = p + len;

	tare_str_add_char(out, '"');
	while (p < end) {
		uint32_t code;
		size_t n = tare_text_decode(p, (size_t)(end - p), &code);

		if (n == 0)
			tare_str_add(out, "\xef\xbf\xbd");
		else if (code == '"' || code == '\\' || !tare_text_is_plain(code))
			add_escape(out, code);
		else
			tare_str_add_n(out, p, n);
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
