/* SPDX-License-Identifier: Apache-2.0 */
/* A string that grows: appending, formatting, wrapping, cutting. */
#include "base/str.h"

#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct tare_str *s, size_t extra)
{
	size_t need = s->len + extra + 1;
	size_t cap = s->cap ? s->cap : 64;

	if (need <= s->cap)
		return;
	while (cap < need)
		cap *= 2;
	s->data = tare_xrealloc(s->data, cap, 1);
	s->cap = cap;
}

void tare_str_add_n(struct tare_str *s, const char *bytes, size_t n)
{
	reserve(s, n);
	if (n)
		memcpy(s->data + s->len, bytes, n);
	s->len += n;
	s->data[s->len] = '\0';
}

void tare_str_add(struct tare_str *s, const char *text)
{
	tare_str_add_n(s, text, strlen(text));
}

void tare_str_add_char(struct tare_str *s, char c)
{
	tare_str_add_n(s, &c, 1);
}

void tare_str_add_repeat(struct tare_str *s, const char *text, size_t times)
{
	while (times--)
		tare_str_add(s, text);
}

void tare_str_vaddf(struct tare_str *s, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n > 0) {
		reserve(s, (size_t)n);
		vsnprintf(s->data + s->len, (size_t)n + 1, fmt, again);
		s->len += (size_t)n;
	}
	va_end(again);
}

void tare_str_addf(struct tare_str *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(s, fmt, ap);
	va_end(ap);
}

void tare_str_add_wrapped(struct tare_str *s, const char *text, size_t column, size_t indent, size_t width)
{
	const char *p = text;
	int is_line_start = 1;

	while (*p) {
		size_t n = strcspn(p, " \n"), cols = 0;

		for (size_t i = 0; i < n; i++)
			cols += ((unsigned char)p[i] & 0xc0) != 0x80;
		if (!is_line_start && column + 1 + cols > width) {
			tare_str_add_char(s, '\n');
			tare_str_add_repeat(s, " ", indent);
			column = indent;
			is_line_start = 1;
		}
		if (n) {
			if (!is_line_start)
				tare_str_add_char(s, ' ');
			tare_str_add_n(s, p, n);
			column += cols + !is_line_start;
			is_line_start = 0;
		}
		p += n;
		if (*p == '\n') {
			tare_str_add_char(s, '\n');
			if (p[1] && p[1] != '\n')
				tare_str_add_repeat(s, " ", indent);
			column = indent;
			is_line_start = 1;
		}
		p += *p != '\0';
	}
}

const char *tare_str_text(const struct tare_str *s)
{
	return s->data ? s->data : "";
}

void tare_str_cut(struct tare_str *s, size_t len)
{
	if (len >= s->len)
		return;
	s->len = len;
	s->data[len] = '\0';
}

char *tare_str_steal(struct tare_str *s)
{
	char *data;

	reserve(s, 0);
	s->data[s->len] = '\0';
	data = s->data;
	*s = (struct tare_str){ 0 };
	return data;
}

char *tare_str_format(const char *fmt, ...)
{
	struct tare_str s = { 0 };
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(&s, fmt, ap);
	va_end(ap);
	return tare_str_steal(&s);
}

void tare_str_free(struct tare_str *s)
{
	free(s->data);
	*s = (struct tare_str){ 0 };
}

size_t tare_str_columns(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}
