/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the tree of `tare top` as lines of a screen. */
#include "top/draw.h"

#include "base/part.h"
#include "base/text.h"
#include "base/units.h"
#include "base/width.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Lines that are not rows: two above, one below. */
enum { HEAD_LINES = 2, FOOT_LINES = 1, HELP_COLUMNS = 68 };

struct layout {
	size_t label, course, bytes, share, steps, evidence; /* columns; 0: not shown */
};

static bool has_steps(const struct tare_top_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->rows[i].steps)
			return true;
	return false;
}

/* What a narrow screen has no room for is left out, the least needed first. */
static struct layout layout_of(size_t width, const struct tare_top_tree *tree)
{
	struct layout l = { .bytes = width < 50 ? 10 : 11 };

	l.evidence = width >= 60 ? 12 : 0;
	l.steps = width >= 72 && has_steps(tree) ? 9 : 0;
	l.course = width >= 240 ? 100 : width >= 160 ? 60 : width >= 110 ? 30 : width >= 80 ? 9 : 0;
	l.share = width >= 100 ? 8 : 0;
	l.label = width - l.bytes - l.share - l.steps - l.evidence - (l.course ? l.course + 1 : 0);
	return l;
}

/* ---- a row ---- */

static const struct tare_top_row *gpu_of(const struct tare_top_tree *tree, const struct tare_top_row *row)
{
	while (row->parent >= 0)
		row = &tree->rows[row->parent];
	return row;
}

static void add_label(struct tare_str *out, const struct tare_top_row *row, bool is_open, bool is_selected,
                      size_t columns)
{
	struct tare_str label = { 0 };
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_add(&label, is_selected ? ">" : " ");
	tare_str_add_repeat(&label, "  ", (size_t)row->level);
	tare_str_add(&label, !row->has_children ? "  " : is_open ? "▾ " : "▸ ");
	tare_str_add(&label, row->label);
	if (row->kind == TARE_TOP_GPU && row->total >= 0)
		tare_str_addf(&label, " · of %s", tare_units_count(text, (uint64_t)row->total >> 20));
	if (row->kind == TARE_TOP_PROCESS && row->follow)
		tare_str_addf(&label, " · %s", row->follow->label);
	tare_width_add(out, tare_str_text(&label), columns, false);
	tare_str_free(&label);
}

static void add_share(struct tare_str *out, const struct tare_top_tree *tree, const struct tare_top_row *row,
                      size_t columns)
{
	const struct tare_top_row *gpu = gpu_of(tree, row);
	struct tare_str text = { 0 };

	if (row->is_known && gpu->total > 0)
		tare_part_add(&text, (double)row->bytes / (double)gpu->total);
	tare_width_add(out, tare_str_text(&text), columns, true);
	tare_str_free(&text);
}

static void add_row(struct tare_str *out, const struct tare_top_tree *tree, const struct tare_top_row *row,
                    const struct tare_top_view *view, const struct layout *l)
{
	char text[TARE_UNITS_TEXT_MAX] = "";

	add_label(out, row, tare_top_is_open(view, row), view->selected == row->key, l->label);
	if (l->course) {
		if (row->course)
			tare_top_course_show(row->course, l->course, out);
		else
			tare_str_add_repeat(out, " ", l->course);
		tare_str_add_char(out, ' ');
	}
	tare_width_add(out,
	               row->is_known                 ? tare_units_mib(text, row->bytes)
	               : row->kind == TARE_TOP_LINES ? ""
	                                             : "–",
	               l->bytes, true);
	if (l->share)
		add_share(out, tree, row, l->share);
	if (l->steps) {
		text[0] = '\0';
		tare_width_add(out, row->steps ? tare_units_count(text, row->steps) : "", l->steps, true);
	}
	if (l->evidence) {
		tare_str_add_char(out, ' ');
		tare_width_add(out, row->evidence, l->evidence - 1, false);
	}
}

static enum tare_text_tone tone_of(const struct tare_top_row *row, const struct tare_top_view *view)
{
	if (view->selected == row->key || row->level == 0)
		return TARE_TONE_STRONG;
	if (row->kind == TARE_TOP_LINE || row->kind == TARE_TOP_LINES || row->kind == TARE_TOP_FREE ||
	    row->kind == TARE_TOP_LISTED || row->kind == TARE_TOP_RESERVED)
		return TARE_TONE_QUIET;
	return TARE_TONE_PLAIN;
}

/* ---- head and foot ---- */

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* The recording that is least far; 0: all are shown as they are now. */
static int64_t behind_of(const struct tare_finder *found)
{
	int64_t most = 0;

	for (size_t i = 0; i < found->count; i++)
		most = found->items[i]->behind_ns > most ? found->items[i]->behind_ns : most;
	return most;
}

