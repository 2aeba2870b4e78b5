/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the rows of a process by the closed list that metrics have. */
#include "serve/sums.h"

#include <stdio.h>
#include <string.h>

/* Segments of its rows' paths (ledger/rows/rows.c). */
static const char *const pool_keys[] = { "tensors", "cached", "partly", "held" };

static const char *key_of(int row)
{
	return row < TARE_ACCOUNT_NR ? tare_accounts[row].key : pool_keys[row - TARE_ACCOUNT_NR];
}

static int row_of(const struct tare_row *r)
{
	const char *slash = strrchr(r->path, '/');

	if (r->account == TARE_ACCOUNT_ALLOCATION || r->account == TARE_ACCOUNT_VMM)
		for (int i = 0; slash && i < TARE_SERVE_ROW_NR - TARE_ACCOUNT_NR; i++)
			if (!strcmp(slash + 1, pool_keys[i]))
				return TARE_ACCOUNT_NR + i;
	return (int)r->account;
}

static void add_category(struct tare_serve_sums *sums, const struct tare_row *r)
{
	for (int c = 0; c < TARE_CATEGORY_NR; c++)
		if (!strcmp(r->label, tare_category_name((enum tare_category)c)))
			sums->categories[c] += r->bytes;
}

void tare_serve_sums_add(struct tare_serve_sums *sums, const struct tare_device_ledger *d, int64_t pid)
{
	for (int i = 0; i < d->row_nr; i++) {
		const struct tare_row *r = &d->rows[i];

		if (r->pid != pid && (pid >= 0 || r->pid >= 0))
			continue;
		if (r->is_category)
			add_category(sums, r);
		else if (tare_row_is_end(r))
			sums->rows[row_of(r)] += r->bytes;
	}
}

void tare_serve_sums_tell(const struct tare_serve_sums *sums, struct tare_metrics *m, enum tare_metric metric,
                          struct tare_metric_labels labels)
{
	int64_t rest = sums->rows[TARE_SERVE_TENSORS];

	labels.row = key_of(TARE_SERVE_TENSORS);
	for (int c = 0; c < TARE_CATEGORY_NR; c++) {
		if (!sums->categories[c])
			continue;
		labels.category = tare_category_key((enum tare_category)c);
		tare_metrics_add(m, metric, &labels, sums->categories[c]);
		rest -= sums->categories[c];
	}
	labels.category = NULL;
	for (int i = 0; i < TARE_SERVE_ROW_NR; i++) {
		int64_t bytes = i == TARE_SERVE_TENSORS ? rest : sums->rows[i];

		labels.row = key_of(i);
		if (bytes)
			tare_metrics_add(m, metric, &labels, bytes);
	}
}

/* What grows is an account, or what a library asked for: then it is allocations. */
const char *tare_serve_row_of(const struct tare_growth *g)
{
	if (g->is_of_blocks)
		return key_of(TARE_SERVE_TENSORS);
	if (g->is_resident)
		return "resident";
	if (!strcmp(g->what, "pinned memory"))
		return "pinned";
	for (int i = 1; i < TARE_ACCOUNT_NR; i++)
		if (!strcmp(g->what, tare_accounts[i].label))
			return tare_accounts[i].key;
	return key_of(TARE_ACCOUNT_ALLOCATION);
}

const char *tare_serve_number(char buf[TARE_SERVE_NUMBER], int64_t number)
{
	buf[0] = '\0';
	if (number >= 0)
		snprintf(buf, TARE_SERVE_NUMBER, "%lld", (long long)number);
	return buf;
}

int64_t tare_serve_rank(const struct tare_ledger *ledger, int64_t pid)
{
	for (int i = 0; i < ledger->device_nr; i++)
		for (int k = 0; k < ledger->devices[i].row_nr; k++)
			if (ledger->devices[i].rows[k].pid == pid && ledger->devices[i].rows[k].rank >= 0)
				return ledger->devices[i].rows[k].rank;
	for (int i = 0; i < ledger->rank_nr; i++)
		if (ledger->ranks[i].pid == pid)
			return ledger->ranks[i].rank;
	return -1;
}
