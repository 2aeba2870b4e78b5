/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_RANK_H
#define TARE_VIEW_RANK_H

#include "base/emit.h"
#include "ledger/ledger.h"

/* `--by rank`: what every rank of a job holds on every GPU, and how the ranks ended. */

/* Accounts that are shown as one column of a rank: RANK_PART(KEY, key in data, head on the screen). */
#define TARE_RANK_PART_MAP(X)                                                                                          \
	X(CONTEXT, "context_bytes", "CONTEXT")                                                                             \
	X(CODE, "code_bytes", "CODE")                                                                                      \
	X(ALLOCATION, "allocation_bytes", "ALLOCATED")                                                                     \
	X(POOL, "pool_bytes", "POOLS")                                                                                     \
	X(GRAPH, "graph_bytes", "GRAPHS")                                                                                  \
	X(REST, "rest_bytes", "REST")

enum tare_rank_part {
#define X(KEY, NAME, HEAD) TARE_RANK_PART_##KEY,
	TARE_RANK_PART_MAP(X)
#undef X
		TARE_RANK_PART_NR
};

/* One rank on one GPU; a rank that holds nothing has one row without a device. */
struct tare_rank_row {
	const struct tare_rank_ledger *rank;
	const struct tare_device_ledger *device; /* NULL: none */
	int64_t bytes, elastic, part[TARE_RANK_PART_NR];
	uint64_t count, driver_ns;
	enum tare_evidence evidence;
};

struct tare_rank_rows {
	struct tare_rank_row *rows; /* by rank, then by device */
	size_t count, cap;
};
void tare_rank_rows_build(struct tare_rank_rows *out, const struct tare_ledger *ledger);
void tare_rank_rows_free(struct tare_rank_rows *rows);

/* Where a rank works: the GPU that it holds most on. And: is the i-th row only what cuInit took? */
const struct tare_rank_row *tare_rank_home(const struct tare_rank_rows *rows, const struct tare_rank_ledger *rank);
bool tare_rank_is_elsewhere(const struct tare_rank_rows *rows, size_t i);

/* Ranks of one job side by side, over all their GPUs. */
struct tare_rank_spread {
	const struct tare_rank_ledger *most, *least; /* NULL: fewer than two ranks */
	int64_t most_bytes, least_bytes, median_bytes;
	enum tare_rank_part part; /* which differs most between the two … */
	int64_t part_bytes;       /* … and by how much */
};
/* Of the job and the last attempt of `like`. */
void tare_rank_spread(struct tare_rank_spread *out, const struct tare_rank_rows *rows,
                      const struct tare_rank_ledger *like);

/* "exit 1", "signal 9 (OOM killer)", "runs", "killed". */
void tare_rank_end_text(struct tare_str *out, const struct tare_rank_ledger *rank);

/* rank_notes.c: sentences below the table, each once. */
void tare_rank_notes(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_rank_rows *rows);

#endif
