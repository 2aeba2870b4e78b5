/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the line that says how far a command is. */
#include "base/progress.h"

#include "base/print.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
	COLUMNS_MOST = 80,
	BAR_LEAST = 8, /* a shorter one says nothing */
	WHAT_MOST = 60,
};
#define SECOND   INT64_C(1000000000)
#define EVERY_NS (SECOND / 10)

bool tare_progress_is_on;
unsigned tare_progress_calls;

static struct {
	char what[WHAT_MOST + 1];
	int64_t began_ns, shown_ns;
	int64_t done;
	int pass; /* through the same */
	bool is_shown;
} progress;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static int columns_of_terminal(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col || size.ws_col > COLUMNS_MOST)
		return COLUMNS_MOST;
	return size.ws_col;
}

bool tare_progress_has_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

void tare_progress_begin(const char *what)
{
	if (!tare_progress_is_on) {
		if (!tare_progress_has_terminal())
			return;
		progress.began_ns = now_ns();
	}
	snprintf(progress.what, sizeof(progress.what), "%s", what);
	progress.done = 0;
	progress.pass = 1;
	tare_progress_is_on = true;
}

void tare_progress_end(void)
{
	if (progress.is_shown)
		tare_print_over(stderr, "");
	progress.is_shown = tare_progress_is_on = false;
}

/* "tare: reading (2)  [#######           ]  40 %" */
static void add_line(struct tare_str *out, int64_t done, int64_t total, int columns)
{
	char text[TARE_UNITS_TEXT_MAX];
	int left, percent = total > 0 ? (int)((double)done * 100 / (double)total) : -1;

	tare_str_addf(out, "tare: %s", progress.what);
	if (progress.pass > 1)
		tare_str_addf(out, " (%d)", progress.pass);
	if (percent < 0) {
		tare_str_addf(out, ", %s", tare_units_duration(text, now_ns() - progress.began_ns));
		return;
	}
	percent = percent > 100 ? 100 : percent;
	left = columns - (int)tare_str_columns(tare_str_text(out)) - (int)strlen("  [] 100 %");
	if (left >= BAR_LEAST) {
		int full = left * percent / 100;

		tare_str_add(out, "  [");
		tare_str_add_repeat(out, "#", (size_t)full);
		tare_str_add_repeat(out, " ", (size_t)(left - full));
		tare_str_add(out, "]");
	}
	tare_str_addf(out, " %3d %%", percent);
}

/*
 * The cursor may be anywhere: behind what a program wrote without ending the line. As many blanks as the line is wide take it to the next line
 * unless it stands at the begin of one.
 */
static void find_free_line(int columns)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		columns = size.ws_col;
	tare_print_blanks(stderr, (size_t)columns);
}

void tare_progress_show(int64_t done, int64_t total)
{
	int64_t now = now_ns();
	struct tare_str line = { 0 };
	int columns;

	if (done < progress.done)
		progress.pass++;
	progress.done = done;
	if (now - progress.began_ns < SECOND || now - progress.shown_ns < EVERY_NS)
		return;
	columns = columns_of_terminal() - 1;
	if (!progress.is_shown)
		find_free_line(columns + 1);
	add_line(&line, done, total, columns);
	if (tare_str_columns(tare_str_text(&line)) <= (size_t)columns)
		tare_print_over(stderr, tare_str_text(&line));
	progress.is_shown = true;
	progress.shown_ns = now;
	tare_str_free(&line);
}
