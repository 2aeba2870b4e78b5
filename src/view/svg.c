/* SPDX-License-Identifier: Apache-2.0 */
/* Writes pieces of SVG: texts, numbers, steps. */
#include "view/svg.h"

#include "base/text.h"

#include <math.h>
#include <stdint.h>

static const double GLYPH = 6.6; /* of 11 px, on average */

void tare_svg_escape(struct tare_str *out, const char *text)
{
	tare_text_add_markup(out, text, SIZE_MAX);
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
	tare_text_add_markup(out, text, columns);
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
