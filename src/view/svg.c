/* SPDX-License-Identifier: Apache-2.0 */
#include "view/svg.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const double GLYPH = 6.6; /* of 11 px, on average */

/* The code point at `p` and its length; length 0: no UTF-8. */
static size_t decode(const unsigned char *p, uint32_t *code)
{
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	if (len <= 1) {
		*code = p[0];
		return len;
	}
	*code = p[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3fu);
	}
	if ((len == 3 && *code < 0x800) || (len == 4 && (*code < 0x10000 || *code > 0x10ffff)))
		return 0;
	return len;
}

/* What may stand in XML 1.0, less control characters, which nobody can see. */
static bool is_allowed(uint32_t code)
{
	return code >= 0x20 && !(code >= 0x7f && code < 0xa0) && !(code >= 0xd800 && code < 0xe000) &&
	       code != 0xfffe && code != 0xffff;
}

static const char *entity(uint32_t code)
{
	return code == '<'   ? "&lt;"
	       : code == '>' ? "&gt;"
	       : code == '&' ? "&amp;"
	       : code == '"' ? "&quot;"
			     : NULL;
}

void tare_svg_escape_cut(struct tare_str *out, const char *text, size_t columns)
{
	bool is_cut = tare_str_columns(text) > columns;
	size_t left = is_cut && columns ? columns - 1 : columns;

	for (const char *p = text; *p && left; left--) {
		uint32_t code;
		size_t len = decode((const unsigned char *)p, &code);

		if (!len || !is_allowed(code))
			tare_str_add_char(out, '?');
		else if (entity(code))
			tare_str_add(out, entity(code));
		else
			tare_str_add_n(out, p, len);
		p += len ? len : 1;
	}
	if (is_cut)
		tare_str_add(out, "…");
}

void tare_svg_escape(struct tare_str *out, const char *text)
{
	tare_svg_escape_cut(out, text, SIZE_MAX);
}

static void add_tenths(struct tare_str *out, long tenths)
{
	const char *sign = tenths < 0 ? "-" : "";
	long size = tenths < 0 ? -tenths : tenths;

	if (size % 10 == 0)
		tare_str_addf(out, "%s%ld", sign, size / 10);
	else if (size < 10)
		tare_str_addf(out, "%s.%ld", sign, size);
	else
		tare_str_addf(out, "%s%ld.%ld", sign, size / 10, size % 10);
}

void tare_svg_num(struct tare_str *out, double value)
{
	add_tenths(out, lround(value * 10));
}

double tare_svg_width(const char *text)
{
	return GLYPH * (double)tare_str_columns(text);
}

void tare_svg_text(struct tare_str *out, const struct tare_svg_text *how, const char *text)
{
	size_t columns = how->width > 0 ? (size_t)(how->width / GLYPH) : SIZE_MAX;

	tare_str_addf(out, "<text class=\"%s\" x=\"", how->class);
	tare_svg_num(out, how->x);
	tare_str_add(out, "\" y=\"");
	tare_svg_num(out, how->y);
	if (how->anchor)
		tare_str_addf(out, "\" text-anchor=\"%s", how->anchor);
	tare_str_add(out, "\">");
	tare_svg_escape_cut(out, text, columns);
	tare_str_add(out, "</text>\n");
}

void tare_svg_steps_start(struct tare_svg_steps *s, struct tare_str *out, double x, double y)
{
	*s = (struct tare_svg_steps){ out, lround(x * 10), lround(y * 10) };
	tare_str_add_char(out, 'M');
	add_tenths(out, s->x);
	tare_str_add_char(out, ' ');
	add_tenths(out, s->y);
}

static void go(struct tare_svg_steps *s, long x, long y)
{
	if (x != s->x) {
		tare_str_add_char(s->out, 'h');
		add_tenths(s->out, x - s->x);
	}
	if (y != s->y) {
		tare_str_add_char(s->out, 'v');
		add_tenths(s->out, y - s->y);
	}
	s->x = x;
	s->y = y;
}

void tare_svg_steps_to(struct tare_svg_steps *s, double x, double y)
{
	long to = lround(y * 10);

	if (to != s->y)
		go(s, lround(x * 10), to);
}

void tare_svg_steps_end(struct tare_svg_steps *s, double x)
{
	go(s, lround(x * 10), s->y);
}