static void add_title(const struct tare_top_picture *p, const struct tare_top_view *view, struct tare_str *out)
{
	time_t now = (time_t)(p->realtime_ns / 1000000000);
	char text[TARE_UNITS_TEXT_MAX], clock[16] = "";
	struct tm local;
	size_t gpus = 0;

	for (size_t i = 0; i < p->tree->count; i++)
		gpus += p->tree->rows[i].kind == TARE_TOP_GPU && p->tree->rows[i].gpu >= 0; /* the heap has none */
	if (localtime_r(&now, &local))
		strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	tare_str_addf(out, "tare top%s · %s · %zu GPU%s · %zu process%s, %zu recorded", view->is_paused ? " · PAUSED" : "",
	              clock, gpus, plural(gpus), p->tree->process_nr, p->tree->process_nr == 1 ? "" : "es",
	              p->tree->recorded_nr);
	if (behind_of(p->found) > 0)
		tare_str_addf(out, " · %.1f s behind", (double)behind_of(p->found) / 1e9);
	if (view->interval_ns)
		tare_str_addf(out, " · every %s", tare_units_duration(text, view->interval_ns));
	if (view->filter.len)
		tare_str_addf(out, " · only \"%s\"", tare_str_text(&view->filter));
	tare_str_addf(out, " · %s", p->machine->host);
}

static void add_heads(const struct layout *l, struct tare_str *out)
{
	struct tare_str course = { 0 };

	tare_width_add(out, "   GPU, PROCESS, WHAT FOR", l->label, false);
	if (l->course) {
		tare_width_add(&course, l->course >= 30 ? "THE LAST 5 MINUTES" : "5 MIN", l->course, false);
		tare_str_addf(out, "%s ", tare_str_text(&course));
		tare_str_free(&course);
	}
	tare_width_add(out, "MiB", l->bytes, true);
	if (l->share)
		tare_width_add(out, "OF CARD", l->share, true);
	if (l->steps)
		tare_width_add(out, "STEPS", l->steps, true);
	if (l->evidence)
		tare_width_add(out, " EVIDENCE", l->evidence, false);
}

static void add_keys(const struct tare_top_view *view, struct tare_str *out)
{
	static const char *const sorts[] = { "size", "name", "pid" };

	if (view->is_typing)
		tare_str_addf(out, "filter: %s_  (Enter: take it, Esc: none)", tare_str_text(&view->filter));
	else
		tare_str_addf(out, "q quit  ? help  s sort: %s  / filter  p %s  Enter open, close", sorts[view->sort],
		              view->is_paused ? "go on" : "pause");
}

/* What there is to say besides the rows: why there are none, what cannot be read. */
static void add_notes(const struct tare_top_picture *p, struct tare_str *out)
{
	if (!p->machine->nvml && p->machine->failure.code)
		tare_str_addf(out, "no GPU is seen here: %s\n", p->machine->failure.text);
	if (!p->found->count)
		tare_str_add(out, "no program is being recorded: tare run -- CMD in another "
		                  "terminal\n");
	for (size_t i = 0; i < p->found->count; i++)
		if (p->found->items[i]->failure.code)
			tare_str_addf(out, "%s cannot be read: %s\n", p->found->items[i]->label, p->found->items[i]->failure.text);
}

static const char *const help[] = {
	"tare top: memory of the GPUs of this machine, and what it is for",
	"",
	"  q, Ctrl-C       quit            ?, h      this help, and back",
	"  up, down, k, j  choose a row    PgUp, PgDn, Home, End",
	"  Enter, space    open or close   left, right: close, open",
	"  a               open or close all programs",
	"  s               sort by size, name, pid",
	"  /               filter processes by name, pid or recording",
	"  p               pause           r         read all now",
	"  +, -            refresh less or more often",
	"",
	"A GPU shows what nvidia-smi shows: the sum of the processes below it",
	"and of what is in none, which is `unexplained`. A program that Tare",
	"records has what its ledger says; others what NVML lists.",
};

/* The keys alone, for a screen of 40 columns and 10 lines. */
static const char *const short_help[] = {
	"keys of tare top",
	"q quit         ? this help, and back",
	"up, down, PgUp, PgDn, Home, End: choose",
	"Enter, left, right: open or close",
	"a open or close all programs",
	"s sort by size, name, pid",
	"/ filter by name, pid or recording",
	"p pause        r read all now",
	"+, - refresh less or more often",
};

/* ---- pages ---- */

static void finish(struct tare_str *line, const char *text, enum tare_text_tone tone,
                   const struct tare_text_style *style)
{
	struct tare_str plain = { 0 };

	tare_width_add(&plain, text, (size_t)style->width, false);
	while (plain.len && plain.data[plain.len - 1] == ' ')
		tare_str_cut(&plain, plain.len - 1);
	if (!style->is_utf8)
		tare_text_to_ascii(&plain, 0);
	tare_text_tone(line, tare_str_text(&plain), tone, style);
	tare_str_free(&plain);
}

