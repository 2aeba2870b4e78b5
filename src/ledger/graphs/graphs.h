/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA graphs: one row for each, from its capture to its end. */
#ifndef TARE_LEDGER_GRAPHS_H
#define TARE_LEDGER_GRAPHS_H

#include "ledger/core/fold.h"

/* A row, and what is known of the graph beyond what is shown. Texts are ids until the end. */
struct tare_graph_now {
	struct tare_graph row;
	int process, device; /* device: tare_device.index, -1: none */
	uint32_t tid;        /* thread that is capturing the graph; 0: none */
	uint64_t handle, phase;
	uint32_t site;        /* site where the capture began; 0: not known */
	uint64_t known_execs; /* of its execs: for how many the launches are known */
	struct tare_graph_owner {
		uint64_t owner;
		int64_t bytes;
	} * owners;
	size_t owner_nr, owner_cap;
};

/* A framework's pool for captures. */
struct tare_graph_pool {
	int process;
	bool has_id;
	uint64_t object, first, second; /* object: the graph object that began the pool, 0: none */
	int64_t begin_ns;
};

/* A GRAPH or MEMPOOL record whose event has not been taken in yet. */
struct tare_pending_graph_record {
	int process;
	int64_t at_ns;
	struct tare_rec_graph graph;
	struct tare_rec_mempool mempool;
};

struct tare_pending_graph_records {
	struct tare_pending_graph_record *items;
	size_t count, cap;
};

/* The part. */
struct tare_graphs_part {
	TARE_SAVED_AS_MANY(process_nr) struct tare_map *of_handle; /* by process: handle of a graph → 1 + row */
	int process_nr;
	struct tare_graph_now *rows;
	size_t row_nr, row_cap;
	int *capturing; /* rows */
	size_t capturing_nr, capturing_cap;
	struct tare_graph_pool *pools;
	size_t pool_nr, pool_cap;
	struct tare_pending_graph_records said, mempools;
};

void tare_graphs_begin(struct tare_graphs_part *part, const struct tare_fold *f);
void tare_graphs_event(struct tare_graphs_part *part, struct tare_fold *f, struct tare_device_fold *d,
                       const struct tare_event *e);
/* A call is about to be applied: sets the graph that the call is about, or is captured by. */
void tare_graphs_apply(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                       struct tare_applied *a);
/* A call was applied, and its changes are in f->ops. */
void tare_graphs_applied(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                         const struct tare_applied *a);
/* It made an object; an object has gone; what the call was measured to take is booked; so much is in use behind it. */
void tare_graphs_made(struct tare_graphs_part *part, const struct tare_object_live *o);
void tare_graphs_gone(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_object_live *o);
void tare_graphs_weighed(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                         const struct tare_applied *a, int64_t bytes, int64_t low, int64_t high);
void tare_graphs_measured(struct tare_graphs_part *part, const struct tare_applied *a, int64_t used);
/* A process has ended, and all devices know. */
void tare_graphs_ended(struct tare_graphs_part *part, struct tare_fold *f, int process);
const char *tare_graphs_check(const struct tare_graphs_part *part, const struct tare_fold *f);

/* graphs.c */
struct tare_graph_now *tare_graph_row(struct tare_graphs_part *part, size_t row); /* its row, made if new */
void tare_graph_publish(struct tare_graphs_part *part, struct tare_fold *f,
                        size_t row); /* tells the books what everybody may know of the row */
void tare_graphs_said(struct tare_graphs_part *part, const struct tare_event *e);

/* graph_capture.c: what is allocated while a stream is captured, and from which pool */
int tare_capture_of(const struct tare_graphs_part *part, const struct tare_step *s); /* row, -1 */
void tare_capture_took(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s, int capture,
                       int bucket, int64_t bytes);
void tare_capture_pool(struct tare_graphs_part *part, const struct tare_step *s, struct tare_graph_now *g);

/* graph_rows.c: the rows of a ledger */
void tare_graphs_rows_of(const struct tare_graphs_part *part, const struct tare_fold *f,
                         const struct tare_device_fold *d, enum tare_moment m, struct tare_ledger *out);

#endif
