/* SPDX-License-Identifier: Apache-2.0 */
/* `--by serving`, for scripts: what came, the servers, and their graphs. */
#include "view/serving_show.h"

#include "view/by.h"

#include <string.h>

struct row {
	const char *at;
	int device;
	int64_t pid;
	struct tare_serving_row of;
};

static const struct tare_column row_columns[] = {
	TARE_COLUMN(row, at, "at", NULL, TEXT),
	TARE_COLUMN(row, device, "device", NULL, ID),
	TARE_COLUMN(row, pid, "pid", NULL, ID),
	TARE_COLUMN(row, of.what, "label", NULL, TEXT, .name = tare_coming_key),
	TARE_COLUMN(row, of.bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(row, of.first_ns, "first_ns", NULL, TIME, .unknown = TARE_UNKNOWN_NEGATIVE),
};

struct server {
	const char *at;
	int64_t total, used;
	bool is_in_all, is_all; /* how many graphs there will be is known, and what they will take */
	struct tare_serving of;
	const struct tare_device_ledger *device;
	int index;
	bool is_simulated;
};

#define SAID .unknown = TARE_UNKNOWN_NEGATIVE
#define EACH .when = TARE_WHEN(server, of.graphs.is_known)
#define ALL  .when = TARE_WHEN(server, is_all)

static const struct tare_column server_columns[] = {
	TARE_COLUMN(server, at, "at", NULL, TEXT),
	TARE_COLUMN(server, index, "device", NULL, ID),
	TARE_COLUMN(server, is_simulated, "simulated", NULL, FLAG),
	TARE_COLUMN(server, of.pid, "pid", NULL, ID),
	TARE_COLUMN(server, of.program, "program", NULL, TEXT),
	TARE_COLUMN(server, total, "total_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.reserved, "reserved_bytes", NULL, BYTES),
	TARE_COLUMN(server, used, "used_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.counted, "counted_otherwise_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.left, "left_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.cache, "cache_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.cache_ns, "cache_ns", NULL, TIME, SAID),
	TARE_COLUMN(server, of.cache_blocks, "cache_blocks", NULL, COUNT),
	TARE_COLUMN(server, of.cache_line, "cache_line", NULL, TEXT),
	TARE_COLUMN(server, of.stays, "stays_beside_cache_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.came_before, "needed_before_cache_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.before, "transient_before_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.before_ns, "transient_before_ns", NULL, TIME, SAID),
	TARE_COLUMN(server, of.since, "transient_since_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.since_ns, "transient_since_ns", NULL, TIME, SAID),
	TARE_COLUMN(server, of.graphs.captured, "graphs", NULL, COUNT),
	TARE_COLUMN(server, of.graphs.pool, "graph_pool_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.graphs.driver, "graph_driver_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.graphs.first, "graph_first_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.graphs.each, "graph_each_bytes", NULL, BYTES, EACH),
	TARE_COLUMN(server, of.graphs.each_low, "graph_each_low_bytes", NULL, BYTES, EACH),
	TARE_COLUMN(server, of.graphs.each_high, "graph_each_high_bytes", NULL, BYTES, EACH),
	TARE_COLUMN(server, of.graphs.in_all, "graphs_in_all", NULL, COUNT, .when = TARE_WHEN(server, is_in_all)),
	TARE_COLUMN(server, of.graphs.all, "graphs_all_bytes", NULL, BYTES, ALL),
	TARE_COLUMN(server, of.graphs.all_low, "graphs_all_low_bytes", NULL, BYTES, ALL),
	TARE_COLUMN(server, of.graphs.all_high, "graphs_all_high_bytes", NULL, BYTES, ALL),
	TARE_COLUMN(server, of.safe, "largest_cache_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.safe, "vllm_kv_cache_memory_bytes", NULL, BYTES),
	TARE_COLUMN(server, of.utilization, "vllm_gpu_memory_utilization", NULL, NUMBER),
	TARE_COLUMN(server, of.fraction_static, "sglang_mem_fraction_static", NULL, NUMBER),
	TARE_COLUMN(server, of.fraction_free, "tensorrt_llm_free_gpu_memory_fraction", NULL, NUMBER),
};

struct graph {
	const char *at;
	int device;
	int64_t pid, pool, driver, marginal;
	bool has_marginal, has_nodes;
	struct tare_graph of;
};

static const struct tare_column graph_columns[] = {
	TARE_COLUMN(graph, at, "at", NULL, TEXT),
	TARE_COLUMN(graph, device, "device", NULL, ID),
	TARE_COLUMN(graph, pid, "pid", NULL, ID),
	TARE_COLUMN(graph, of.number, "number", NULL, ID),
	TARE_COLUMN(graph, of.begin_ns, "begin_ns", NULL, TIME),
	TARE_COLUMN(graph, of.nodes, "nodes", NULL, COUNT, .when = TARE_WHEN(graph, has_nodes)),
	TARE_COLUMN(graph, pool, "pool_bytes", NULL, BYTES),
	TARE_COLUMN(graph, driver, "driver_bytes", NULL, BYTES),
	TARE_COLUMN(graph, marginal, "marginal_bytes", NULL, BYTES, .when = TARE_WHEN(graph, has_marginal)),
};

/* Calls `add` for every server of the ledgers. */
static void each_server(struct tare_emit *e, const struct tare_by_ask *ask,
                        void (*add)(struct tare_emit *e, const struct tare_serving *s))
{
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < ask->ledgers[i]->device_nr; k++) {
			const struct tare_device_ledger *d = &ask->ledgers[i]->devices[k];
			struct tare_serving s;

			if (tare_serving_find(&s, ask->ledgers[i], d, ask->graphs))
				add(e, &s);
		}
}

static void add_rows(struct tare_emit *e, const struct tare_serving *s)
{
	for (int i = 0; i < s->row_nr; i++)
		tare_emit_add(e, &(struct row){ s->ledger->at, s->device->index, s->pid, s->rows[i] });
}

static void add_server(struct tare_emit *e, const struct tare_serving *s)
{
	struct server row = { .at = s->ledger->at,
		                  .total = s->room + s->reserved,
		                  .used = (int64_t)s->device->used,
		                  .is_in_all = s->graphs.in_all > 0,
		                  .is_all =
		                      s->graphs.in_all > 0 && (s->graphs.is_known || s->graphs.in_all == s->graphs.captured),
		                  .index = s->device->index,
		                  .is_simulated = s->device->simulated,
		                  .of = *s };

	tare_emit_add(e, &row);
}

/* What the device had more of after a graph than after the one before. */
static void add_graphs(struct tare_emit *e, const struct tare_serving *s)
{
	uint64_t before = TARE_NOT_KNOWN;

	for (int i = 0; i < s->ledger->graph_nr; i++) {
		const struct tare_graph *g = &s->ledger->graphs[i];
		struct graph row = { .at = s->ledger->at,
			                 .device = s->device->index,
			                 .pid = s->pid,
			                 .pool = g->allocated,
			                 .driver = tare_graph_exec_bytes(g) + g->memory,
			                 .has_nodes = g->flags & TARE_GRAPH_FLAG_NODES,
			                 .of = *g };

		if (!tare_serving_is_its_graph(s, g))
			continue;
		row.has_marginal = before != TARE_NOT_KNOWN && g->used_after != TARE_NOT_KNOWN;
		row.marginal = row.has_marginal ? (int64_t)(g->used_after - before) : 0;
		before = g->used_after;
		tare_emit_add(e, &row);
	}
}

bool tare_serving_is_any(const struct tare_by_ask *ask)
{
	(void)ask;
	return true; /* that there is none is worth a sentence */
}

void tare_serving_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	if (tare_emit_is_for_people(e)) {
		tare_serving_text(e, ask);
		return;
	}
	tare_emit_table(e, "rows", NULL, TARE_COLUMNS(row_columns));
	each_server(e, ask, add_rows);
	tare_emit_table_end(e);
	tare_emit_table(e, "servers", NULL, TARE_COLUMNS(server_columns));
	each_server(e, ask, add_server);
	tare_emit_table_end(e);
	tare_emit_table(e, "graphs", NULL, TARE_COLUMNS(graph_columns));
	each_server(e, ask, add_graphs);
	tare_emit_table_end(e);
}
