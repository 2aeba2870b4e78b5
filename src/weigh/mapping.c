/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a process: how much of each of its mappings is here. */
#include "weigh/place.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/now.h"
#include "ledger/ledger.h" /* tare_row_path_add */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS = 10, MOST_NS = 200000000 };

static const int64_t MOST_BYTES = INT64_C(1) << 50;

struct rows {
	struct tare_weigh_process *p;
	struct tare_strmap at; /* path → row */
	struct tare_arena *arena;
	int64_t cut; /* less than what smaps can have cut off, by rounding down to KiB */
};

static struct tare_weigh_row *row_of(struct rows *rows, struct tare_weigh_place place)
{
	struct tare_weigh_process *p = rows->p;
	struct tare_str path = { 0 };
	struct tare_weigh_row *row;
	uint64_t *at;
	bool is_new;

	tare_row_path_add(&path, tare_weigh_kind_names[place.kind]);
	if (place.row)
		tare_row_path_add(&path, place.row);
	at = tare_strmap_put(&rows->at, tare_str_text(&path), &is_new);
	if (is_new) {
		*at = p->count;
		TARE_APPEND(p->rows, p->count, p->cap) = (struct tare_weigh_row){
			.kind = place.kind,
			.path = tare_arena_strdup(rows->arena, tare_str_text(&path)),
			.name = tare_arena_strdup(rows->arena, place.row ? place.row : ""),
			.file = place.file ? tare_arena_strdup(rows->arena, place.file) : NULL,
		};
	}
	tare_str_free(&path);
	row = &p->rows[*at];
	if (!place.file || (row->file && strcmp(row->file, place.file) != 0))
		row->file = NULL;
	return row;
}

/* `bytes`, which are counted in full, in the measure of their mapping's share. */
static uint64_t share_of(const struct tare_smaps_mapping *m, uint64_t bytes)
{
	uint64_t rss = m->bytes[TARE_SMAPS_RSS], pss = m->bytes[TARE_SMAPS_PSS];

	if (bytes >= rss)
		return pss;
	return (uint64_t)((__uint128_t)bytes * pss / rss);
}

/* Takes a part of a mapping out of it, into a row of its own. */
static void split(struct rows *rows, struct tare_smaps_mapping *m, enum tare_weigh_kind kind, enum tare_weigh_kind of,
                  enum tare_smaps_value value)
{
	uint64_t rss = m->bytes[value], pss;
	struct tare_weigh_row *row;

	if (rss > m->bytes[TARE_SMAPS_RSS])
		rss = m->bytes[TARE_SMAPS_RSS];
	if (!rss || rss > m->bytes[TARE_SMAPS_SIZE])
		return;
	pss = share_of(m, rss);
	row = row_of(rows, (struct tare_weigh_place){ kind, tare_weigh_kind_names[of], NULL });
	row->resident += (int64_t)pss;
	row->rss += rss;
	row->mapped += rss;
	row->mappings++;
	m->bytes[TARE_SMAPS_PSS] -= pss;
	m->bytes[TARE_SMAPS_RSS] -= rss;
	m->bytes[TARE_SMAPS_SIZE] -= rss;
}

static void add_kernel_share(struct tare_weigh_process *p, const struct tare_smaps_mapping *m,
                             enum tare_weigh_kind kind)
{
	uint64_t pss = m->bytes[TARE_SMAPS_PSS], anon = share_of(m, m->bytes[TARE_SMAPS_ANONYMOUS]);

	if (!m->bytes[TARE_SMAPS_ANONYMOUS])
		anon = 0;
	p->pss_anon += (int64_t)anon;
	if (kind == TARE_WEIGH_SHARED || kind == TARE_WEIGH_PINNED)
		p->pss_shmem += (int64_t)(pss - anon);
	else
		p->pss_file += (int64_t)(pss - anon);
}

/* False if there is more than any machine has: sums would not fit. */
static bool add_mapping(struct rows *rows, const struct tare_weigh_mappings *all, size_t at)
{
	struct tare_smaps_mapping m = all->items[at];
	struct tare_weigh_place place = tare_weigh_place_of(all, at);
	struct tare_weigh_process *p = rows->p;
	int64_t swap = (int64_t)tare_smaps_swap(&m);
	struct tare_weigh_row *row;

	p->rss += (int64_t)m.bytes[TARE_SMAPS_RSS];
	p->uss += (int64_t)(m.bytes[TARE_SMAPS_PRIVATE_CLEAN] + m.bytes[TARE_SMAPS_PRIVATE_DIRTY]);
	p->anonymous += (int64_t)m.bytes[TARE_SMAPS_ANONYMOUS];
	p->hugetlb += m.bytes[TARE_SMAPS_SHARED_HUGETLB] + m.bytes[TARE_SMAPS_PRIVATE_HUGETLB];
	p->pss += (int64_t)m.bytes[TARE_SMAPS_PSS];
	p->swap += swap;
	add_kernel_share(p, &m, place.kind);
	if (m.bytes[TARE_SMAPS_PRIVATE_CLEAN] + m.bytes[TARE_SMAPS_PRIVATE_DIRTY] < m.bytes[TARE_SMAPS_RSS])
		rows->cut += 1024;
	if (swap && swap < (int64_t)m.bytes[TARE_SMAPS_SWAP])
		rows->cut += 1024;
	if (place.kind == TARE_WEIGH_HEAP || place.kind == TARE_WEIGH_ANONYMOUS) {
		split(rows, &m, TARE_WEIGH_HUGE, place.kind, TARE_SMAPS_HUGE);
		split(rows, &m, TARE_WEIGH_LAZY, place.kind, TARE_SMAPS_LAZY_FREE);
	}
	row = row_of(rows, place);
	row->resident += (int64_t)m.bytes[TARE_SMAPS_PSS] + swap;
	row->swap += swap;
	row->rss += m.bytes[TARE_SMAPS_RSS];
	row->mapped += m.bytes[TARE_SMAPS_SIZE];
	row->mappings++;
	return p->rss <= MOST_BYTES && p->pss <= MOST_BYTES && p->swap <= MOST_BYTES && p->uss <= MOST_BYTES &&
	       p->anonymous <= MOST_BYTES;
}

