/* SPDX-License-Identifier: Apache-2.0 */
/* Axes, the limit of a card, and the peak. */
#include "view/picture_private.h"

#include "base/units.h"
#include "record/format.h"
#include "view/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIME_TICKS = 7, BYTE_TICKS = 5 };

struct unit {
	const char *name;
	double size;
};

static const struct unit times[] = { { "ns", 1 },  { "us", 1e3 },   { "ms", 1e6 },
	                                 { "s", 1e9 }, { "min", 60e9 }, { "h", 3600e9 } };
static const struct unit sizes[] = {
	{ "B", 1 }, { "KiB", 1024 }, { "MiB", 1048576. }, { "GiB", 1073741824. }, { "TiB", 1099511627776. }
};

/* The largest of which there are at least `least`. */
static const struct unit *unit_of(const struct unit *units, size_t n, double most, double least)
{
	const struct unit *unit = units;

	for (size_t i = 1; i < n; i++)
		if (most >= units[i].size * least)
			unit = &units[i];
	return unit;
}

/* 1, 2 or 5 times a power of ten, so that there are at most `n` steps. pre: span > 0. */
static double step_of(double span, int n)
{
	double power = pow(10, floor(log10(span / n)));

	for (int i = 0; i < 3; i++) {
		static const int factors[] = { 1, 2, 5 };

		if (span <= factors[i] * power * n * (1 + 1e-9))
			return factors[i] * power;
	}
	return 10 * power;
}

static void add_line(struct tare_str *out, const char *class, double x, double y, char direction, double to)
{
	tare_str_addf(out, "<path class=\"%s\" d=\"M", class);
	tare_svg_num(out, x);
	tare_str_add_char(out, ' ');
	tare_svg_num(out, y);
	tare_str_add_char(out, direction);
	tare_svg_num(out, to);
	tare_str_add(out, "\"/>\n");
}

static void add_sizes(const struct tare_plot *p)
{
	const struct unit *unit = unit_of(sizes, 5, (double)p->most, 2);
	double most = (double)p->most / unit->size;
	double step = step_of(most > 0 ? most : 1, BYTE_TICKS);
	char text[48];

	for (int i = 0; i * step <= most * (1 + 1e-9); i++) {
		double y = tare_plot_y(p, (int64_t)(i * step * unit->size));

		add_line(p->out, "grid", TARE_PICTURE_LEFT, y, 'H', TARE_PICTURE_LEFT + TARE_PICTURE_PLOT);
		snprintf(text, sizeof(text), i ? "%.10g %s" : "%.10g", i * step, unit->name);
		tare_svg_text(p->out,
		              &(struct tare_svg_text){ .x = TARE_PICTURE_LEFT - 6, .y = y + 4, .class = "m", .anchor = "end" },
		              text);
	}
}

static void add_times(const struct tare_plot *p)
{
	const struct unit *unit = unit_of(times, 6, (double)(p->from_ns + p->span_ns), 2);
	double from = (double)p->from_ns / unit->size, span = (double)p->span_ns / unit->size;
	double step = step_of(span > 0 ? span : 1, TIME_TICKS), first = fabs(ceil(from / step - 1e-9));
	double base = p->top + p->height;
	char text[48];

	add_line(p->out, "axis", TARE_PICTURE_LEFT, base, 'H', TARE_PICTURE_LEFT + TARE_PICTURE_PLOT);
	for (double i = first; i * step <= from + span * (1 + 1e-9); i++) {
		double x = tare_plot_x(p, (int64_t)(i * step * unit->size));

		add_line(p->out, "axis", x, base, 'v', 4);
		snprintf(text, sizeof(text), "%.10g %s", i * step, unit->name);
		tare_svg_text(p->out, &(struct tare_svg_text){ .x = x, .y = base + 15, .class = "m", .anchor = "middle" },
		              text);
	}
}

