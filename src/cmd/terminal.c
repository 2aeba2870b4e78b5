/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/terminal.h"

#include "base/text.h"

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

static int width_of(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < TARE_TEXT_WIDTH)
		return TARE_TEXT_WIDTH;
	return size.ws_col;
}

struct tare_text_style tare_terminal_style(FILE *out)
{
	return (struct tare_text_style){
		.width = isatty(fileno(out)) ? width_of(fileno(out)) : TARE_TEXT_WIDTH,
		.is_utf8 = is_utf8(),
		.is_colour = tare_print_has_colours(out),
	};
}

int tare_terminal_write(FILE *out, struct tare_str *text)
{
	if (!is_utf8())
		tare_text_to_ascii(text, 0);
	return tare_print(out, text);
}
