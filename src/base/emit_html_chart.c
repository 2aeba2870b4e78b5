/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures in a page: intervals as bars of several parts, a lane each, and a series as a curve. */
#include "base/emit_table.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 800, HEIGHT = 120 }; /* of a curve, in units of its own */

const char tare_html_chart_style[] =
	".bars{display:grid;grid-template-columns:max-content 1fr max-content;gap:.35rem .7rem;align-items:center;"
	"font-size:.875rem;font-variant-numeric:tabular-nums;margin:.6rem 0;padding:0 .5rem}\n"
	".bars .label{max-width:min(16rem,30vw);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}\n"
	".bar{position:relative;height:1.1rem;background:var(--band);border-radius:2px}\n"
	".bar i{position:absolute;top:0;bottom:0;display:block}\n"
	".bar b{position:absolute;top:-.2rem;bottom:-.2rem;width:2px;background:var(--limit)}\n"
	".keys{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.4rem 0 .8rem;padding:0 .5rem;font-size:.8125rem;"
	"color:var(--soft)}\n"
	".keys i{display:inline-block;width:.75rem;height:.75rem;margin-right:.35rem;vertical-align:-.05rem;"
	"border-radius:2px}\n"
	".course{margin:.4rem 0}.course svg{display:block;width:100%;height:7.5rem;background:var(--band)}\n"
	".course rect{fill:var(--soft);fill-opacity:.45}\n"
	".course path{fill:var(--c0);fill-opacity:.35;stroke:var(--c0);stroke-width:1.5;vector-effect:non-scaling-stroke}\n"
	".course p{display:flex;justify-content:space-between;margin:0;font-size:.8125rem;color:var(--soft)}\n";

static void add_text(struct tare_str *out, const char *text)
{
	tare_text_add_markup(out, text, SIZE_MAX);
}

/* ---- intervals ---- */

struct bars {
	const struct tare_chart *chart;
	const char **names; /* each once, in the order in which they come */
	size_t name_nr;
	double from, percent; /* where a bar begins, and what a unit is of its width */
	bool has_mark;
};

static size_t name_of(struct bars *b, const char *name)
{
	for (size_t i = 0; i < b->name_nr; i++)
		if (!strcmp(b->names[i], name))
			return i;
	b->names[b->name_nr] = name;
	return b->name_nr++;
}

/* A line many times as far away as what is drawn would leave nothing to see. */
static bool scale(struct bars *b)
{
	const struct tare_chart *c = b->chart;
	double to = c->parts[0].to;

	b->from = c->parts[0].from;
	for (size_t i = 1; i < c->count; i++) {
		b->from = fmin(b->from, c->parts[i].from);
		to = fmax(to, c->parts[i].to);
	}
	b->has_mark = c->mark_name && c->mark > b->from && c->mark - b->from < 3 * (to - b->from);
	if (b->has_mark)
		to = fmax(to, c->mark);
	b->percent = 100 / ((to - b->from) * 1.01);
	return to > b->from;
}

static void add_part(struct tare_str *out, struct bars *b, const struct tare_chart_part *part)
{
	size_t name;

	if (part->to <= part->from)
		return;
	name = name_of(b, part->name);
	tare_str_addf(out, "<i style=\"left:%.3f%%;width:%.3f%%;background:var(--c%zu)\" title=\"",
	              (part->from - b->from) * b->percent, (part->to - part->from) * b->percent, name % TARE_HTML_COLOURS);
	add_text(out, part->name);
	tare_str_add_char(out, ' ');
	tare_chart_read(out, b->chart->kind, part->to - part->from);
	tare_str_add(out, "\"></i>");
}

/* The parts from `first` on that are of one lane; the next one's. */
static size_t add_lane(struct tare_str *out, struct bars *b, size_t first)
{
	const struct tare_chart *c = b->chart;
	const char *lane = c->parts[first].lane;
	size_t i = first;

	tare_str_add(out, "<span class=\"label\" title=\"");
	add_text(out, lane);
	tare_str_add(out, "\">");
	add_text(out, lane);
	tare_str_add(out, "</span><span class=\"bar\">");
	for (; i < c->count && !strcmp(c->parts[i].lane, lane); i++)
		add_part(out, b, &c->parts[i]);
	if (b->has_mark)
		tare_str_addf(out, "<b style=\"left:%.3f%%\"></b>", (c->mark - b->from) * b->percent);
	tare_str_add(out, "</span><span class=\"n\">");
	add_text(out, c->parts[first].value);
	tare_str_add(out, "</span>\n");
	return i;
}

