/* SPDX-License-Identifier: Apache-2.0 */
/* Beside a plot: its layers from the top to the bottom, with what they have at the peak. */
#include "view/picture_private.h"

#include "base/units.h"
#include "view/svg.h"

enum { SWATCH = 10, GAP = 6, NUMBER = 54 };

static double row_y(const struct tare_plot *p, int row)
{
	return p->top + 8 + row * TARE_PICTURE_ROW;
}

static bool has_elastic(const struct tare_plot *p)
{
	for (int i = 0; i < p->layer_nr; i++)
		if (p->layers[i].is_elastic)
			return true;
	return false;
}

/* The head, used, the layers, what ~ means. */
static int row_nr(const struct tare_plot *p)
{
	return 2 + p->layer_nr + has_elastic(p);
}

double tare_picture_legend_height(const struct tare_plot *p)
{
	return 8 + row_nr(p) * TARE_PICTURE_ROW;
}

static void add_number(const struct tare_plot *p, double y, const char *class, int64_t bytes)
{
	char mib[TARE_UNITS_TEXT_MAX];

	tare_svg_text(p->out, &(struct tare_svg_text){ .x = TARE_PICTURE_EDGE, .y = y, .class = class, .anchor = "end" },
	              tare_units_mib(mib, bytes));
}

static void add_label(const struct tare_plot *p, double x, double y, const char *class, const char *text)
{
	tare_svg_text(p->out,
	              &(struct tare_svg_text){ .x = x, .y = y, .class = class, .width = TARE_PICTURE_EDGE - NUMBER - x },
	              text);
}

static void add_swatch(const struct tare_plot *p, const struct tare_layer *l, double y)
{
	tare_str_add(p->out, "<rect class=\"");
	if (l->is_unexplained)
		tare_str_add(p->out, "un");
	else
		tare_str_addf(p->out, "%c%d", l->is_elastic ? 'e' : 'c', l->slot);
	tare_str_addf(p->out, "\" x=\"%d\" y=\"", TARE_PICTURE_SIDE);
	tare_svg_num(p->out, y - SWATCH + 1);
	tare_str_addf(p->out, "\" width=\"%d\" height=\"%d\"/>\n", SWATCH, SWATCH);
}

static void add_layer(const struct tare_plot *p, const struct tare_layer *l, double y)
{
	TARE_FREED_BY(tare_str_free) struct tare_str label = { 0 };

	add_swatch(p, l, y);
	tare_str_addf(&label, "%s%s", l->is_elastic ? "~ " : "", l->label);
	if (l->member_nr > 1) {
		tare_str_cut(&label, 0);
		if (l->has_more)
			tare_str_add(&label, l->label);
		else
			tare_str_addf(&label, "%d smaller ones", l->member_nr);
	}
	add_label(p, TARE_PICTURE_SIDE + SWATCH + GAP, y, "t", tare_str_text(&label));
	if (p->panel->has_peak)
		add_number(p, y, "t", tare_layer_bytes(l, &p->panel->peak));
}

void tare_picture_legend(const struct tare_plot *p)
{
	struct tare_memory_history_point most;
	TARE_FREED_BY(tare_str_free) struct tare_str head = { 0 };
	int row = 0;

	if (!p->panel->has_peak) {
		tare_str_add(&head, "no peak is known");
	} else {
		bool has_all = tare_picture_most(p->panel, &most) && most.used == p->panel->peak.used;

		tare_str_add(&head, has_all ? "at peak, " : "most of the rest, ");
		tare_picture_time(&head, p->panel->peak.t_ns);
	}
	add_label(p, TARE_PICTURE_SIDE, row_y(p, row), "m", tare_str_text(&head));
	tare_svg_text(p->out,
	              &(struct tare_svg_text){ .x = TARE_PICTURE_EDGE, .y = row_y(p, row), .class = "m", .anchor = "end" },
	              "MiB");
	row++;
	add_label(p, TARE_PICTURE_SIDE, row_y(p, row), "b", p->device ? "used" : "tensors");
	if (p->panel->has_peak)
		add_number(p, row_y(p, row), "b", p->panel->peak.used);
	for (int i = p->layer_nr - 1; i >= 0; i--)
		add_layer(p, &p->layers[i], row_y(p, ++row));
	if (has_elastic(p))
		add_label(p, TARE_PICTURE_SIDE, row_y(p, ++row), "m", "~ taken as there was room");
}
