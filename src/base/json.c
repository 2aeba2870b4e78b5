/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON into a string: objects, lists, texts, numbers. */
#include "base/json.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

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
	tare_text_add_quoted(j->out, key, strlen(key));
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
	tare_text_add_quoted(j->out, text, len);
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