static void add_unknown(const struct tare_plot *p, int64_t from_ns, int64_t to_ns)
{
	double from = tare_plot_x(p, from_ns), width = tare_plot_x(p, to_ns) - from;

	tare_str_add(p->out, "<rect class=\"bg\" x=\"");
	for (int layer = 0; layer < 2; layer++) {
		if (layer)
			tare_str_add(p->out, "<rect class=\"fold\" x=\"");
		tare_svg_num(p->out, from);
		tare_str_add(p->out, "\" y=\"");
		tare_svg_num(p->out, p->top);
		tare_str_add(p->out, "\" width=\"");
		tare_svg_num(p->out, width);
		tare_str_add(p->out, "\" height=\"");
		tare_svg_num(p->out, p->height);
		tare_str_add(p->out, layer ? "\"><title>records are missing: what was in use then is "
		                             "not known</title></rect>\n"
		                           : "\"/>\n");
	}
	if (width > tare_svg_width("not known") + 8)
		tare_svg_text(p->out,
		              &(struct tare_svg_text){
						  .x = from + width / 2, .y = p->top + p->height - 8, .class = "m", .anchor = "middle" },
		              "not known");
}

/* Where a part of a log is damaged: in front of the areas, which are those from before. */
void tare_picture_unknown(const struct tare_plot *p)
{
	const struct tare_timeline *t = p->device ? &p->device->timeline : &p->run->ledger->host_timeline;
	double width = t->nr ? (double)(t->to_ns - t->from_ns) / t->nr : 0;

	for (int i = 0; i < t->nr; i++) {
		int first = i;

		while (i < t->nr && t->used[i] < 0)
			i++;
		if (i > first)
			add_unknown(p, t->from_ns + (int64_t)(width * first), t->from_ns + (int64_t)(width * i));
	}
}

void tare_picture_axes(const struct tare_plot *p)
{
	add_sizes(p);
	add_times(p);
	tare_picture_folded(p);
}

int64_t tare_picture_total(const struct tare_device_ledger *d)
{
	if (!d)
		return 0;
	if (d->card.is_there)
		return (int64_t)(d->card.total - d->card.reserved);
	if (d->total == TARE_NOT_KNOWN)
		return 0;
	return (int64_t)(d->reserved == TARE_NOT_KNOWN ? d->total : d->total - d->reserved);
}

void tare_picture_limit(const struct tare_plot *p)
{
	int64_t total = tare_picture_total(p->device);
	char text[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str label = { 0 };

	if (!total || total > p->most)
		return;
	add_line(p->out, "limit", TARE_PICTURE_LEFT, tare_plot_y(p, total), 'H', TARE_PICTURE_LEFT + TARE_PICTURE_PLOT);
	tare_str_addf(&label, "%s %s", p->device->card.is_there ? "the card has" : "there is",
	              tare_units_human(text, (uint64_t)total));
	tare_svg_text(p->out,
	              &(struct tare_svg_text){ .x = TARE_PICTURE_LEFT + TARE_PICTURE_PLOT - 4,
	                                       .y = tare_plot_y(p, total) - 4,
	                                       .class = "m",
	                                       .anchor = "end" },
	              tare_str_text(&label));
}

void tare_picture_time(struct tare_str *out, int64_t t_ns)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_add(out, tare_units_duration(text, t_ns));
}

void tare_picture_peak(const struct tare_plot *p)
{
	struct tare_memory_history_point peak;
	double x, y, half;
	char mib[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str label = { 0 };

	if (!tare_picture_most(p->panel, &peak))
		return;
	x = tare_plot_x(p, peak.t_ns);
	y = tare_plot_y(p, peak.used);
	tare_str_addf(&label, "peak %s MiB, ", tare_units_mib(mib, peak.used));
	tare_picture_time(&label, peak.t_ns);
	tare_str_add(p->out, "<circle class=\"peak\" cx=\"");
	tare_svg_num(p->out, x);
	tare_str_add(p->out, "\" cy=\"");
	tare_svg_num(p->out, y);
	tare_str_add(p->out, "\" r=\"3\"><title>");
	tare_svg_escape(p->out, tare_str_text(&label));
	tare_str_add(p->out, "</title></circle>\n");
	half = tare_svg_width(tare_str_text(&label)) / 2 + 4;
	if (x < TARE_PICTURE_LEFT + half)
		x = TARE_PICTURE_LEFT + half;
	if (x > TARE_PICTURE_LEFT + TARE_PICTURE_PLOT - half)
		x = TARE_PICTURE_LEFT + TARE_PICTURE_PLOT - half;
	tare_svg_text(p->out, &(struct tare_svg_text){ .x = x, .y = y - 7, .class = "b halo", .anchor = "middle" },
	              tare_str_text(&label));
}
