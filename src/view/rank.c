/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the ranks of a job hold: `--by rank`. */
#include "view/rank.h"

#include "base/array.h"
#include "base/comparator.h"

#include <stdlib.h>
#include <string.h>

/* The column that an account belongs to; an account that is not in this table belongs to the column "rest". */
static enum tare_rank_part part_of(enum tare_account account)
{
	switch (account) {
	case TARE_ACCOUNT_CONTEXT:
		return TARE_RANK_PART_CONTEXT;
	case TARE_ACCOUNT_CODE:
	case TARE_ACCOUNT_LOCAL:
	case TARE_ACCOUNT_KERNEL_HEAP:
		return TARE_RANK_PART_CODE;
	case TARE_ACCOUNT_ALLOCATION:
	case TARE_ACCOUNT_GRANULARITY:
		return TARE_RANK_PART_ALLOCATION;
	case TARE_ACCOUNT_POOL:
	case TARE_ACCOUNT_POOL_IDLE:
	case TARE_ACCOUNT_VMM:
		return TARE_RANK_PART_POOL;
	case TARE_ACCOUNT_GRAPH:
		return TARE_RANK_PART_GRAPH;
	default:
		return TARE_RANK_PART_REST;
	}
}

static struct tare_rank_row *add_row(struct tare_rank_rows *out, const struct tare_rank_ledger *rank,
                                     const struct tare_device_ledger *device)
{
	return TARE_ADD(out->rows, out->count, out->cap, (struct tare_rank_row){ .rank = rank, .device = device });
}

/* False: the rank has nothing on that device. */
static bool add_device(struct tare_rank_rows *out, const struct tare_ledger *ledger, int rank,
                       const struct tare_device_ledger *device)
{
	struct tare_rank_row *sum = NULL;

	for (int i = 0; i < device->row_nr; i++) {
		const struct tare_row *row = &device->rows[i];

		if (!tare_row_is_end(row) || row->rank_at != rank || !row->bytes)
			continue;
		if (!sum)
			sum = add_row(out, &ledger->ranks[rank], device);
		sum->bytes += row->bytes;
		sum->elastic += row->elastic ? row->bytes : 0;
		sum->part[part_of(row->account)] += row->bytes;
		sum->count += row->count;
		sum->driver_ns += row->driver_ns;
		if (sum->evidence < row->evidence)
			sum->evidence = row->evidence;
	}
	return sum != NULL;
}

void tare_rank_rows_build(struct tare_rank_rows *out, const struct tare_ledger *ledger)
{
	*out = (struct tare_rank_rows){ 0 };
	for (int r = 0; r < ledger->rank_nr; r++) {
		bool is_any = false;

		for (int d = 0; d < ledger->device_nr; d++)
			is_any |= add_device(out, ledger, r, &ledger->devices[d]);
		if (!is_any)
			add_row(out, &ledger->ranks[r], NULL);
	}
}

void tare_rank_rows_free(struct tare_rank_rows *rows)
{
	free(rows->rows);
	*rows = (struct tare_rank_rows){ 0 };
}

/* Where a rank is at home: the GPU that it holds most on. */
const struct tare_rank_row *tare_rank_home(const struct tare_rank_rows *rows, const struct tare_rank_ledger *rank)
{
	const struct tare_rank_row *home = NULL;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].rank == rank && (!home || home->bytes < rows->rows[i].bytes))
			home = &rows->rows[i];
	return home;
}

bool tare_rank_is_elsewhere(const struct tare_rank_rows *rows, size_t i)
{
	const struct tare_rank_row *row = &rows->rows[i];

	return row->device && !row->part[TARE_RANK_PART_CONTEXT] && row->bytes == row->part[TARE_RANK_PART_REST] &&
	       tare_rank_home(rows, row->rank) != row;
}

static bool is_peer(const struct tare_rank_ledger *a, const struct tare_rank_ledger *b)
{
	return a->attempt == b->attempt && !strcmp(a->job, b->job);
}

TARE_COMPARATOR(by_bytes, struct tare_rank_row, TARE_RISING(bytes) TARE_RISING(rank->rank))

/* A row per rank, whatever its GPUs. */
static size_t sum_up(struct tare_rank_row *sums, const struct tare_rank_rows *rows, const struct tare_rank_ledger *like)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct tare_rank_row *row = &rows->rows[i];

		if (!is_peer(row->rank, like))
			continue;
		if (!count || sums[count - 1].rank != row->rank)
			sums[count++] = (struct tare_rank_row){ .rank = row->rank };
		sums[count - 1].bytes += row->bytes;
		for (int p = 0; p < TARE_RANK_PART_NR; p++)
			sums[count - 1].part[p] += row->part[p];
	}
	return count;
}

void tare_rank_spread(struct tare_rank_spread *out, const struct tare_rank_rows *rows,
                      const struct tare_rank_ledger *like)
{
	TARE_FREED_HERE struct tare_rank_row *sums = tare_xcalloc(rows->count, sizeof(*sums));
	size_t n = sum_up(sums, rows, like);

	*out = (struct tare_rank_spread){ 0 };
	if (n > 1) {
		const struct tare_rank_row *least = &sums[0], *most = &sums[n - 1];

		TARE_SORT(sums, n, by_bytes);
		out->least = least->rank;
		out->most = most->rank;
		out->least_bytes = least->bytes;
		out->most_bytes = most->bytes;
		out->median_bytes = (sums[(n - 1) / 2].bytes + sums[n / 2].bytes) / 2;
		for (int p = 0; p < TARE_RANK_PART_NR; p++) {
			int64_t by = most->part[p] - least->part[p];

			if (llabs(by) > llabs(out->part_bytes)) {
				out->part = (enum tare_rank_part)p;
				out->part_bytes = by;
			}
		}
	}
}

void tare_rank_end_text(struct tare_str *out, const struct tare_rank_ledger *rank)
{
	switch (rank->end) {
	case TARE_RANK_RUNS:
		tare_str_add(out, "runs");
		return;
	case TARE_RANK_EXITED:
		if (rank->code >= 0)
			tare_str_addf(out, "exit %d", rank->code);
		else
			tare_str_add(out, "ended");
		return;
	case TARE_RANK_SIGNAL:
		tare_str_addf(out, "signal %d", rank->code);
		tare_str_add(out, rank->is_oom ? ", OOM killer" : "");
		return;
	case TARE_RANK_KILLED:
		tare_str_add(out, "killed");
		return;
	}
}
