/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--by serving`: what a server took of a card before and beside its cache, in the order in which it came, and the
 * largest cache that is safe. All figures are sums of the ledger's rows, and of what the ledger says was needed on top.
 */
#ifndef TARE_VIEW_SERVING_H
#define TARE_VIEW_SERVING_H

#include "base/emit.h"
#include "ledger/ledger.h"

/* A row for each kind of memory that is there; they sum to what the device has in use. */
struct tare_serving_row {
	enum tare_coming what;
	int64_t bytes;
	int64_t first_ns; /* when the first of it came; -1: not known */
};

/*
 * What CUDA graphs took, and what all of them will: the first and those that followed, and for each further one the mean
 * of those that are no exception; low and high are the least and the most of these.
 */
struct tare_serving_graphs {
	uint64_t captured, in_all; /* in_all: 0: nobody said */
	int64_t bytes, pool, driver, first;
	bool is_known; /* what a further one takes: two were captured */
	int64_t each, each_low, each_high;
	int64_t to_come, all, all_low, all_high; /* with in_all */
};

struct tare_serving {
	const struct tare_ledger *ledger;
	const struct tare_device_ledger *device;
	int64_t pid;
	const char *program; /* NULL: not known */
	struct tare_serving_row rows[TARE_COMING_NR];
	int row_nr;
	int64_t cache, cache_ns;
	uint64_t cache_blocks;
	const char *cache_line, *cache_short_line;
	int64_t room;        /* what programs can have of the card */
	int64_t reserved;    /* what they cannot, by the driver */
	int64_t counted;     /* what counts otherwise on a smaller card that stands for this one */
	int64_t left;        /* of `room` */
	int64_t came_before; /* what the recorded processes needed when the cache came */
	int64_t stays;       /* in use beside the cache when nothing was under way, last */
	/* the most that came on top of what stays, and when: before the cache, with weights there, and since */
	int64_t before, before_ns, since, since_ns;
	int64_t on_top; /* the larger one */
	struct tare_serving_graphs graphs;
	int64_t safe;                                       /* the largest cache */
	double utilization, fraction_static, fraction_free; /* the settings that say so; NAN: not known */
};

/*
 * The server of a device; false: no block of it looks like a cache. `graphs`: how many CUDA graphs it captures in all, 0:
 * not known.
 */
bool tare_serving_find(struct tare_serving *out, const struct tare_ledger *ledger,
                       const struct tare_device_ledger *device, uint64_t graphs);
bool tare_serving_is_found(const struct tare_ledger *ledger);

/* serving_cache.c: PyTorch's tensors that are the cache */
struct tare_serving_cache {
	int64_t pid, bytes, first_ns;
	uint64_t blocks;
	const char *line, *short_line;
};
bool tare_serving_cache_find(struct tare_serving_cache *out, const struct tare_ledger *ledger,
                             const struct tare_device_ledger *device);

/* serving_rows.c, serving_graphs.c: parts of tare_serving_find() */
void tare_serving_rows_of(struct tare_serving *s, const struct tare_serving_cache *cache);
int64_t tare_serving_bytes(const struct tare_serving *s, enum tare_coming what);
void tare_serving_graphs_of(struct tare_serving *s, uint64_t in_all);
bool tare_serving_is_its_graph(const struct tare_serving *s, const struct tare_graph *g);

/* A default report's lines: of servers that capture graphs. */
void tare_serving_line(struct tare_emit *e, const struct tare_ledger *ledger);

#endif
