/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_EMIT_HTML_H
#define TARE_BASE_EMIT_HTML_H

#include "base/emit_table.h"

/* emit_html_chart.c: a series as a curve, intervals as bars. Nothing where there is nothing to see. */
void tare_html_chart(struct tare_str *out, const struct tare_chart *chart);

/* What makes them look as they do, in the style of the page; its colours are --c0 … */
enum { TARE_HTML_COLOURS = 9 };
extern const char tare_html_chart_style[];

#endif
