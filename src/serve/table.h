/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recordings that are served, by names. What a client asks for is looked up here and never becomes part of a path.
 */
#ifndef TARE_SERVE_TABLE_H
#define TARE_SERVE_TABLE_H

#include "serve/ended.h"
#include "top/find.h"

enum { TARE_SERVE_MOST = 500 };

struct tare_serve_entry {
	char *name; /* plain text, another for each entry */
	char *path;
	dev_t device;
	ino_t inode;
	const struct tare_follow *follow; /* while it is written; else NULL */
	struct tare_serve_ended ended;    /* once it is not */
	bool is_read;                     /* `ended` is, or could not be */
	bool is_seen;                     /* in this turn */
};

struct tare_serve_table {
	struct tare_serve_entry **entries; /* by name */
	size_t count, cap;
	size_t left_out; /* recordings that there was no place for */
};

/* Puts those in that are followed, and those that lie in `folders` and ended; what is gone goes. */
void tare_serve_table_turn(struct tare_serve_table *t, const struct tare_finder *found,
                           const struct tare_operands *folders);
const struct tare_serve_entry *tare_serve_table_find(const struct tare_serve_table *t, const char *name);
/* The name of a recording that is followed; "": it has none. */
const char *tare_serve_table_name(const struct tare_serve_table *t, const struct tare_follow *f);
/* "live", "ended", "unreadable", "waiting" (to be read). */
const char *tare_serve_entry_state(const struct tare_serve_entry *e);
void tare_serve_table_free(struct tare_serve_table *t);

#endif
