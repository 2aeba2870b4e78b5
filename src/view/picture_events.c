/* SPDX-License-Identifier: Apache-2.0 */
/* What happened, above a plot: phases in lanes, marks, and where memory ran out. */
#include "view/picture_private.h"

#include "base/units.h"
#include "base/xalloc.h"
#include "view/svg.h"

#include <stdlib.h>

enum { LANES = 4, LANE = 17, BAR = 15, BARS_MAX = 1500, LINES_MAX = 40 };

/* ---- phases ---- */

/* Until where the lanes are taken; a span goes into the first that is free. */
static int lane_of(int64_t until[LANES], const struct tare_memory_history_span *s)
{
	for (int i = 0; i < LANES; i++)
		if (until[i] <= s->begin_ns) {
			until[i] = s->end_ns;
			return i;
		}
	return -1;
}

static void add_span_title(const struct tare_plot *p, const struct tare_memory_history_span *s)
{
	char count[TARE_UNITS_TEXT_MAX];

	tare_str_add(p->out, "<title>");
	tare_svg_escape(p->out, s->name);
	if (s->count > 1)
		tare_str_addf(p->out, " × %s", tare_units_count(count, s->count));
	tare_str_add(p->out, ": ");
	tare_picture_time(p->out, s->begin_ns);
	if (!s->is_mark) {
		tare_str_add(p->out, " to ");
		tare_picture_time(p->out, s->end_ns);
	}
	tare_str_add(p->out, "</title>");
}

static void add_bar(const struct tare_plot *p, const struct tare_memory_history_span *s, double y, int nth)
{
	double x = tare_plot_x(p, s->begin_ns), width = tare_plot_x(p, s->end_ns) - x;
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

	tare_str_addf(p->out, "<rect class=\"ph%d\" x=\"", s->count > 1 ? 2 : nth % 2);
	tare_svg_num(p->out, x);
	tare_str_add(p->out, "\" y=\"");
	tare_svg_num(p->out, y);
	tare_str_add(p->out, "\" width=\"");
	tare_svg_num(p->out, width < .8 ? .8 : width - .2);
	tare_str_addf(p->out, "\" height=\"%d\">", BAR);
	add_span_title(p, s);
	tare_str_add(p->out, "</rect>\n");
	tare_str_add(&name, s->name);
	if (s->count > 1)
		tare_str_addf(&name, " × %llu", (unsigned long long)s->count);
	if (width >= 3 * tare_svg_width("m") + 6 && *s->name)
		tare_svg_text(p->out, &(struct tare_svg_text){ .x = x + 4, .y = y + 11, .class = "ph", .width = width - 6 },
		              tare_str_text(&name));
}

/* A mark is a tick, with its name where the one before left room. */
static void add_mark(const struct tare_plot *p, const struct tare_memory_history_span *s, double y, double *free_from)
{
	double x = tare_plot_x(p, s->begin_ns), width = tare_svg_width(s->name) + 6;
	double right = TARE_PICTURE_LEFT + TARE_PICTURE_PLOT;

	tare_str_add(p->out, "<path class=\"mark\" d=\"M");
	tare_svg_num(p->out, x);
	tare_str_add_char(p->out, ' ');
	tare_svg_num(p->out, y);
	tare_str_add(p->out, "V");
	tare_svg_num(p->out, p->top + p->height);
	tare_str_add(p->out, "\">");
	add_span_title(p, s);
	tare_str_add(p->out, "</path>\n");
	if (x < *free_from || s->count > 1)
		return;
	if (width > right - x)
		width = right - x;
	if (width < 3 * tare_svg_width("m"))
		return;
	tare_svg_text(p->out, &(struct tare_svg_text){ .x = x + 3, .y = y + 11, .class = "t", .width = width }, s->name);
	*free_from = x + width + 4;
}

/* Where the phases of the first lane begin and end, through the plot, if that makes no hedge. */
static void add_lines(const struct tare_plot *p, double y, const int *lanes)
{
	const struct tare_memory_history *history = p->run->history;
	size_t count = 0;

	for (size_t i = 0; i < history->span_nr; i++)
		count += lanes[i] == 0;
	for (size_t i = 0; i < history->span_nr && count <= LINES_MAX; i++) {
		if (lanes[i] != 0)
			continue;
		tare_str_add(p->out, "<path class=\"edge\" d=\"M");
		tare_svg_num(p->out, tare_plot_x(p, history->spans[i].begin_ns));
		tare_str_add_char(p->out, ' ');
		tare_svg_num(p->out, y);
		tare_str_add(p->out, "V");
		tare_svg_num(p->out, p->top + p->height);
		tare_str_add(p->out, "\"/>\n");
	}
}

