/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the line that says how far a command is. */
#include "base/progress.h"

#include "base/now.h"
#include "base/print.h"
#include "base/units.h"

#include <pthread.h>
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

/* What the thread draws. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t ends;
	pthread_t thread;
	char what[WHAT_MOST + 1];
	int64_t began_ns, said_ns, from_ns; /* from_ns: so long it takes until the line is there */
	int64_t done, total;
	int pass; /* through the same */
	bool is_on, is_shown;
	bool is_parents; /* a parent's thread drew when this process was forked */
} progress = { .lock = PTHREAD_MUTEX_INITIALIZER, .ends = PTHREAD_COND_INITIALIZER };

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

/* "tare: reading (2)  [#######           ]  40 %" */
static void add_line(struct tare_str *out, int64_t now, int columns)
{
	char text[TARE_UNITS_TEXT_MAX];
	bool is_known = progress.total > 0 && now - progress.said_ns < SECOND;
	int left, percent = is_known ? (int)((double)progress.done * 100 / (double)progress.total) : -1;

	tare_str_addf(out, "tare: %s", progress.what);
	if (progress.pass > 1)
		tare_str_addf(out, " (%d)", progress.pass);
	if (percent < 0) {
		tare_str_addf(out, ", %s", tare_units_duration(text, now - progress.began_ns));
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

static void show(int64_t now)
{
	int columns = columns_of_terminal() - 1;
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	if (!progress.is_shown)
		find_free_line(columns + 1);
	add_line(&line, now, columns);
	if (tare_str_columns(tare_str_text(&line)) <= (size_t)columns)
		tare_print_over(stderr, tare_str_text(&line));
	progress.is_shown = true;
}

static void wait_for_end(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += EVERY_NS;
	until.tv_sec += until.tv_nsec / SECOND;
	until.tv_nsec %= SECOND;
	pthread_cond_timedwait(&progress.ends, &progress.lock, &until);
}

static void *draw(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&progress.lock);
	do {
		int64_t now = tare_now_ns(CLOCK_MONOTONIC);

		if (now - progress.began_ns >= progress.from_ns)
			show(now);
		if (progress.is_on)
			wait_for_end();
	} while (progress.is_on);
	pthread_mutex_unlock(&progress.lock);
	return NULL;
}

/* A second; a test, which has no time for it, says less. */
static int64_t from_ns(void)
{
	const char *ms = getenv("TARE_TEST_PROGRESS_MS");

	return ms ? atoll(ms) * (SECOND / 1000) : SECOND;
}

/*
 * A child has no thread, and nothing to say of how far its parent is. Nor does it get a thread of its own: what a thread waits by is as the
 * parent's left it.
 */
static void take_lock(void)
{
	pthread_mutex_lock(&progress.lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&progress.lock);
}

static void be_silent(void)
{
	progress.is_parents |= progress.is_on;
	progress.is_on = progress.is_shown = tare_progress_is_on = false;
	give_lock();
}

/* After print.c did: of handlers that fork calls the last one is the first, and the thread takes its own lock before that of print.c. */
static void hold_lock_while_forking(void)
{
	static bool is_done;

	if (!is_done)
		is_done = !pthread_atfork(take_lock, give_lock, be_silent);
}

void tare_progress_begin(const char *what)
{
	if (progress.is_parents || (!tare_progress_is_on && !tare_progress_has_terminal()))
		return;
	hold_lock_while_forking();
	pthread_mutex_lock(&progress.lock);
	snprintf(progress.what, sizeof(progress.what), "%s", what);
	progress.done = progress.total = 0;
	progress.pass = 1;
	if (!tare_progress_is_on) {
		progress.began_ns = tare_now_ns(CLOCK_MONOTONIC);
		progress.from_ns = from_ns();
		progress.is_on = true;
		tare_progress_is_on = !pthread_create(&progress.thread, NULL, draw, NULL);
		progress.is_on = tare_progress_is_on;
	}
	pthread_mutex_unlock(&progress.lock);
}

void tare_progress_end(void)
{
	if (!tare_progress_is_on)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.is_on = tare_progress_is_on = false;
	pthread_cond_signal(&progress.ends);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.thread, NULL);
	if (progress.is_shown)
		tare_print_over(stderr, "");
	progress.is_shown = false;
}

void tare_progress_say(int64_t done, int64_t total)
{
	pthread_mutex_lock(&progress.lock);
	if (done < progress.done)
		progress.pass++;
	progress.done = done;
	progress.total = total;
	progress.said_ns = tare_now_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&progress.lock);
}
