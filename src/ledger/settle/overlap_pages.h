/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a cluster on the pages that they share, and by how much the readings differ from them: overlap_pages.c. */
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

#endif
