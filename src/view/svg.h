/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of an SVG file. */
#ifndef TARE_VIEW_SVG_H
#define TARE_VIEW_SVG_H

#include "base/str.h"

/* Any text, from wherever. */
void tare_svg_escape(struct tare_str *out, const char *text);
/* One decimal, and none where it is 0; in every locale with a point. */
void tare_svg_num(struct tare_str *out, double value);

/* <text class=CLASS x= y=> with TEXT, at most `width` wide. */
struct tare_svg_text {
	double x, y;
	double width;       /* 0: as long as it is */
	const char *class;  /* of the style sheet */
	const char *anchor; /* "middle", "end"; NULL: start */
};
void tare_svg_text(struct tare_str *out, const struct tare_svg_text *how, const char *text);
/* About how wide a text is. */
double tare_svg_width(const char *text);

/* The outline of a step function, with few characters: start() at a corner, then to(), each y held from x on. */
struct tare_svg_steps {
	struct tare_str *out;
	long x, y; /* tenths */
};
void tare_svg_steps_start(struct tare_svg_steps *s, struct tare_str *out, double x, double y);
void tare_svg_steps_to(struct tare_svg_steps *s, double x, double y);
void tare_svg_steps_end(struct tare_svg_steps *s, double x); /* the last one lasts until there */

#endif
