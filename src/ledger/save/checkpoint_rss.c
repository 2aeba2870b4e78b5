/* SPDX-License-Identifier: Apache-2.0 */
/* Host increments in a checkpoint: their sums at every peak. */
#include "ledger/save/checkpoint_private.h"

#include <stdlib.h>

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
