/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacked areas. Every layer is drawn from the base line up to its own upper edge, the highest first,
 * so that each hides what is not its own: a path then has one edge and no seams.
 */
#include "view/picture_private.h"

#include "base/units.h"
#include "base/xalloc.h"
#include "view/svg.h"

#include <stdio.h>
#include <stdlib.h>

enum { LABEL_HEIGHT = 14 };

static void add_title(const struct tare_plot *p, const struct tare_layer *l)
{
	char mib[TARE_UNITS_TEXT_MAX];

	tare_str_add(p->out, "<title>");
	tare_svg_escape(p->out, l->label);
	if (p->panel->has_peak)
		tare_str_addf(p->out, ": %s MiB at the peak", tare_units_mib(mib, tare_layer_bytes(l, &p->panel->peak)));
	tare_str_add(p->out, l->is_elastic ? " (elastic: taken because there was room)" : "");
	for (int i = 0; l->member_nr > 1 && i < l->member_nr; i++) {
		tare_str_add(p->out, "\n");
		tare_svg_escape(p->out, p->panel->bands[l->members[i]].label);
		if (p->panel->has_peak)
			tare_str_addf(p->out, " %s", tare_units_mib(mib, p->panel->peak.bytes[l->members[i]]));
	}
	tare_str_add(p->out, "</title>");
}

static double end_of(const struct tare_plot *p)
{
	return tare_plot_x(p, p->run->history->end_ns);
}

/* The upper edge of the first `layers` layers. */
static void add_edge(const struct tare_plot *p, int layers, bool is_closed)
{
	const struct tare_memory_history_panel *panel = p->panel;
	struct tare_svg_steps steps;
	double base = tare_plot_y(p, 0), first = tare_plot_x(p, panel->points[0].t_ns);

	tare_svg_steps_start(&steps, p->out, first, is_closed ? base : tare_plot_y(p, panel->points[0].used));
	for (size_t i = 0; i < panel->point_nr; i++)
		tare_svg_steps_to(&steps, tare_plot_x(p, panel->points[i].t_ns),
		                  tare_plot_y(p, tare_layers_reach(p, &panel->points[i], layers)));
	tare_svg_steps_end(&steps, end_of(p));
	if (!is_closed)
		return;
	tare_str_add(p->out, "V");
	tare_svg_num(p->out, base);
	tare_str_add(p->out, "z");
}

static void add_area(const struct tare_plot *p, int layer)
{
	const struct tare_layer *l = &p->layers[layer];

	tare_str_add(p->out, "<path class=\"");
	if (l->is_unexplained)
		tare_str_add(p->out, "un");
	else
		tare_str_addf(p->out, "%c%d", l->is_elastic ? 'e' : 'c', l->slot);
	tare_str_add(p->out, "\" data-band=\"");
	tare_svg_escape(p->out, l->key);
	tare_str_add(p->out, "\" d=\"");
	add_edge(p, layer + 1, true);
	tare_str_add(p->out, "\">");
	add_title(p, l);
	tare_str_add(p->out, "</path>\n");
}

/* ---- names on the areas, where there is room ---- */

/* Between which heights a layer lies all the time, pixel by pixel. */
struct strip {
	double upper, lower;
};

static void measure(const struct tare_plot *p, int layer, struct strip *strips)
{
	const struct tare_memory_history_panel *panel = p->panel;
	size_t k = 0;

	for (int x = 0; x < TARE_PICTURE_PLOT; x++) {
		strips[x] = (struct strip){ 0, 0 };
		while (k + 1 < panel->point_nr && tare_plot_x(p, panel->points[k + 1].t_ns) <= TARE_PICTURE_LEFT + x)
			k++;
		if (tare_plot_x(p, panel->points[k].t_ns) > TARE_PICTURE_LEFT + x || end_of(p) < TARE_PICTURE_LEFT + x + 1)
			continue;
		strips[x] = (struct strip){
			tare_plot_y(p, tare_layers_reach(p, &panel->points[k], layer + 1)),
			tare_plot_y(p, tare_layers_reach(p, &panel->points[k], layer)),
		};
		for (size_t i = k + 1; i < panel->point_nr && tare_plot_x(p, panel->points[i].t_ns) < TARE_PICTURE_LEFT + x + 1;
		     i++) {
			double upper = tare_plot_y(p, tare_layers_reach(p, &panel->points[i], layer + 1));
			double lower = tare_plot_y(p, tare_layers_reach(p, &panel->points[i], layer));

			strips[x].upper = upper > strips[x].upper ? upper : strips[x].upper;
			strips[x].lower = lower < strips[x].lower ? lower : strips[x].lower;
		}
	}
}

/* What is the layer's alone all along `width` pixels. */
static struct strip common(const struct strip *strips, int x, int width)
{
	struct strip s = strips[x];

	for (int i = x; i < x + width; i++) {
		s.upper = strips[i].upper > s.upper ? strips[i].upper : s.upper;
		s.lower = strips[i].lower < s.lower ? strips[i].lower : s.lower;
	}
	return s;
}

/* Where there is most room, and in the middle of it; -1: nowhere. */
static int find_room(const struct strip *strips, int width)
{
	double room = LABEL_HEIGHT;
	int best = -1, last = -1;

	for (int x = 0; x + width <= TARE_PICTURE_PLOT; x += 2) {
		struct strip s = common(strips, x, width);

		if (best >= 0 && x == last + 2 && s.lower - s.upper > room - .5)
			last = x;
		if (s.lower - s.upper < room + (best >= 0 ? .5 : 0))
			continue;
		best = last = x;
		room = s.lower - s.upper;
	}
	return best < 0 ? -1 : (best + last) / 2;
}

static void add_name(const struct tare_plot *p, int layer, struct strip *strips)
{
	const struct tare_layer *l = &p->layers[layer];
	int width = (int)tare_svg_width(l->label) + 10, best;
	struct strip room;
	char class[32];

	measure(p, layer, strips);
	best = find_room(strips, width);
	if (best < 0)
		return;
	room = common(strips, best, width);
	snprintf(class, sizeof(class), "n %s%d", l->is_elastic || l->is_unexplained ? "h" : "i", l->slot);
	tare_svg_text(p->out,
	              &(struct tare_svg_text){ .x = TARE_PICTURE_LEFT + best + width / 2.0,
	                                       .y = (room.upper + room.lower) / 2 + 4,
	                                       .class = class,
	                                       .anchor = "middle" },
	              l->label);
}

void tare_picture_areas(const struct tare_plot *p)
{
	struct strip *strips;

	if (!p->panel->point_nr)
		return;
	for (int i = p->layer_nr - 1; i >= 0; i--)
		add_area(p, i);
	tare_str_add(p->out, "<path class=\"top\" d=\"");
	add_edge(p, p->layer_nr, false);
	tare_str_add(p->out, "\"/>\n");
	strips = tare_xcalloc(TARE_PICTURE_PLOT, sizeof(*strips));
	for (int i = 0; i < p->layer_nr; i++)
		add_name(p, i, strips);
	free(strips);
}