TARE_COMPARATOR(by_kind_and_size, struct tare_weigh_row,
                TARE_RISING(kind) TARE_FALLING(resident) TARE_FALLING(mapped) TARE_ALPHABETIC(path))

/* What the kernel says of all mappings together is what rows must come to. What they do not, beside rounding. */
static int64_t take_rollup(struct rows *rows, const struct tare_smaps_mapping *sum)
{
	struct tare_weigh_process *p = rows->p;
	int64_t found = p->pss + p->swap, left;

	p->pss = (int64_t)sum->bytes[TARE_SMAPS_PSS];
	p->swap = (int64_t)tare_smaps_swap(sum);
	p->rss = (int64_t)sum->bytes[TARE_SMAPS_RSS];
	p->uss = (int64_t)(sum->bytes[TARE_SMAPS_PRIVATE_CLEAN] + sum->bytes[TARE_SMAPS_PRIVATE_DIRTY]);
	if (tare_smaps_tells(sum, TARE_SMAPS_PSS_ANON)) {
		p->pss_anon = (int64_t)sum->bytes[TARE_SMAPS_PSS_ANON];
		p->pss_file = (int64_t)sum->bytes[TARE_SMAPS_PSS_FILE];
		p->pss_shmem = (int64_t)sum->bytes[TARE_SMAPS_PSS_SHMEM];
	}
	left = p->pss + p->swap - found;
	if (left > 0 && rows->cut) {
		int64_t cut = left < rows->cut ? left : rows->cut;

		row_of(rows, (struct tare_weigh_place){ TARE_WEIGH_ROUNDING, NULL, NULL })->resident = cut;
		left -= cut;
	}
	row_of(rows, (struct tare_weigh_place){ TARE_WEIGH_UNEXPLAINED, NULL, NULL })->resident = left;
	return left;
}

/* One reading; *miss: how far its rows are from the kernel's sum. */
static int read_once(struct tare_weigh_process *p, const char *root, struct tare_arena *arena, int64_t *miss)
{
	struct rows rows = { .p = p, .arena = arena };
	TARE_FREED_BY(tare_weigh_forget) struct tare_weigh_mappings all = { 0 };
	struct tare_smaps_mapping sum;
	int rc = tare_smaps_read(root, p->pid, tare_weigh_keep, &all), rolled;

	*miss = 0;
	rolled = rc ? rc : tare_smaps_rollup(root, p->pid, &sum);
	if (rolled == -ESRCH)
		rc = rolled; /* it ended in between */
	if (rc)
		return rc;
	p->count = 0;
	p->pss = p->swap = p->rss = p->uss = p->pss_anon = p->pss_file = p->pss_shmem = 0;
	p->hugetlb = 0;
	p->anonymous = 0;
	tare_weigh_stacks_find(&all.stacks, root, p->pid);
	for (size_t i = 0; i < all.count && !rc; i++)
		rc = add_mapping(&rows, &all, i) ? 0 : -EINVAL;
	if (!rolled)
		*miss = llabs(take_rollup(&rows, &sum));
	TARE_SORT(p->rows, p->count, by_kind_and_size);
	tare_strmap_free(&rows.at);
	return rc;
}

/* Our own CPU time: the weighed process is not harmed by what others take of the processor. */
/*
 * A program that allocates or forks in between changes what the second file says. So it is read again, but not for
 * long: while a file is read the program waits where it maps memory. The reading that is least off counts.
 */
int tare_weigh_mappings(struct tare_weigh_process *p, const char *root, struct tare_arena *arena)
{
	const struct tare_weigh_process before = *p;
	int64_t start = tare_now_ns(CLOCK_THREAD_CPUTIME_ID), least = INT64_MAX, miss;
	int rc = 0;

	for (int i = 0; i < ATTEMPTS && tare_now_ns(CLOCK_THREAD_CPUTIME_ID) - start < MOST_NS; i++) {
		struct tare_weigh_process now = before;
		int failure = read_once(&now, root, arena, &miss);

		if (failure || miss >= least) {
			free(now.rows);
			rc = least == INT64_MAX ? failure : 0;
			if (failure)
				break;
			continue;
		}
		if (p->rows != before.rows)
			free(p->rows);
		*p = now;
		least = miss;
		if (miss <= (p->pss + p->swap) / 1000)
			break;
	}
	return rc;
}
