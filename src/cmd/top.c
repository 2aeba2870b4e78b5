/* SPDX-License-Identifier: Apache-2.0 */
/* `tare top`: the loop of its screen: reads, draws, obeys keys. */
#include "base/screen.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/terminal.h"
#include "cmd/write_file.h"
#include "top/data.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINES_MOST = 500 };
#define SECOND  INT64_C(1000000000)
#define FIND_NS (2 * SECOND) /* how often recordings are looked for */
#define FOLLOW_NS                                                                                                      \
	(SECOND / 4) /* after so long the screen is drawn, and the other recordings are read at the next look */
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
	.opts = opts,
	.max_operands = SIZE_MAX,
	.run = tare_cmd_top,
};

struct top {
	const struct options *o;
	struct tare_finder found;
	struct tare_top_machine machine;
	struct tare_top_tree tree;
	struct tare_top_view view;
	struct tare_str lines[LINES_MOST];
	int64_t found_ns; /* when recordings were looked for */
	size_t next;      /* of them, whose turn it is to be read */
	int64_t realtime_ns;
};

static int64_t clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static struct tare_top_picture picture_of(const struct top *t)
{
	return (struct tare_top_picture){ &t->tree, &t->machine, &t->found, t->realtime_ns };
}

static void build(struct top *t)
{
	const struct tare_top_wish wish = { t->view.sort, tare_str_text(&t->view.filter) };

	tare_top_tree_build(&t->tree, &t->found, &t->machine, &wish, clock_of(CLOCK_MONOTONIC));
}

/* What is quick to look at: which recordings there are, and what the GPUs say. */
static void look(struct top *t)
{
	int64_t now = clock_of(CLOCK_MONOTONIC);

	if (!t->found_ns || now - t->found_ns >= FIND_NS) {
		tare_find_turn(&t->found);
		t->found_ns = now;
	}
	t->realtime_ns = clock_of(CLOCK_REALTIME);
	tare_top_machine_turn(&t->machine, &t->found, now);
}

/* Reads what was recorded since. Recordings that take long take turns, so that no screen waits for all of them. */
static void follow(struct top *t, bool is_once)
{
	int64_t now = clock_of(CLOCK_MONOTONIC);

	for (size_t i = 0; i < t->found.count; i++) {
		tare_follow_turn(t->found.items[t->next++ % t->found.count], now, is_once);
		if (!is_once && clock_of(CLOCK_MONOTONIC) - now > FOLLOW_NS)
			return;
	}
}

static void refresh(struct top *t, bool is_once)
{
	look(t);
	follow(t, is_once);
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

static void read_again(struct top *t)
{
	t->found_ns = 0;
	for (size_t i = 0; i < t->found.count; i++)
		t->found.items[i]->read_ns = 0;
}

/* Keys until the next look is due; false: it is to end. */
static bool wait_and_obey(struct top *t)
{
	int64_t due = clock_of(CLOCK_MONOTONIC) + t->view.interval_ns;

	for (;;) {
		int64_t left = due - clock_of(CLOCK_MONOTONIC);
		size_t columns, lines;
		int key;

		if (left <= 0 && !t->view.is_paused)
			return true;
		key = tare_screen_key(left > 0 ? (int)(left / 1000000) + 1 : 1000);
		if (key == TARE_KEY_NONE)
			continue;
		tare_screen_size(&columns, &lines);
		if (key == TARE_KEY_GONE || (key != TARE_KEY_RESIZE && !tare_top_key(&t->view, &t->tree, key, lines)))
			return false;
		if (key == 'r' && !t->view.is_typing) {
			read_again(t);
			return true;
		}
		build(t);
		if (draw(t) != 0)
			return false;
	}
}

/* What asked it to end ends it as it would have without a screen, once that is put away. */
static int run_screen(struct top *t, struct tare_err *err)
{
	int rc = tare_screen_open(err), signal;

	if (rc)
		return rc;
	look(t);
	build(t);
	if (draw(t) == 0) /* at first what is known before anything was read */
		do {
			refresh(t, false);
		} while (draw(t) == 0 && wait_and_obey(t));
	signal = tare_screen_signal();
	tare_screen_close();
	if (signal)
		raise(signal);
	return 0;
}

static int print_once(struct top *t, enum tare_emit_format format, struct tare_err *err)
{
	struct tare_text_style style = tare_terminal_style(stdout);
	struct tare_top_picture p;
	struct tare_str out = { 0 };
	struct tare_emit e;
	int rc;

	refresh(t, true);
	p = picture_of(t);
	if (format == TARE_EMIT_TEXT) {
		t->view.interval_ns = 0;
		style.width = style.is_screen ? style.width : 100;
		tare_top_print(&p, &t->view, &style, &out);
	} else {
		tare_emit_begin(&e, format, &out);
		tare_top_data(&e, &p);
		tare_emit_end(&e);
	}
	rc = tare_cmd_write_file("-", &out, err);
	tare_str_free(&out);
	return rc;
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

int tare_cmd_top(int argc, char **argv)
{
	struct options o = { .interval = SECOND, .format = TARE_FORMAT_DEFAULTS };
	struct tare_operands rest = { 0 };
	enum tare_emit_format format;
	struct tare_err err = { 0 };
	int code = tare_cmd_parse(&tare_command_top, argc, argv, &o, &rest), rc;
	struct top *t;

	if (code >= 0)
		return code;
	t = tare_xcalloc(1, sizeof(*t));
	t->o = &o;
	rc = tare_format_choose(&o.format, "top", &format, &err);
	if (!rc)
		rc = check(&o, &rest, &err);
	t->found.folders = rest.count ? &rest : &o.folders;
	t->found.is_only_folders = rest.count > 0;
	t->found.is_brief = true;
	t->view.interval_ns = o.interval;
	t->view.sort = (enum tare_top_sort)o.sort;
	tare_str_add(&t->view.filter, o.filter ? o.filter : "");
	if (!rc && format == TARE_EMIT_TEXT && !o.once && tare_screen_is_there())
		rc = run_screen(t, &err);
	else if (!rc)
		rc = print_once(t, format, &err);
	discard(t);
	tare_operands_free(&o.folders);
	tare_operands_free(&rest);
	return rc ? tare_cmd_fail(&err) : TARE_EXIT_OK;
}
