/* SPDX-License-Identifier: Apache-2.0 */
/* `tare top`: the loop of its screen: draws what a thread reads, obeys keys. */
#include "base/now.h"
#include "base/screen.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/output.h"
#include "top/data.h"
#include "top/reader.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MOST = 500 };
#define SECOND         INT64_C(1000000000)
#define READ_NS        (SECOND / 4) /* after so long the screen is drawn, whatever is still being read */
#define INTERVAL_LEAST (SECOND / 10)

struct options {
	struct tare_operands folders;
	int64_t interval;
	bool once;
	const char *filter;
	int sort;
	struct tare_format_options format;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, folders, "dir", 'd', LIST, "DIR",
	         "also show recordings in this folder, which may be of other containers or machines; again for more "
	         "folders"),
	TARE_OPT(options, interval, "interval", 'n', DURATION, "TIME", "time between two looks, such as 500ms or 5s (1s)"),
	TARE_OPT(options, once, "once", '1', FLAG, NULL,
	         "print the screen once, as text, and end; the default where the output is no terminal"),
	TARE_OPT(options, filter, "filter", 0, STRING, "TEXT",
	         "only processes that have TEXT in their name, pid or recording"),
	TARE_OPT(options, sort, "sort", 's', CHOICE, "size|name|pid", "processes of a GPU in this order"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_top = {
	.name = "top",
	.operands = "[REC|DIR…]",
	.synopsis = "watch the GPUs of this machine, and what their memory is for",
	.description =
		"A screen of the GPUs and of the processes on them, as nvidia-smi counts them. Below a program that Tare "
		"records (tare run, tare record, here or in a container) stands its ledger of now, with the lines that asked "
		"for most, its steps and the last five minutes. Rows add up to the row above them, and those of a GPU to what "
		"nvidia-smi shows: what is in no process that can be seen is `unexplained`, which is always shown.\n\n"
		"Recordings are found by the processes that are in them, those of other containers too if you may see their "
		"files, and in the folders of --dir. With REC or DIR only those recordings are shown. A recording is read "
		"only when something was recorded; the program is not asked and not disturbed.\n\n"
		"Keys: q quit, ? help, arrows and PgUp, PgDn choose, Enter opens and closes, a opens and closes all programs, "
		"s sorts, / filters, p pauses, r reads everything now, + and - change how often. The screen needs 40 columns "
		"and 10 lines. NO_COLOR is respected.\n\n"
		"Where the output is no terminal, or a dumb one, the screen is printed once, as text.",
	.examples = "tare top\n"
				"tare top train.tare\n"
				"tare top --dir /shared/recordings\n"
				"tare top --once\n"
				"tare top --json",
	TARE_OPTIONS(opts, struct options, .interval = SECOND, .format = TARE_FORMAT_DEFAULTS),
	.max_operands = SIZE_MAX,
	.run = tare_cmd_top,
};

struct top {
	const struct options *o;
	struct tare_finder found;       /* whose recordings are shown */
	struct tare_top_reader *reader; /* who reads them for a screen */
	struct tare_top_machine machine;
	struct tare_top_tree tree;
	struct tare_top_view view;
	struct tare_str lines[LINES_MOST];
	bool is_asked; /* by a key to look, also where it is paused */
	int64_t realtime_ns;
};

static struct tare_top_picture picture_of(const struct top *t)
{
	return (struct tare_top_picture){ &t->tree, &t->machine, &t->found, t->realtime_ns };
}

static void build(struct top *t)
{
	const struct tare_top_wish wish = { t->view.sort, tare_str_text(&t->view.filter) };

	tare_top_tree_build(&t->tree, &t->found, &t->machine, &wish, tare_now_ns(CLOCK_MONOTONIC));
}

/* What the GPUs say beside what is known of the recordings. */
static void look(struct top *t)
{
	t->realtime_ns = tare_now_ns(CLOCK_REALTIME);
	tare_top_machine_turn(&t->machine, &t->found, tare_now_ns(CLOCK_MONOTONIC));
	build(t);
}

static int draw(struct top *t)
{
	struct tare_text_style style = tare_terminal_style(stdout);
	struct tare_top_picture p = picture_of(t);
	size_t columns, nr;

	tare_screen_size(&columns, &nr);
	nr = nr < LINES_MOST ? nr : LINES_MOST;
	style.width = (int)columns;
	tare_top_draw(&p, &t->view, &style, t->lines, nr);
	for (size_t i = 0; i < LINES_MOST; i++) /* those that the screen has */
		tare_screen_line(i, &t->lines[i]);
	return tare_screen_show();
}

/* What was read by now; false: the terminal is gone. */
static bool refresh(struct top *t)
{
	tare_top_reader_take(t->reader, &t->found);
	look(t);
	return draw(t) == 0;
}

/* What a key changes is drawn at once; false: it is to end. */
static bool obey(struct top *t, int key)
{
	size_t columns, lines;

	tare_screen_size(&columns, &lines);
	if (key == TARE_KEY_GONE || (key != TARE_KEY_RESIZE && !tare_top_key(&t->view, &t->tree, key, lines)))
		return false;
	t->is_asked |= key == 'r' && !t->view.is_typing;
	build(t);
	return draw(t) == 0;
}

/* Obeys keys for so long, or until all was read. False: it is to end. */
static bool wait_for_reading(struct top *t, int64_t ns)
{
	int64_t due = tare_now_ns(CLOCK_MONOTONIC) + ns;

	for (;;) {
		int64_t left = due - tare_now_ns(CLOCK_MONOTONIC);
		int key;

		if (left <= 0)
			return true;
		key = tare_screen_key((int)(left / 1000000) + 1);
		if (key == TARE_KEY_CALLED)
			return true;
		if (key != TARE_KEY_NONE && !obey(t, key))
			return false;
	}
}

/* Obeys keys until the next look is due. What was read meanwhile is shown. False: it is to end. */
static bool wait_for_look(struct top *t)
{
	int64_t begin = tare_now_ns(CLOCK_MONOTONIC);

	for (;;) {
		int64_t left = begin + t->view.interval_ns - tare_now_ns(CLOCK_MONOTONIC);
		int key;

		if (t->is_asked || (left <= 0 && !t->view.is_paused))
			return true;
		key = tare_screen_key(left > 0 ? (int)(left / 1000000) + 1 : 1000);
		if (key == TARE_KEY_NONE || (key == TARE_KEY_CALLED && t->view.is_paused))
			continue;
		if (!(key == TARE_KEY_CALLED ? refresh(t) : obey(t, key)))
			return false;
	}
}

/* Once: what was recorded since the last look. False: it is to end. */
static bool turn(struct top *t)
{
	bool is_all = t->is_asked;

	t->is_asked = false;
	tare_top_reader_go(t->reader, is_all);
	if (!wait_for_reading(t, READ_NS))
		return false;
	return (t->view.is_paused && !is_all) || refresh(t);
}

/* What asked it to end ends it as it would have without a screen, once that is put away. */
static int run_screen(struct top *t, struct tare_err *err)
{
	int rc = tare_screen_open(err), signal;

	if (rc)
		return rc;
	t->reader = tare_top_reader_begin(&t->found, tare_screen_call, err);
	if (t->reader && refresh(t)) /* at first what is known before anything was read */
		while (turn(t) && wait_for_look(t))
			;
	signal = tare_screen_signal();
	tare_screen_close();
	if (signal)
		raise(signal);
	if (!t->reader)
		return err->code;
	tare_top_reader_end(t->reader);
	return 0;
}

static void print_once(struct top *t, struct tare_cmd_call *c)
{
	struct tare_text_style style = tare_terminal_style(stdout);
	struct tare_top_picture p;
	struct tare_emit e;

	tare_find_turn(&t->found);
	for (size_t i = 0; i < t->found.count; i++)
		tare_follow_turn(t->found.items[i], tare_now_ns(CLOCK_MONOTONIC), true);
	look(t);
	p = picture_of(t);
	if (c->format == TARE_EMIT_TEXT) {
		t->view.interval_ns = 0;
		style.width = style.is_screen ? style.width : 100;
		tare_top_print(&p, &t->view, &style, &c->out);
	} else {
		tare_emit_begin(&e, c->format, &c->out);
		tare_top_data(&e, &p);
		tare_emit_end(&e);
	}
}

static int check(const struct options *o, const struct tare_operands *rest, struct tare_err *err)
{
	const struct tare_operands *list = rest->count ? rest : &o->folders;

	if (o->interval < INTERVAL_LEAST)
		return tare_err_set(err, TARE_E_USAGE, "top: --interval is 100ms at least");
	if (rest->count && o->folders.count)
		return tare_err_set(err, TARE_E_USAGE,
		                    "top: --dir adds recordings to those of this machine; with REC or DIR "
		                    "there are only those: name all of them there");
	for (size_t i = 0; i < list->count; i++)
		if (!tare_find_is_folder(list->items[i]))
			return tare_err_set(err, TARE_E_USAGE,
			                    "top: %s: there is no such folder; it takes one that "
			                    "has recordings, or a recording",
			                    list->items[i]);
	return 0;
}

static void discard(struct top *t)
{
	tare_top_view_free(&t->view);
	tare_top_tree_free(&t->tree);
	tare_top_machine_free(&t->machine);
	tare_finder_free(&t->found);
	for (size_t i = 0; i < LINES_MOST; i++)
		tare_str_free(&t->lines[i]);
	free(t);
}

int tare_cmd_top(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	struct tare_operands *rest = &c->rest;
	int rc = check(o, rest, err);
	struct top *t;

	if (rc)
		return rc;
	t = tare_xcalloc(1, sizeof(*t));
	t->found.folders = rest->count ? rest : &o->folders;
	t->found.is_only_folders = rest->count > 0;
	t->found.is_brief = true;
	t->view.interval_ns = o->interval;
	t->view.sort = (enum tare_top_sort)o->sort;
	tare_str_add(&t->view.filter, o->filter ? o->filter : "");
	if (c->format == TARE_EMIT_TEXT && !o->once && tare_screen_is_there())
		rc = run_screen(t, err);
	else
		print_once(t, c);
	discard(t);
	return rc;
}
