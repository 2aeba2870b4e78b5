/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out how wide a terminal is, and whether it shows UTF-8 and colours. */
#include "cmd/output.h"

#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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

/* COLUMNS, where somebody exported it, is what he wants, for `| less` too. 0: nobody says. */
static long width_of(int fd)
{
	const char *said = set_or_null("COLUMNS");
	struct winsize size;
	char *end;
	long n = said ? strtol(said, &end, 10) : 0;

	if (said && !*end && n > 0)
		return n;
	return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

struct tare_text_style tare_terminal_style(FILE *out)
{
	long width = width_of(fileno(out));
	struct tare_text_style style = { .width = TARE_TEXT_WIDTH,
		                             .is_utf8 = is_utf8(),
		                             .is_colour = tare_print_has_colours(out) };

	if (!width)
		return style;
	style.is_screen = true;
	style.width = width < TARE_TEXT_LEAST ? TARE_TEXT_LEAST : width > TARE_TEXT_MOST ? TARE_TEXT_MOST : (int)width;
	return style;
}

size_t tare_terminal_help_width(void)
{
	struct tare_text_style style = tare_terminal_style(stdout);

	return style.is_screen ? (size_t)style.width : SIZE_MAX;
}

int tare_terminal_write(FILE *out, struct tare_str *text)
{
	if (!is_utf8())
		tare_text_to_ascii(text, 0);
	return tare_print(out, text);
}
