/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "pages": the driver takes device memory in whole pages (2 MiB) of address space, and a page
 * is held as long as one live allocation touches it. A page that an allocation covers whole cannot
 * be shared, so only the pages at its two edges are counted in a map, however large it is.
 */
#include "ledger/core/fold.h"

#include "base/sat.h"

struct span {
	uint64_t first, last;             /* pages */
	bool is_first_edge, is_last_edge; /* touched in part; last only if it is another page */
};

static struct span span_of(const struct tare_fold *f, uint64_t at, uint64_t size)
{
	uint64_t page = (uint64_t)f->page, end = at + size;
	struct span s = { .first = at / page, .last = (end - 1) / page };

	s.is_first_edge = at % page || (s.first == s.last && end % page);
	s.is_last_edge = s.first != s.last && end % page;
	return s;
}

static bool is_first_touch(struct tare_process_on_device *p, uint64_t page)
{
	return ++*tare_map_put(&p->pages, page, NULL) == 1;
}

static bool is_last_touch(struct tare_process_on_device *p, uint64_t page)
{
	uint64_t *touches = tare_map_get(&p->pages, page);

	if (!touches || --*touches)
		return false;
	tare_map_remove(&p->pages, page, NULL);
	return true;
}

static int64_t change(struct tare_fold *f, struct tare_process_on_device *p, uint64_t at, uint64_t size,
                      bool (*edge)(struct tare_process_on_device *p, uint64_t page))
{
	struct span s;
	int64_t pages;

	if (!size)
		return 0;
	s = span_of(f, at, size);
	pages = (int64_t)(s.last - s.first) + 1;
	if (s.is_first_edge && !edge(p, s.first))
		pages--;
	if (s.is_last_edge && !edge(p, s.last))
		pages--;
	return tare_sat_mul(pages, f->page);
}

int64_t tare_fold_pages_add(struct tare_fold *f, struct tare_process_on_device *p, uint64_t at, uint64_t size)
{
	return change(f, p, at, size, is_first_touch);
}

int64_t tare_fold_pages_remove(struct tare_fold *f, struct tare_process_on_device *p, uint64_t at, uint64_t size)
{
	return -change(f, p, at, size, is_last_touch);
}
