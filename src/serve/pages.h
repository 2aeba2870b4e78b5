/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of recordings, as `tare report REC --html -` writes them. A process of its own makes each, one at a time: what a recording costs,
 * or breaks, is not the server's. What was made is kept, so much of it.
 */
#ifndef TARE_SERVE_PAGES_H
#define TARE_SERVE_PAGES_H

#include "base/str.h"
#include "serve/table.h"

#include <stdbool.h>
#include <stdint.h>

enum { TARE_PAGES_KEPT = 64 };

struct tare_page_kept {
	dev_t device; /* whose it is */
	ino_t inode;
	bool is_of_ended; /* then it stays as it is */
	unsigned status;  /* 200; 500: there is none, and `text` says so */
	struct tare_str text;
	int64_t made_ns, cost_ns; /* on the monotonic clock */
	uint64_t used;            /* when it was asked for last, by number */
};

struct tare_pages {
	bool is_confidential;
	struct tare_page_kept kept[TARE_PAGES_KEPT];
	size_t count;
	uint64_t asked;
	struct { /* the one that is being made; pid 0: none */
		pid_t pid;
		int fd; /* its output */
		struct tare_page_kept page;
		bool is_too_large;
	} job;
};

/* The page, if there is one that is new enough. Good until the next call of tare_pages_turn(). */
const struct tare_page_kept *tare_pages_get(struct tare_pages *p, const struct tare_serve_entry *e);
/* Begins to make it; false: another one is being made. */
bool tare_pages_begin(struct tare_pages *p, const struct tare_serve_entry *e);
/* Takes what the process wrote, and ends one that takes too long. True: the job is done, and kept. */
bool tare_pages_turn(struct tare_pages *p);
void tare_pages_free(struct tare_pages *p);

#endif
