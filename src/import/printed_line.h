/* SPDX-License-Identifier: Apache-2.0 */
/* One line of a log in which a program printed what is in use: "precon: used: 1204.5 MiB, diff: 24 MiB". */
#ifndef TARE_IMPORT_PRINTED_LINE_H
#define TARE_IMPORT_PRINTED_LINE_H

#include "import/import.h"

#include <stdbool.h>
#include <stdint.h>

enum tare_printed_what {
	TARE_PRINTED_TEXT,      /* anything else */
	TARE_PRINTED_FIGURES,   /* at least one of `used` and `diff` */
	TARE_PRINTED_UNREADABLE /* it says `used:` or `diff:`, and no figure that can be */
};

/* A figure as it was printed. */
struct tare_printed_figure {
	bool is_there;
	double number;
	double unit;     /* bytes; 0: none was printed */
	bool is_decimal; /* the unit is one of KB, MB, GB, TB, which many print of figures divided by 1024 */
};

struct tare_printed_line {
	struct tare_printed_figure used, diff, total;
	int device;      /* "GPU 1", "cuda:1"; -1: it does not say */
	bool has_time;   /* in front of it */
	int64_t time_ns; /* since 1970, or since midnight where only the time of day stands there */
	char label[256]; /* what stands before the figures, or, where nothing does, behind them; "": nothing */
};

/* `line` may be anything. What is TEXT has a label all the same: the next figures may be of it. */
enum tare_printed_what tare_printed_line(const char *line, struct tare_printed_line *out);

/*
 * Its bytes, rounded. Where the units do not say otherwise, a figure without one is bytes if it is whole and at least
 * 10,000,000, else MiB.
 */
int64_t tare_printed_bytes(const struct tare_printed_figure *figure, const struct tare_import_units *units);

#endif
