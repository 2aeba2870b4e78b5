/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only way to standard output and standard error (tools/check-layers.sh holds everybody to it). Whatever the
 * text is made of, what comes out is valid UTF-8 without a character that steers a terminal, hides or reorders
 * others: lines, tabs, and on a terminal with colours Tare's own tones. A caller need not think of it; what
 * it must think of is that a name in a table or a sentence has no lines (base/text.h).
 */
#ifndef TARE_BASE_PRINT_H
#define TARE_BASE_PRINT_H

#include "base/str.h"

#include <stdbool.h>
#include <stdio.h>

enum tare_text_tone { TARE_TONE_PLAIN, TARE_TONE_STRONG, TARE_TONE_QUIET, TARE_TONE_ALARM };

/* How a text may look where it goes to. */
struct tare_text_style {
	int width;      /* columns */
	bool is_screen; /* nothing may be wider, as far as that goes */
	bool is_utf8;   /* else everything is plain ASCII */
	bool is_colour;
};

enum {
	TARE_TEXT_WIDTH = 80,  /* where nothing better is known */
	TARE_TEXT_LEAST = 40,  /* of a screen: what is narrower wraps by itself … */
	TARE_TEXT_MOST = 200,  /* … and what is wider has room to spare */
	TARE_TEXT_PROSE = 110, /* sentences that are longer are hard to read */
};

/* TEXT in a tone: with escapes where the style has colours. */
void tare_text_tone(struct tare_str *out, const char *text, enum tare_text_tone tone,
                    const struct tare_text_style *style);

/* What ends any tone. */
extern const char tare_print_tone_end[];

/* `out` is a terminal that shows colours, and NO_COLOR is not set. */
bool tare_print_has_colours(FILE *out);

/*
 * Prints and flushes; 0 or a negative errno. To standard error each line is one write(2): what several ranks print
 * at once into one pipe is then mixed line by line and not within lines.
 */
int tare_print(FILE *out, const struct tare_str *text);

/* Prints "tare: ", a sentence without a line end in it, and the end of the line, to standard error. */
void tare_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Replaces the line of the cursor on a terminal by this line; "" clears it, and so does whatever else is printed. */
void tare_print_over(FILE *out, const char *line);
/* So many blanks in the line of the cursor, which stands at the begin of a line then (base/progress.c). */
void tare_print_blanks(FILE *out, size_t count);

#endif
