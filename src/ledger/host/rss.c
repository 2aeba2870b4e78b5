/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "host increments": what became resident inside calls, by where they were made. They are few, and
 * belong to no device, so they are kept with their times.
 */
#include "ledger/fold.h"

#include "base/array.h"

#include <stdlib.h>

void tare_fold_rss(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_rss *r = e->rec.rss;
	struct tare_process_fold *p = tare_fold_process(f, e->process);
	const int64_t most = INT64_C(1) << 44;

	if (r->anon > most || r->anon < -most || r->file > most || r->file < -most)
		return; /* damage */
	f->rss = tare_array_reserve(f->rss, &f->rss_cap, f->rss_nr + 1, sizeof(*f->rss));
	f->rss[f->rss_nr++] = (struct tare_rss_change){ .process = e->process->index,
							.site = tare_fold_site(f, p, e),
							.t = e->at_ns,
							.anon = r->anon,
							.file = r->file };
}

static int by_site(const void *a, const void *b)
{
	const struct tare_rss_change *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->site < y->site ? -1 : x->site > y->site;
}

size_t tare_fold_rss_between(const struct tare_fold *f, int64_t after, int64_t until,
			     struct tare_rss_change **out)
{
	size_t count = 0, kept = 0;
	struct tare_rss_change *sums = tare_xcalloc(f->rss_nr + 1, sizeof(*sums));

	*out = sums;
	for (size_t i = 0; i < f->rss_nr; i++)
		if (f->rss[i].t > after && f->rss[i].t <= until)
			sums[count++] = f->rss[i];
	if (!count)
		return 0;
	qsort(sums, count, sizeof(*sums), by_site);
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
