/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "host increments": what became resident inside calls, by where they were made. They are few, and
 * belong to no device, so they are kept with their times.
 */
#include "ledger/fold.h"

#include "base/array.h"
#include "ledger/checkpoint_private.h"

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

static void tell_rss_between(struct checkpoint *c, int64_t after, int64_t until, int64_t t)
{
	struct tare_rss_change *sums;
	size_t n = tare_fold_rss_between(c->f, after, until, &sums);

	for (size_t i = 0; i < n; i++) {
		const struct tare_process *process = c->f->processes[sums[i].process]->process;
		struct tare_rec_rss *r =
			&tare_checkpoint_add(c, TARE_KIND_RSS, process, NULL, t)->rss;

		r->anon = sums[i].anon;
		r->file = sums[i].file;
		tare_checkpoint_site(c, sums[i].site, &r->python, &r->stack);
	}
	free(sums);
}

/* The first peak of any device behind a moment, and where its group stands; false: there is none. */
static bool next_peak(const struct checkpoint *c, int64_t after, int64_t *mark, int64_t *told)
{
	bool is_any = false;

	*mark = INT64_MAX;
	*told = c->cut;
	for (int i = 0; i < c->f->device_nr; i++) {
		const struct tare_device_fold *d = c->f->devices[i];

		for (int m = 0; d && m < TARE_MARK_NR; m++) {
			if (!tare_mark_is_peak(m) || !d->is_marked[m] || d->mark_ns[m] <= after ||
			    d->mark_ns[m] >= *mark)
				continue;
			is_any = true;
			*mark = d->mark_ns[m];
			*told = c->told_at[i * TARE_MARK_NR + m];
		}
	}
	return is_any;
}

/* Host increments have their sums at every peak. */
void tare_checkpoint_rss(struct checkpoint *c)
{
	int64_t after = INT64_MIN, mark, told;

	for (; next_peak(c, after, &mark, &told); after = mark)
		tell_rss_between(c, after, mark, told - AT_WITNESS * US);
	tell_rss_between(c, after, c->cut, c->cut);
}
