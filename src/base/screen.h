/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal as a screen of lines: the only file that steers one. termios and the few sequences of ECMA-48 that every terminal of
 * today knows; no library, for what is installed here is to run on any machine with glibc 2.27 (docs/TOP.md).
 *
 * The terminal is as it was before, whatever ends the program: exit(), a signal that can be caught, a crash, a stop by Ctrl-Z. Lines
 * never wrap, so nothing scrolls.
 */
#ifndef TARE_BASE_SCREEN_H
#define TARE_BASE_SCREEN_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum tare_key {
	TARE_KEY_NONE = 0, /* the time is over */
	/* 1 to 255: a byte that was typed */
	TARE_KEY_UP = 256,
	TARE_KEY_DOWN,
	TARE_KEY_LEFT,
	TARE_KEY_RIGHT,
	TARE_KEY_PAGE_UP,
	TARE_KEY_PAGE_DOWN,
	TARE_KEY_HOME,
	TARE_KEY_END,
	TARE_KEY_ESCAPE,
	TARE_KEY_OTHER,  /* a key that has no name here */
	TARE_KEY_RESIZE, /* the screen has another size, or has to be drawn anew */
	TARE_KEY_CALLED, /* by tare_screen_call() */
	TARE_KEY_GONE,   /* the terminal is gone, or a signal asks to end: tare_screen_signal() */
};

/* Whether a screen can be had: input and output are terminals, and not "dumb" ones. */
bool tare_screen_is_there(void);

/* There is one at a time. */
int tare_screen_open(struct tare_err *err);
void tare_screen_close(void); /* without an open one does nothing */

void tare_screen_size(size_t *columns, size_t *lines);
int tare_screen_key(int wait_ms);
/* Whoever waits for a key, or does next, gets TARE_KEY_CALLED: once for many calls. The only one that another thread may call. */
void tare_screen_call(void);
int tare_screen_signal(void); /* 0: none */

/*
 * Line `number` from now on, from 0. `text` fits into the screen's columns, has been through tare_width_add() or is a caller's
 * own words, and may have tones (base/print.h). Only what changed is written, by tare_screen_show().
 */
void tare_screen_line(size_t number, const struct tare_str *text);
/* 0, or a negative errno: the terminal is gone. */
int tare_screen_show(void);

#endif
