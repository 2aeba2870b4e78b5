/* SPDX-License-Identifier: Apache-2.0 */
/* Every world of the ledger's tests as a picture would show it: does it say what the ledger says? */
#include "ledger_world.h"
#include "ledger/category.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { ASKED = 12 };

static int64_t sum_of(const struct tare_memory_history_panel *p, const struct tare_memory_history_point *at)
{
	int64_t sum = 0;

	for (int i = 0; i < p->band_nr; i++)
		sum += at->bytes[i];
	return sum;
}

static int64_t band(const struct tare_memory_history_panel *p, const struct tare_memory_history_point *at,
                    const char *key)
{
	for (int i = 0; i < p->band_nr; i++)
		if (!strcmp(p->bands[i].key, key))
			return at->bytes[i];
	return 0;
}

/* Allocations and mapped memory hold PyTorch's segments, which a picture shows by what is in them. */
static bool is_subdivided(int account)
{
	return account == TARE_ACCOUNT_ALLOCATION || account == TARE_ACCOUNT_VMM;
}

/* Of allocations and mapped memory, what stands in the rows that PyTorch's pool is cut into. */
static int64_t rows_of_pool(const struct tare_device_ledger *d, const char *part)
{
	int64_t sum = 0;

	for (int i = 0; i < d->row_nr; i++) {
		const char *last = strrchr(d->rows[i].path, '/');

		if (is_subdivided(d->rows[i].account) && last && !strcmp(last + 1, part))
			sum += d->rows[i].bytes;
	}
	return sum;
}

static int64_t rows(const struct tare_device_ledger *d, const char *account)
{
	int64_t sum = 0;

	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].leaf && !strcmp(tare_accounts[d->rows[i].account].key, account))
			sum += d->rows[i].bytes;
	return sum;
}

static void check_point(const struct tare_memory_history_panel *p, const struct tare_memory_history_point *at,
                        const struct tare_device_ledger *d)
{
	static const char *const pool[] = { "allocations", "vmm", "tensors", "partly", "held", "cached" };
	enum { FIRST_OF_POOL = 2 };
	int64_t cut = 0;

	printf("# %lld ns\n", (long long)at->t_ns);
	CHECK_INT(at->used, (int64_t)d->used);
	CHECK_INT(band(p, at, "unexplained"), d->unexplained);
	for (int a = 1 + TARE_ACCOUNT_NONE; a < TARE_ACCOUNT_NR; a++)
		if (!is_subdivided(a) && *tare_accounts[a].key)
			CHECK_INT(band(p, at, tare_accounts[a].key), rows(d, tare_accounts[a].key));
	for (size_t i = 0; i < sizeof(pool) / sizeof(pool[0]); i++)
		cut += band(p, at, pool[i]);
	for (size_t i = FIRST_OF_POOL; i < sizeof(pool) / sizeof(pool[0]); i++)
		CHECK_INT(band(p, at, pool[i]), rows_of_pool(d, pool[i]));
	CHECK_INT(cut, rows(d, "allocations") + rows(d, "vmm"));
}

/* Nothing else was kept of its column: it held all along. */
static bool is_alone(const struct tare_memory_history *s, const struct tare_memory_history_panel *p, size_t i)
{
	int64_t width = (s->end_ns - s->from_ns) / TARE_HISTORY_COLUMNS + 1;
	int64_t column = (p->points[i].t_ns - s->from_ns) / width;

	return (i == 0 || (p->points[i - 1].t_ns - s->from_ns) / width != column) &&
	       (i + 1 == p->point_nr || (p->points[i + 1].t_ns - s->from_ns) / width != column);
}

struct instants {
	const struct tare_memory_history_point *points[ASKED];
	char text[ASKED][40];
	const char *at[ASKED];
	int n;
};

/* Moments all over the recording. */
static void choose(struct instants *out, const struct tare_memory_history *s, const struct tare_memory_history_panel *p)
{
	out->n = 0;
	for (size_t i = 0; i < p->point_nr && out->n < ASKED; i += 1 + p->point_nr / ASKED) {
		if (!is_alone(s, p, i))
			continue;
		out->points[out->n] = &p->points[i];
		snprintf(out->text[out->n], sizeof(out->text[out->n]), "%lldns", (long long)p->points[i].t_ns);
		out->at[out->n] = out->text[out->n];
		out->n++;
	}
}

/* Not where a better source moved the books after that (rule "sources"). */
static void check_instants(struct world *w, const struct tare_memory_history *s,
                           const struct tare_memory_history_panel *p, uint64_t used_start)
{
	struct tare_ledger ledgers[ASKED];
	struct instants at;

	choose(&at, s, p);
	world_build(w, NULL, at.at, at.n, ledgers);
	for (int i = 0; i < at.n; i++) {
		const struct tare_device_ledger *d = &ledgers[i].devices[p->device];

		if (d->used != TARE_NOT_KNOWN && d->used_start == used_start)
			check_point(p, at.points[i], d);
		tare_ledger_free(&ledgers[i]);
	}
}