static void add_keys(struct tare_str *out, const struct bars *b)
{
	tare_str_add(out, "<div class=\"keys\">");
	for (size_t i = 0; i < b->name_nr; i++) {
		tare_str_addf(out, "<span><i style=\"background:var(--c%zu)\"></i>", i % TARE_HTML_COLOURS);
		add_text(out, b->names[i]);
		tare_str_add(out, "</span>");
	}
	if (b->has_mark) {
		tare_str_add(out, "<span><i style=\"background:var(--limit);width:2px\"></i>");
		add_text(out, b->chart->mark_name);
		tare_str_add(out, "</span>");
	}
	tare_str_add(out, "</div>\n");
}

static void add_bars(struct tare_str *out, const struct tare_chart *chart)
{
	struct bars b = { .chart = chart };

	if (!chart->count || !scale(&b))
		return;
	b.names = tare_xcalloc(chart->count, sizeof(*b.names));
	tare_str_add(out, "<div class=\"bars\">\n");
	for (size_t i = 0; i < chart->count;)
		i = add_lane(out, &b, i);
	tare_str_add(out, "</div>\n");
	if (b.name_nr > 1 || b.has_mark) /* one colour needs no key */
		add_keys(out, &b);
	free(b.names);
}

/* ---- a series ---- */

/* What is not known is shaded from top to bottom: it is not nothing. */
static void add_unknown(struct tare_str *out, const struct tare_chart *c, double from, double span)
{
	for (size_t i = 0; i < c->count; i++) {
		size_t first = i;

		while (i < c->count && isnan(c->parts[i].amount))
			i++;
		if (i > first)
			tare_str_addf(out,
			              "<rect x=\"%.1f\" width=\"%.1f\" height=\"%d\">"
			              "<title>not known: records are missing</title></rect>",
			              (c->parts[first].from - from) / span * WIDTH,
			              (c->parts[i - 1].to - c->parts[first].from) / span * WIDTH, HEIGHT);
	}
}

static void add_course(struct tare_str *out, const struct tare_chart *c)
{
	const struct tare_chart_part *last;
	double from, most = 0;

	if (tare_chart_is_flat(c))
		return;
	last = &c->parts[c->count - 1];
	from = c->parts[0].from;
	if (last->to <= from)
		return;
	for (size_t i = 0; i < c->count; i++)
		most = fmax(most, c->parts[i].amount);
	tare_str_add(out, "<div class=\"course\"><p><span>");
	tare_chart_read(out, c->amount_kind, most);
	tare_str_addf(out,
	              "</span></p><svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
	              "aria-label=\"over time\"><path d=\"M0 %d",
	              WIDTH, HEIGHT, HEIGHT);
	for (size_t i = 0; i < c->count; i++) {
		double x = (c->parts[i].from - from) / (last->to - from) * WIDTH;
		double amount = isnan(c->parts[i].amount) ? 0 : fmax(c->parts[i].amount, 0);
		double y = HEIGHT * (1 - amount / most);

		tare_str_addf(out, "H%.1fV%.1f", x, y);
	}
	tare_str_addf(out, "H%dV%dZ\"/>", WIDTH, HEIGHT);
	add_unknown(out, c, from, last->to - from);
	tare_str_add(out, "</svg><p><span>");
	tare_chart_read(out, c->kind, from);
	tare_str_add(out, "</span><span>");
	tare_chart_read(out, c->kind, last->to);
	tare_str_add(out, "</span></p></div>\n");
}

void tare_html_chart(struct tare_str *out, const struct tare_chart *chart)
{
	if (chart->shape == TARE_SHAPE_SERIES)
		add_course(out, chart);
	else
		add_bars(out, chart);
}
