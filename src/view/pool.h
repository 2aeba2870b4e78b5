/* SPDX-License-Identifier: Apache-2.0 */
/* `--by pool`: how PyTorch's allocator uses what it has, and which block pins each segment. */
#ifndef TARE_VIEW_POOL_H
#define TARE_VIEW_POOL_H

#include "base/emit.h"
#include "ledger/ledger.h"
#include "view/by.h"
#include "view/segment_sum.h"

/* Segments of one kind of one process. */
struct tare_pool_group {
	const struct tare_device_ledger *device;
	int64_t pid, generation;
	bool is_expandable, is_of_graph, is_trial;
	uint32_t graph_pool;              /* 0: not known, or of no graph */
	uint64_t first_graph, last_graph; /* numbers of those that allocate from it; 0: none is known */
	struct tare_segment_sum sum;
};

struct tare_pool_groups {
	struct tare_pool_group *items;
	size_t count, cap;
};

/* Of one device; by process, then plain segments, expandable ones, pools of graphs. */
void tare_pool_build(struct tare_pool_groups *out, const struct tare_ledger *ledger,
                     const struct tare_device_ledger *device);
void tare_pool_free(struct tare_pool_groups *groups);

/* What is free beside live blocks of a segment. */
int64_t tare_pool_stuck(const struct tare_pool_segment *segment);

/* A row of groups, its columns, and how it is added; in a label the process stands only where there are several. */
struct tare_pool_row {
	const char *at;
	int device;
	struct tare_str label;
	struct tare_pool_group of;
	struct tare_segment_sum sum;
};
enum { TARE_POOL_COLUMN_NR = 19 };
extern const struct tare_column tare_pool_columns[TARE_POOL_COLUMN_NR];
void tare_pool_add_group(struct tare_emit *e, const char *at, const struct tare_pool_group *group, bool has_pid);

/* Does anything of the device lie in segments whose blocks were reported? */
bool tare_pool_is_there(const struct tare_device_ledger *device);

/*
 * pool_text.c, for tables of the same segments: the head of one, why there is none, what the columns are, each device
 * that has some.
 */
void tare_pool_title(struct tare_str *out, const struct tare_ledger *ledger, const struct tare_device_ledger *device);
const char *tare_pool_why_empty(const struct tare_device_ledger *device);
void tare_pool_legend(struct tare_emit *e);
void tare_pool_each(struct tare_emit *e, const struct tare_by_ask *ask,
                    void (*show)(struct tare_emit *e, const struct tare_ledger *ledger,
                                 const struct tare_device_ledger *d));

/* A table per ledger and device, and the segments in which most is stuck. */
void tare_pool_text(struct tare_emit *e, const struct tare_by_ask *ask);

#endif