static void check_panel(struct world *w, const struct tare_memory_history *s, const struct tare_memory_history_panel *p,
                        const struct tare_ledger *peak)
{
	const struct tare_device_ledger *d = p->device < 0 ? NULL : &peak->devices[p->device];
	int64_t most = INT64_MIN, last = INT64_MIN;

	for (size_t i = 0; i < p->point_nr; i++) {
		CHECK_INT(sum_of(p, &p->points[i]), p->points[i].used);
		CHECK(p->points[i].t_ns >= last);
		CHECK(p->points[i].t_ns <= s->end_ns);
		last = p->points[i].t_ns;
		most = p->points[i].used > most ? p->points[i].used : most;
	}
	if (p->has_peak)
		CHECK_INT(sum_of(p, &p->peak), p->peak.used);
	if (!d)
		return;
	if (p->has_peak) {
		CHECK_INT(p->peak.used, (int64_t)d->peak_used);
		CHECK_INT(p->peak.t_ns, d->peak_t_ns);
		check_point(p, &p->peak, d);
	}
	if (p->point_nr && p->has_peak)
		CHECK(most <= p->peak.used + (64 << 10));
	check_instants(w, s, p, d->used_start);
}

static int64_t of_category(const struct tare_ledger *l, int device, int category)
{
	const struct tare_device_ledger *d = device < 0 ? NULL : &l->devices[device];
	const char *name = tare_category_name((enum tare_category)category);
	int64_t sum = 0;

	for (int i = 0; d && i < d->row_nr; i++)
		if (d->rows[i].is_category && !strcmp(d->rows[i].label, name))
			sum += d->rows[i].bytes;
	for (int i = 0; !d && i < l->host_nr; i++)
		for (int k = 0; k < l->hosts[i].category_nr; k++)
			if ((int)l->hosts[i].categories[k].category == category)
				sum += l->hosts[i].categories[k].bytes;
	return sum;
}

static void check_categories_at(const struct tare_memory_history_panel *p, const struct tare_memory_history_point *at,
                                const struct tare_ledger *l)
{
	printf("# by category, %lld ns\n", (long long)at->t_ns);
	for (int c = 0; c < TARE_CATEGORY_NR; c++)
		CHECK_INT(band(p, at, tare_category_name((enum tare_category)c)), of_category(l, p->device, c));
}

/* What a block is for is decided once: a picture says at each moment what a table of that moment says. */
static void check_categories_at_instants(struct world *w, const struct tare_memory_history *s,
                                         const struct tare_memory_history_panel *p)
{
	struct tare_ledger ledgers[ASKED];
	struct instants at;

	choose(&at, s, p);
	world_build(w, NULL, at.at, at.n, ledgers);
	for (int i = 0; i < at.n; i++) {
		check_categories_at(p, at.points[i], &ledgers[i]);
		tare_ledger_free(&ledgers[i]);
	}
}

/* The same once more, tensors by category: at every point as much in all. */
static void check_categories(struct world *w, const struct tare_memory_history *first)
{
	struct tare_memory_history history;
	struct tare_ledger_opts opts = { .history = &history, .history_by_category = first };
	const char *at = "peak";
	struct tare_ledger l;

	world_build(w, &opts, &at, 1, &l);
	CHECK_INT(history.panel_nr, first->panel_nr);
	for (int i = 0; i < history.panel_nr; i++) {
		const struct tare_memory_history_panel *p = &history.panels[i];

		CHECK_INT(p->point_nr, first->panels[i].point_nr);
		for (size_t k = 0; k < p->point_nr; k++) {
			CHECK_INT(p->points[k].used, first->panels[i].points[k].used);
			CHECK_INT(sum_of(p, &p->points[k]), p->points[k].used);
			for (int c = 0; c < TARE_CATEGORY_NR; c++)
				CHECK(band(p, &p->points[k], tare_category_name((enum tare_category)c)) >= 0);
		}
		if (p->device >= 0 && p->has_peak)
			check_categories_at(p, &p->peak, &l);
		check_categories_at_instants(w, &history, p);
	}
	tare_memory_history_free(&history);
	tare_ledger_free(&l);
}

void world_check_history(struct world *w)
{
	struct tare_memory_history history;
	struct tare_ledger_opts opts = { .history = &history };
	const char *at = "peak";
	struct tare_ledger peak;

	world_build(w, &opts, &at, 1, &peak);
	for (int i = 0; i < history.panel_nr; i++)
		check_panel(w, &history, &history.panels[i], &peak);
	check_categories(w, &history);
	tare_memory_history_free(&history);
	tare_ledger_free(&peak);
}
