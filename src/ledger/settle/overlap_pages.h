/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a cluster on the pages that they share, and by how much the readings differ from them: overlap_pages.c, overlap_together.c. */
#ifndef TARE_LEDGER_OVERLAP_PAGES_H
#define TARE_LEDGER_OVERLAP_PAGES_H

#include "ledger/settle/overlap.h"

/* A call that takes or gives back a part of a page. */
struct tare_touch {
	uint64_t page;
	int process;
	int64_t t;
	size_t step;
	uint64_t count; /* how many allocations touch the page before it */
};

struct tare_paging {
	const struct tare_overlap *o;
	struct tare_made *made;
	struct tare_touch *touches;
	size_t touch_nr;
	int64_t *changes; /* of each call: what it takes */
	int64_t *most;    /* and what it can take or give back at most, in whatever order the calls were made */
	/* of each point: how much more the counter says there than the calls that were made before it, as they are stamped */
	int64_t *off;
};

struct tare_move {
	size_t before; /* the touch that the call goes before */
	int64_t stamp, worse;
};

/* Lists the touches and what the readings say, as the calls are stamped now. */
void tare_paging_look(struct tare_paging *p);
/* Puts every call where the readings fit better, each alone, until none does or it was tried some times. */
void tare_paging_put_all(struct tare_paging *p);
/*
 * The place of a call that is `nth` behind its own among those of its page, towards earlier ones, and from which time on it fits best there.
 * False: there is none.
 */
bool tare_paging_place(const struct tare_paging *p, size_t own, size_t nth, struct tare_move *out);
void tare_paging_move(struct tare_paging *p, size_t own, const struct tare_move *m);

/* overlap_together.c: where all that fit no better alone are late at once. */
void tare_paging_try_together(struct tare_paging *p);

#endif
