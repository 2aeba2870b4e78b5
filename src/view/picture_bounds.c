/* SPDX-License-Identifier: Apache-2.0 */
/* Time whose events are not there: with what a cap left of it, the least and the most in use of each span, or nothing but the peak. */
#include "view/picture_private.h"

#include "base/units.h"
#include "view/svg.h"

static void add_box(const struct tare_plot *p, const char *class, double x, double y, double width, double height)
{
	tare_str_addf(p->out, "<rect class=\"%s\" x=\"", class);
	tare_svg_num(p->out, x);
	tare_str_add(p->out, "\" y=\"");
	tare_svg_num(p->out, y);
	tare_str_add(p->out, "\" width=\"");
	tare_svg_num(p->out, width);
	tare_str_add(p->out, "\" height=\"");
	tare_svg_num(p->out, height);
	tare_str_add(p->out, "\">");
}

static void add_label(const struct tare_plot *p, double width, const char *text)
{
	if (width > tare_svg_width(text) + 8)
		tare_svg_text(p->out,
		              &(struct tare_svg_text){ .x = TARE_PICTURE_LEFT + width / 2,
		                                       .y = p->top + p->height - 8,
		                                       .class = "m halo",
		                                       .anchor = "middle" },
		              text);
}

/* At least so much was in use all the time; and at times up to the upper edge of the band. */
static void add_bound(const struct tare_plot *p, const struct tare_memory_history_bounds *b)
{
	int64_t until = b->until_ns < p->run->history->known_ns ? b->until_ns : p->run->history->known_ns;
	double x = tare_plot_x(p, b->from_ns), width = tare_plot_x(p, until) - x;
	double low = tare_plot_y(p, b->low), high = tare_plot_y(p, b->high);
	char least[TARE_UNITS_TEXT_MAX], most[TARE_UNITS_TEXT_MAX];

	add_box(p, "least", x, low, width, p->top + p->height - low);
	tare_str_add(p->out, "</rect>\n");
	add_box(p, "band", x, high, width, low - high > 1 ? low - high : 1);
	tare_str_addf(p->out,
	              "<title>between %s and %s MiB in use: the events of that time went to keep the "
	              "recording under its cap</title></rect>\n",
	              tare_units_mib(least, b->low), tare_units_mib(most, b->high));
}

/* Nothing is known of it. */
static void add_unknown(const struct tare_plot *p, double width)
{
	add_box(p, "fold", TARE_PICTURE_LEFT, p->top, width, p->height);
	tare_str_add(p->out, "<title>went to keep the recording under its cap</title></rect>\n");
	add_label(p, width, "not known");
}

void tare_picture_folded(const struct tare_plot *p)
{
	double width = tare_plot_x(p, p->run->history->known_ns) - TARE_PICTURE_LEFT;

	if (p->run->history->known_ns <= 0)
		return;
	if (!p->panel->bound_nr) {
		add_unknown(p, width);
		return;
	}
	for (size_t i = 0; i < p->panel->bound_nr; i++)
		add_bound(p, &p->panel->bounds[i]);
	add_label(p, width, "least and most in use");
}

bool tare_picture_most(const struct tare_memory_history_panel *panel, struct tare_memory_history_point *out)
{
	bool is_any = panel->has_peak;

	*out = panel->peak;
	for (size_t i = 0; i < panel->bound_nr; i++) {
		const struct tare_memory_history_bounds *b = &panel->bounds[i];

		if (!is_any || b->high > out->used)
			*out = (struct tare_memory_history_point){ b->high_ns, b->high, NULL };
		is_any = true;
	}
	return is_any;
}
