/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *set_or_null(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

/*
 * The variables rather than setlocale(): Tare's numbers must look the same everywhere, and a bare
 * container often lacks the locale that its variables name.
 */
static bool is_utf8(void)
{
	const char *locale = set_or_null("LC_ALL");

	locale = locale ? locale : set_or_null("LC_CTYPE");
	locale = locale ? locale : set_or_null("LANG");
	return locale && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

static int width_of(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < TARE_TEXT_WIDTH)
		return TARE_TEXT_WIDTH;
	return size.ws_col;
}

struct tare_text_style tare_terminal_style(FILE *out)
{
	const char *term = set_or_null("TERM");
	bool is_terminal = isatty(fileno(out));

	return (struct tare_text_style){
		.width = is_terminal ? width_of(fileno(out)) : TARE_TEXT_WIDTH,
		.is_utf8 = is_utf8(),
		.is_colour = is_terminal && !set_or_null("NO_COLOR") && term &&
			     strcmp(term, "dumb") != 0,
	};
}

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

int tare_terminal_lines(FILE *out, const char *text)
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

void tare_terminal_write(FILE *out, struct tare_str *text)
{
	struct tare_str clean = { 0 };

	/* Names from a recording must not be able to steer the terminal. */
	for (char *line = text->data; line && *line; line += strlen(line) + 1) {
		char *end = strchrnul(line, '\n');
		bool is_last = !*end;

		*end = '\0';
		tare_text_add_name(&clean, line);
		tare_str_add(&clean, is_last ? "" : "\n");
		if (is_last)
			break;
	}
	if (!is_utf8())
		tare_text_to_ascii(&clean, 0);
	fputs(tare_str_text(&clean), out);
	tare_str_free(&clean);
}
