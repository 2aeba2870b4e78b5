/* SPDX-License-Identifier: Apache-2.0 */
/* Writes clean text to standard output and standard error; nothing else does. */
#include "base/print.h"

#include "base/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char tare_print_tone_end[] = "\033[0m";

/* What begins a tone, "" for the plain one. */
static const char *print_tone(enum tare_text_tone tone)
{
	static const char *const tones[] = {
		[TARE_TONE_PLAIN] = "",
		[TARE_TONE_STRONG] = "\033[1m",
		[TARE_TONE_QUIET] = "\033[2m",
		[TARE_TONE_ALARM] = "\033[33m",
	};

	return tones[tone];
}

void tare_text_tone(struct tare_str *out, const char *text, enum tare_text_tone tone,
                    const struct tare_text_style *style)
{
	const char *start = style->is_colour ? print_tone(tone) : "";

	tare_str_add(out, start);
	tare_str_add(out, text);
	tare_str_add(out, *start ? tare_print_tone_end : "");
}

bool tare_print_has_colours(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(out)) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

/* The length of the tone that begins or ends at p, or 0. */
static size_t tone_at(const char *p)
{
	for (int tone = TARE_TONE_STRONG; tone <= TARE_TONE_ALARM; tone++)
		if (!strncmp(p, print_tone(tone), strlen(print_tone(tone))))
			return strlen(print_tone(tone));
	return strncmp(p, tare_print_tone_end, strlen(tare_print_tone_end)) ? 0 : strlen(tare_print_tone_end);
}

static void add_clean(struct tare_str *clean, const struct tare_str *text, bool has_colours)
{
	const char *p = tare_str_text(text), *end = p + text->len;

	while (p < end) {
		const char *escape = memchr(p, '\033', (size_t)(end - p));
		size_t tone = escape && has_colours ? tone_at(escape) : 0;

		tare_text_add_lines(clean, p, (size_t)((escape ? escape + !tone : end) - p));
		if (tone)
			tare_str_add_n(clean, escape, tone);
		p = escape ? escape + (tone ? tone : 1) : end;
	}
}

/*
 * The thread that draws how far a command is prints, too. Who forks while it does would have a lock in the child that nobody opens.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void hold_lock_while_forking(void)
{
	pthread_atfork(take_lock, give_lock, give_lock);
}

/* A line that changes in place is there, on the terminal of standard error. */
static bool has_line;

static void clear_line(void);

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_lines(FILE *out, const char *text)
{
	int rc = fflush(out) ? -errno : 0;

	while (*text && !rc) {
		const char *end = strchrnul(text, '\n');

		end += *end == '\n';
		rc = write_all(fileno(out), text, (size_t)(end - text));
		text = end;
	}
	return rc;
}

int tare_print(FILE *out, const struct tare_str *text)
{
	TARE_FREED_BY(tare_str_free) struct tare_str clean = { 0 };
	int rc = 0;

	take_lock();
	clear_line();
	add_clean(&clean, text, tare_print_has_colours(out));
	if (out == stderr)
		rc = write_lines(out, tare_str_text(&clean));
	else if (fwrite(tare_str_text(&clean), 1, clean.len, out) != clean.len || fflush(out) != 0)
		rc = errno ? -errno : -EIO;
	give_lock();
	return rc;
}

void tare_say(const char *fmt, ...)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 }, line = { 0 };
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(&text, fmt, ap);
	va_end(ap);
	tare_str_add(&line, "tare: ");
	tare_text_add_name(&line, tare_str_text(&text));
	tare_str_add_char(&line, '\n');
	take_lock();
	clear_line();
	write_all(STDERR_FILENO, tare_str_text(&line), line.len);
	give_lock();
}

static void print_over(FILE *out, const char *line)
{
	struct tare_str text = { 0 };

	tare_str_add(&text, "\r\033[K");
	tare_text_add_name(&text, line);
	write_all(fileno(out), tare_str_text(&text), text.len);
	tare_str_free(&text);
	has_line = *line != '\0';
}

static void clear_line(void)
{
	if (has_line)
		print_over(stderr, "");
}

void tare_print_over(FILE *out, const char *line)
{
	take_lock();
	print_over(out, line);
	give_lock();
}

void tare_print_blanks(FILE *out, size_t count)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	tare_str_add_repeat(&text, " ", count);
	tare_str_add(&text, "\r");
	write_all(fileno(out), tare_str_text(&text), text.len);
}
