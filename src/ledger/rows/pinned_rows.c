/* SPDX-License-Identifier: Apache-2.0 */
/* What processes have pinned of the host's memory, and at which lines: it is kept with the device's buckets, for it is pinned in a context. */
#include "ledger/rows/rows.h"

#include "base/comparator.h"

#include <string.h>

static void add(struct tare_pinned *sum, const struct tare_amount *a)
{
	sum->bytes += a->bytes;
	sum->count += a->count;
	sum->looked += a->high;
	sum->asked += a->low;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static struct tare_pinned_line *line_of(struct tare_host_ledger *h, const char *line, const char *short_line,
                                        struct tare_arena *memory)
{
	struct tare_pinned_line *all;
	size_t old = (size_t)h->pinned_line_nr;

	for (int i = 0; i < h->pinned_line_nr; i++)
		if (is_same(h->pinned_lines[i].line, line))
			return &h->pinned_lines[i];
	if (!(old & (old + 1))) { /* room for a power of two of them, less one */
		all = tare_arena_alloc(memory, (2 * old + 1) * sizeof(*all));
		if (old)
			memcpy(all, h->pinned_lines, old * sizeof(*all));
		h->pinned_lines = all;
	}
	h->pinned_lines[old] = (struct tare_pinned_line){ .line = line, .short_line = short_line };
	h->pinned_line_nr++;
	return &h->pinned_lines[old];
}

TARE_COMPARATOR(by_bytes, struct tare_pinned_line, TARE_FALLING(of.bytes) TARE_ALPHABETIC(line))

void tare_fold_pinned_rows(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                           struct tare_ledger *out)
{
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &f->buckets[i];
		const struct tare_amount *a = tare_fold_amount(f, b, m);
		struct tare_host_ledger *h;

		if ((b->account != TARE_BUCKET_PINNED && b->account != TARE_BUCKET_REGISTERED &&
		     b->account != TARE_ACCOUNT_HOSTMAP) ||
		    f->processes[b->process]->host_row < 0)
			continue;
		h = &out->hosts[f->processes[b->process]->host_row];
		if (b->account == TARE_ACCOUNT_HOSTMAP) {
			h->pinned_on_card += a->bytes;
			continue;
		}
		*(b->account == TARE_BUCKET_PINNED ? &h->pinned : &h->registered) += (uint64_t)a->bytes;
		if (!a->bytes)
			continue;
		add(&h->pinned_sum, a);
		add(&line_of(h, tare_fold_site_name(f, b->site, true, out->memory),
		             tare_fold_site_name(f, b->site, false, out->memory), out->memory)
		         ->of,
		    a);
	}
	for (int i = 0; i < out->host_nr; i++)
		TARE_SORT(out->hosts[i].pinned_lines, out->hosts[i].pinned_line_nr, by_bytes);
}