static void add_head(const struct tare_plot *p, double y, const char *text, uint64_t hidden)
{
	char count[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str more = { 0 };

	tare_svg_text(p->out,
	              &(struct tare_svg_text){ .x = TARE_PICTURE_LEFT - 6, .y = y + 11, .class = "m", .anchor = "end" },
	              text);
	if (!hidden)
		return;
	tare_str_addf(&more, "and %s more", tare_units_count(count, hidden));
	tare_svg_text(p->out, &(struct tare_svg_text){ .x = TARE_PICTURE_SIDE, .y = y + 11, .class = "m" },
	              tare_str_text(&more));
}

/* Lanes of the spans, -1: none; returns how many lanes there are. */
static int place(const struct tare_memory_history *history, int *lanes, bool *has_marks)
{
	int64_t until[LANES] = { INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN };
	int lane_nr = 0;

	*has_marks = false;
	for (size_t i = 0; i < history->span_nr; i++) {
		lanes[i] = -1;
		if (history->spans[i].is_mark)
			*has_marks = true;
		else
			lanes[i] = lane_of(until, &history->spans[i]);
		if (lane_nr <= lanes[i])
			lane_nr = lanes[i] + 1;
	}
	return lane_nr;
}

static void draw(const struct tare_plot *p, double top, const int *lanes, int lane_nr, bool has_marks)
{
	const struct tare_memory_history *history = p->run->history;
	uint64_t hidden = history->dropped;
	double free_from = 0;
	int drawn = 0;

	add_lines(p, top, lanes);
	for (size_t i = 0; i < history->span_nr; i++) {
		const struct tare_memory_history_span *s = &history->spans[i];

		if (drawn >= BARS_MAX || (!s->is_mark && lanes[i] < 0)) {
			hidden += s->count;
			continue;
		}
		if (s->is_mark)
			add_mark(p, s, top + lane_nr * LANE, &free_from);
		else
			add_bar(p, s, top + lanes[i] * LANE, drawn);
		drawn++;
	}
	if (lane_nr)
		add_head(p, top, "phases", hidden);
	if (has_marks)
		add_head(p, top + lane_nr * LANE, "marks", lane_nr ? 0 : hidden);
}

double tare_picture_phases(const struct tare_plot *p, double top, bool is_drawn)
{
	const struct tare_memory_history *history = p->run->history;
	int *lanes = tare_xcalloc(history->span_nr + 1, sizeof(*lanes)), lane_nr;
	bool has_marks;

	lane_nr = place(history, lanes, &has_marks);
	if (is_drawn && history->span_nr)
		draw(p, top, lanes, lane_nr, has_marks);
	free(lanes);
	return (lane_nr + has_marks) * LANE + (history->span_nr ? 2 : 0);
}

/* ---- out of memory ---- */

static bool is_of(const struct tare_plot *p, const struct tare_oom *o)
{
	return o->device == (p->device ? p->device->index : -1);
}

static void add_oom(const struct tare_plot *p, const struct tare_oom *o, double y, double *free_from)
{
	double x = tare_plot_x(p, o->t_ns), width, at;
	char mib[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str label = { 0 };

	tare_str_addf(&label, "out of memory: %s MiB asked for", tare_units_mib(mib, (int64_t)o->asked));
	tare_str_add(p->out, "<path class=\"oom\" d=\"M");
	tare_svg_num(p->out, x);
	tare_str_add_char(p->out, ' ');
	tare_svg_num(p->out, p->top + p->height);
	tare_str_add(p->out, "V");
	tare_svg_num(p->out, y + 7);
	tare_str_add(p->out, "m-4 -4l8 8m0-8l-8 8\"><title>");
	tare_svg_escape(p->out, tare_str_text(&label));
	tare_str_add(p->out, " at ");
	tare_picture_time(p->out, o->t_ns);
	tare_str_add(p->out, "</title></path>\n");
	width = tare_svg_width(tare_str_text(&label));
	at = x + 8 + width > TARE_PICTURE_EDGE ? x - 8 - width : x + 8;
	if (at >= *free_from) {
		tare_svg_text(p->out, &(struct tare_svg_text){ .x = at, .y = y + 11, .class = "oomt" }, tare_str_text(&label));
		*free_from = at + width + 8;
	}
}

double tare_picture_ooms(const struct tare_plot *p, double top, bool is_drawn)
{
	const struct tare_ledger *l = p->run->ledger;
	double free_from = TARE_PICTURE_LEFT;
	bool is_any = false;

	for (int i = 0; i < l->oom_nr; i++) {
		if (!is_of(p, &l->ooms[i]))
			continue;
		is_any = true;
		if (is_drawn)
			add_oom(p, &l->ooms[i], top, &free_from);
	}
	return is_any ? LANE : 0;
}
