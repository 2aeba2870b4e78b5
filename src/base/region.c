/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps lines of a terminal free: the sequences, when they go and come back, and what is put back at the end. */
#include "base/region.h"

#include "base/file.h"
#include "base/now.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SAVE    "\0337"
#define RESTORE "\0338"
/* Colours, a hidden cursor, reports of the mouse, marked pastes; and the other page: left last, with the cursor where it is if there is none. */
#define AFTER_CRASH "\033[0m\033[?25h\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[?2004l" SAVE "\033[?1049l"

/* ---- sequences ---- */

/*
 * Lines down and as many up again, in the same column, make room below a cursor that stands at the bottom. To set a region moves the
 * cursor. Of another size, what was drawn stands somewhere below the cursor.
 */
void tare_region_add_begin(struct tare_str *out, int rows, int lines, bool is_resized)
{
	tare_str_add(out, SAVE "\033[r" RESTORE);
	if (is_resized)
		tare_str_add(out, "\033[J");
	tare_str_add_repeat(out, "\033D", (size_t)lines);
	tare_str_addf(out, "\033[%dA" SAVE "\033[1;%dr" RESTORE, lines, rows - lines);
}

void tare_region_add_end(struct tare_str *out, int rows, int lines)
{
	tare_str_addf(out, SAVE "\033[0m\033[%d;1H\033[J\033[r" RESTORE, rows - lines + 1);
}

/* The region is said again each time: a program may have reset the terminal. */
void tare_region_add_lines(struct tare_str *out, int rows, int lines, const struct tare_str *texts, bool is_marked)
{
	tare_str_addf(out, SAVE "\033[1;%dr", rows - lines);
	for (int i = 0; i < lines; i++)
		tare_str_addf(out, "\033[%d;1H\033[0m%s%s\033[0m\033[K", rows - lines + 1 + i, is_marked ? "\033[7m" : "",
		              tare_str_text(&texts[i]));
	tare_str_add(out, RESTORE);
}

static void send(const struct tare_region *r, const struct tare_str *text)
{
	tare_file_write_all(r->fd, text->data, text->len);
}

/* ---- open ---- */

bool tare_region_is_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