static void draw_help(const struct tare_text_style *style, struct tare_str *lines, size_t nr)
{
	bool is_short = style->width < HELP_COLUMNS || nr < sizeof(help) / sizeof(help[0]);
	const char *const *texts = is_short ? short_help : help;
	size_t count = is_short ? sizeof(short_help) / sizeof(short_help[0]) : sizeof(help) / sizeof(help[0]);

	for (size_t i = 0; i < count && i < nr; i++)
		finish(&lines[i], texts[i], i ? TARE_TONE_PLAIN : TARE_TONE_STRONG, style);
}

/* Which row is selected; the first, if that which was is gone. */
static size_t follow_selected(const struct tare_top_tree *tree, struct tare_top_view *view, const size_t *visible,
                              size_t count, size_t room)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++)
		if (tree->rows[visible[i]].key == view->selected)
			at = i;
	view->selected = count ? tree->rows[visible[at]].key : 0;
	if (view->top > at)
		view->top = at;
	if (room && at >= view->top + room)
		view->top = at - room + 1;
	if (view->top + room > count)
		view->top = count > room ? count - room : 0;
	return at;
}

static void draw_notes(const struct tare_top_picture *p, const struct tare_text_style *style, struct tare_str *lines,
                       size_t from, size_t until)
{
	struct tare_str notes = { 0 };
	char *save = NULL;

	add_notes(p, &notes);
	for (char *note = notes.len ? strtok_r(notes.data, "\n", &save) : NULL; note && from < until;
	     note = strtok_r(NULL, "\n", &save))
		finish(&lines[from++], note, TARE_TONE_ALARM, style);
	tare_str_free(&notes);
}

void tare_top_draw(const struct tare_top_picture *p, struct tare_top_view *view, const struct tare_text_style *style,
                   struct tare_str *lines, size_t nr)
{
	struct layout l = layout_of((size_t)style->width, p->tree);
	size_t count, room = nr > HEAD_LINES + FOOT_LINES ? nr - HEAD_LINES - FOOT_LINES : 0;
	struct tare_str text = { 0 };
	size_t *visible;

	for (size_t i = 0; i < nr; i++)
		tare_str_cut(&lines[i], 0);
	if (style->width < TARE_TOP_COLUMNS_LEAST || nr < TARE_TOP_LINES_LEAST) {
		if (nr)
			finish(&lines[0], "40 columns, 10 lines at least; q quits", TARE_TONE_PLAIN, style);
		return;
	}
	if (view->is_help) {
		draw_help(style, lines, nr);
		return;
	}
	visible = tare_top_visible(p->tree, view, &count);
	follow_selected(p->tree, view, visible, count, room);
	add_title(p, view, &text);
	finish(&lines[0], tare_str_text(&text), TARE_TONE_STRONG, style);
	tare_str_cut(&text, 0);
	add_heads(&l, &text);
	finish(&lines[1], tare_str_text(&text), TARE_TONE_QUIET, style);
	for (size_t i = 0; i < room && view->top + i < count; i++) {
		const struct tare_top_row *row = &p->tree->rows[visible[view->top + i]];

		tare_str_cut(&text, 0);
		add_row(&text, p->tree, row, view, &l);
		finish(&lines[HEAD_LINES + i], tare_str_text(&text), tone_of(row, view), style);
	}
	if (count - view->top < room)
		draw_notes(p, style, lines, HEAD_LINES + (count - view->top), nr - FOOT_LINES);
	tare_str_cut(&text, 0);
	add_keys(view, &text);
	finish(&lines[nr - 1], tare_str_text(&text), TARE_TONE_QUIET, style);
	tare_str_free(&text);
	free(visible);
}

void tare_top_print(const struct tare_top_picture *p, const struct tare_top_view *view,
                    const struct tare_text_style *style, struct tare_str *out)
{
	struct layout l = layout_of((size_t)style->width, p->tree);
	struct tare_str text = { 0 };
	size_t count, *visible = tare_top_visible(p->tree, view, &count);

	add_title(p, view, &text);
	finish(out, tare_str_text(&text), TARE_TONE_STRONG, style);
	tare_str_add_char(out, '\n');
	if (count) {
		tare_str_cut(&text, 0);
		add_heads(&l, &text);
		finish(out, tare_str_text(&text), TARE_TONE_QUIET, style);
		tare_str_add_char(out, '\n');
	}
	for (size_t i = 0; i < count; i++) {
		const struct tare_top_row *row = &p->tree->rows[visible[i]];

		tare_str_cut(&text, 0);
		add_row(&text, p->tree, row, view, &l);
		finish(out, tare_str_text(&text), tone_of(row, view), style);
		tare_str_add_char(out, '\n');
	}
	add_notes(p, out);
	tare_str_free(&text);
	free(visible);
}
