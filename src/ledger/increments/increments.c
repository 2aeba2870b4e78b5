/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "host increments": what became resident inside calls, by where they were made. They are few, and
 * belong to no device, so they are kept with their times.
 */
#include "ledger/increments/increments.h"

#include "base/array.h"
#include "base/comparator.h"

void tare_increments_event(struct tare_increments_part *t, struct tare_fold *f, struct tare_device_fold *d,
                           const struct tare_event *e)
{
	const struct tare_rec_rss *r = e->rec.rss;
	struct tare_process_fold *p = tare_fold_process(f, e->process);

	(void)d;
	TARE_APPEND(t->items, t->count, t->cap) = (struct tare_rss_change){
		.process = e->process->index, .site = tare_fold_site(f, p, e), .t = e->at_ns, .anon = r->anon, .file = r->file
	};
}

TARE_COMPARATOR(by_site, struct tare_rss_change, TARE_RISING(process) TARE_RISING(site))

size_t tare_increments_until(const struct tare_increments_part *t, int64_t until, struct tare_rss_change **out)
{
	size_t count = 0, kept = 0;
	struct tare_rss_change *sums = tare_xcalloc(t->count + 1, sizeof(*sums));

	*out = sums;
	for (size_t i = 0; i < t->count; i++)
		if (t->items[i].t <= until)
			sums[count++] = t->items[i];
	if (!count)
		return 0;
	TARE_SORT(sums, count, by_site);
	for (size_t i = 1; i < count; i++) {
		if (by_site(&sums[kept], &sums[i])) {
			sums[++kept] = sums[i];
			continue;
		}
		sums[kept].anon += sums[i].anon;
		sums[kept].file += sums[i].file;
	}
	return kept + 1;
}

/* Checks that changes are in order of time. */
const char *tare_increments_check(const struct tare_increments_part *p, const struct tare_fold *f)
{
	(void)f;
	return p->count > 1 && p->items[p->count - 2].t > p->items[p->count - 1].t ? "host increments are out of order"
	                                                                           : NULL;
}