struct tare_region *tare_region_open(struct tare_err *err)
{
	struct tare_region *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (r == MAP_FAILED) {
		tare_err_set_errno(err, errno, "lines at the bottom of the terminal");
		return NULL;
	}
	r->fd = open("/proc/self/fd/2", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (r->fd < 0) /* somebody else's, as after su */
		r->fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	if (r->fd < 0 || tcgetattr(r->fd, &r->before) != 0) {
		tare_err_set_errno(err, errno, "the terminal cannot be opened");
		tare_region_free(r);
		return NULL;
	}
	r->why = TARE_REGION_BEHIND;
	r->since_ns = tare_now_ns(CLOCK_MONOTONIC);
	return r;
}

void tare_region_free(struct tare_region *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	munmap(r, sizeof(*r));
}

/* ---- the size ---- */

static bool is_same(const struct winsize *a, const struct winsize *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/*
 * A terminal that becomes just as high as it says that it is would not be noticed; the height in pixels, which nobody needs to the pixel, tells
 * the two apart.
 */
static struct winsize less_high(struct winsize size, int lines)
{
	unsigned rows = size.ws_row;

	size.ws_row = (unsigned short)(rows - (unsigned)lines);
	size.ws_ypixel = (unsigned short)((unsigned)size.ws_ypixel / rows * size.ws_row + 1);
	return size;
}

/* True: it is another one than before. */
static bool read_size(struct tare_region *r)
{
	struct winsize size = { 0 }, *known = r->lines ? &r->said : &r->real;

	if (ioctl(r->fd, TIOCGWINSZ, &size) != 0 || is_same(&size, known))
		return false;
	r->real = size;
	return true;
}

/* What somebody else has said meanwhile is right. */
static void say_real_size(const struct tare_region *r)
{
	struct winsize size;

	if (ioctl(r->fd, TIOCGWINSZ, &size) == 0 && is_same(&size, &r->said))
		(void)ioctl(r->fd, TIOCSWINSZ, &r->real);
}

/* ---- on and off ---- */

static void keep_free(struct tare_region *r, int lines, bool is_resized)
{
	TARE_FREED_BY(tare_str_free) struct tare_str out = { 0 };

	tare_region_add_begin(&out, r->real.ws_row, lines, is_resized);
	r->lines = lines;
	r->said = less_high(r->real, lines);
	send(r, &out);
	(void)ioctl(r->fd, TIOCSWINSZ, &r->said);
}

static void put_away(struct tare_region *r)
{
	TARE_FREED_BY(tare_str_free) struct tare_str out = { 0 };

	if (!r->lines)
		return;
	tare_region_add_end(&out, r->real.ws_row, r->lines);
	send(r, &out);
	say_real_size(r);
	r->lines = 0;
}

/* A terminal that is not the one of our session has no jobs. */
static bool is_ours(const struct tare_region *r, pid_t leader)
{
	pid_t front = tcgetpgrp(r->fd);

	return front < 0 || front == getpgrp() || (leader > 0 && front == getpgid(leader));
}

static enum tare_region_why why_not(const struct tare_region *r, pid_t leader, bool is_stopped)
{
	struct termios now;

	if (is_stopped)
		return TARE_REGION_STOPPED;
	if (!is_ours(r, leader))
		return TARE_REGION_BEHIND;
	if (tcgetattr(r->fd, &now) != 0 || !(now.c_lflag & ICANON))
		return TARE_REGION_TAKEN;
	if (r->real.ws_row < TARE_REGION_ROWS_LEAST || r->real.ws_col < TARE_REGION_COLUMNS_LEAST)
		return TARE_REGION_SMALL;
	return TARE_REGION_SHOWN;
}

static void note(struct tare_region *r, enum tare_region_why why)
{
	int64_t now = tare_now_ns(CLOCK_MONOTONIC);

	r->away_ns[r->why] += now - r->since_ns;
	r->since_ns = now;
	r->why = why;
}

bool tare_region_turn(struct tare_region *r, pid_t leader, bool is_stopped)
{
	bool is_resized = read_size(r);
	enum tare_region_why why = why_not(r, leader, is_stopped);

	note(r, why);
	if (why != TARE_REGION_SHOWN)
		put_away(r);
	else if (!r->lines || is_resized)
		keep_free(r, r->real.ws_row < TARE_REGION_HIGH ? 1 : TARE_REGION_LINES, r->lines > 0);
	return r->lines > 0;
}

void tare_region_show(const struct tare_region *r, const struct tare_str *lines, bool is_marked)
{
	TARE_FREED_BY(tare_str_free) struct tare_str out = { 0 };

	tare_region_add_lines(&out, r->real.ws_row, r->lines, lines, is_marked);
	send(r, &out);
}

/* A page that the program had for itself hides the lines that were drawn on the other one: they stand below the cursor. */
void tare_region_end(struct tare_region *r, bool is_crash)
{
	TARE_FREED_BY(tare_str_free) struct tare_str out = { 0 };
	struct termios now;
	bool is_taken = r->why == TARE_REGION_TAKEN;

	note(r, TARE_REGION_SHOWN);
	read_size(r);
	put_away(r);
	if (!is_ours(r, 0))
		return;
	if (is_crash)
		tare_str_add(&out, AFTER_CRASH);
	if (is_taken)
		tare_str_add(&out, "\033[J");
	if (tcgetattr(r->fd, &now) == 0 && memcmp(&now, &r->before, sizeof(now)) != 0)
		tcsetattr(r->fd, TCSANOW, &r->before);
	if (out.len)
		send(r, &out);
}
