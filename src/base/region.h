/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last lines of a terminal that a program goes on using: the rest of it scrolls above them (a scroll region, as apt has one), and the
 * terminal says that it is so many lines less high. Nothing stands between the program and its terminal, so what the program
 * writes is not seen here: that it has the screen for itself is known by the settings of the terminal.
 *
 * Two processes share one, in memory that both map: the one that draws, and the one that started it and puts the terminal back should it be killed.
 */
#ifndef TARE_BASE_REGION_H
#define TARE_BASE_REGION_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>

enum {
	TARE_REGION_LINES = 2,         /* of a terminal that is high enough */
	TARE_REGION_HIGH = 20,         /* rows from which a terminal is high: two lines are kept free; else one */
	TARE_REGION_ROWS_LEAST = 11,   /* of a terminal: with fewer nothing is drawn, … */
	TARE_REGION_COLUMNS_LEAST = 40 /* … nor is it with fewer columns */
};

/* Why there are no lines now. */
enum tare_region_why {
	TARE_REGION_SHOWN,
	TARE_REGION_SMALL,   /* the terminal is */
	TARE_REGION_TAKEN,   /* the program reads keys one by one: it has the screen for itself, or edits a line */
	TARE_REGION_BEHIND,  /* the terminal is another job's */
	TARE_REGION_STOPPED, /* the program is */
	TARE_REGION_WHY_NR
};

struct tare_region {
	int fd; /* of our own, so that how the program opened the terminal stays as it is */
	struct termios before;
	struct winsize real, said; /* what the terminal has, and what it says that it has while there are lines */
	int lines;                 /* kept free now; 0: none */
	enum tare_region_why why;
	int64_t since_ns, away_ns[TARE_REGION_WHY_NR];
};

/* Is standard error a terminal that understands this? */
bool tare_region_is_possible(void);
/* NULL: there can be none. */
struct tare_region *tare_region_open(struct tare_err *err);
void tare_region_free(struct tare_region *r);

/*
 * Keeps lines free, or puts them away, as the terminal is now. `leader`: a process of the program, in whose group or ours the terminal must be.
 * True: there are lines.
 */
bool tare_region_turn(struct tare_region *r, pid_t leader, bool is_stopped);
/* The lines, each no wider than the terminal less one column; `is_marked`: so that they stand out. */
void tare_region_show(const struct tare_region *r, const struct tare_str *lines, bool is_marked);
/* Puts all back as it was; `is_crash`: and what a program turns off itself unless it is killed. */
void tare_region_end(struct tare_region *r, bool is_crash);

/* What does it, for tests. */
void tare_region_add_begin(struct tare_str *out, int rows, int lines, bool is_resized);
void tare_region_add_end(struct tare_str *out, int rows, int lines);
void tare_region_add_lines(struct tare_str *out, int rows, int lines, const struct tare_str *texts, bool is_marked);

#endif
