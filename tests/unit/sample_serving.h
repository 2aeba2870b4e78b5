/* SPDX-License-Identifier: Apache-2.0 */
/* A server on a card of 64 GiB: weights, a profile run, a cache of one block, four graphs. */
#ifndef TARE_SAMPLE_SERVING_H
#define TARE_SAMPLE_SERVING_H

#include "ledger/ledger.h"

#include <string.h>

#define SERVING_MIB(N) ((int64_t)(N) << 20)
enum { SERVING_GRAPHS = 4 };

struct sample_serving {
	struct tare_row rows[16];
	int row_nr;
	struct tare_tensor_row tensors[2];
	struct tare_pool_segment segment;
	struct tare_need needs[4];
	struct tare_graph graphs[SERVING_GRAPHS];
	struct tare_device_ledger device;
	struct tare_ledger ledger;
};

static inline void sample_serving_row(struct sample_serving *s, const char *path, enum tare_account account,
                                      int64_t mib, bool is_leaf)
{
	struct tare_row *row = &s->rows[s->row_nr++];

	*row = (struct tare_row){ .path = path,
		                      .label = "server.py (pid 7)",
		                      .account = account,
		                      .bytes = SERVING_MIB(mib),
		                      .pid = 7,
		                      .leaf = is_leaf };
	row->is_category = is_leaf && strstr(path, "/tensors/");
	s->device.used += is_leaf ? (uint64_t)row->bytes : 0;
}

/* What the graphs took, in MiB: of the pool at first, then of the driver. */
static inline void sample_serving_make(struct sample_serving *s, const int64_t driver[SERVING_GRAPHS])
{
	*s = (struct sample_serving){ .row_nr = 0 };
	sample_serving_row(s, "process:7", TARE_ACCOUNT_PROCESS, 0, false);
	sample_serving_row(s, "process:7/context", TARE_ACCOUNT_CONTEXT, 500, true);
	sample_serving_row(s, "process:7/graphs/execs", TARE_ACCOUNT_EXEC, 6, true);
	sample_serving_row(s, "process:7/allocations/libnccl", TARE_ACCOUNT_ALLOCATION, 100, true);
	sample_serving_row(s, "process:7/allocations/libc10_cuda/tensors/parameter", TARE_ACCOUNT_ALLOCATION, 1000, true);
	sample_serving_row(s, "process:7/allocations/libc10_cuda/tensors/input", TARE_ACCOUNT_ALLOCATION, 30040, true);
	sample_serving_row(s, "process:7/allocations/libc10_cuda/cached", TARE_ACCOUNT_ALLOCATION, 10, true);
	s->tensors[0] = (struct tare_tensor_row){ .line = "server.py:9 in start",
		                                      .short_line = "server.py:9 in start",
		                                      .rule = TARE_RULE_NR,
		                                      .count = 1,
		                                      .bytes = SERVING_MIB(30000),
		                                      .born_ns = 300,
		                                      .pid = 7 };
	s->tensors[1] = (struct tare_tensor_row){
		.line = "server.py:2", .count = 1, .bytes = SERVING_MIB(1000), .born_ns = 100, .pid = 7
	};
	for (int i = 0; i < TARE_RULE_NR; i++) {
		if (tare_rules[i].category == TARE_CATEGORY_PARAMETER)
			s->tensors[1].rule = (enum tare_rule)i;
		if (tare_rules[i].category == TARE_CATEGORY_INPUT)
			s->tensors[0].rule = (enum tare_rule)i;
	}
	s->segment = (struct tare_pool_segment){ .pid = 7, .bytes = SERVING_MIB(40), .is_of_graph = true, .is_held = true };
	/* loading, the profile run, the cache and what is served with it, the end */
	s->needs[0] = (struct tare_need){ 0, SERVING_MIB(3000), 50, 0, SERVING_MIB(1600), SERVING_MIB(1400), 50 };
	s->needs[1] =
		(struct tare_need){ 150, SERVING_MIB(2600), 200, SERVING_MIB(1600), SERVING_MIB(1600), SERVING_MIB(1000), 200 };
	s->needs[2] = (struct tare_need){
		300, SERVING_MIB(32000), 400, SERVING_MIB(31600), SERVING_MIB(31646), SERVING_MIB(354), 400
	};
	s->needs[3] =
		(struct tare_need){ 500, SERVING_MIB(1600), 500, SERVING_MIB(500), SERVING_MIB(500), SERVING_MIB(1100), 500 };
	for (int i = 0; i < SERVING_GRAPHS; i++)
		s->graphs[i] = (struct tare_graph){ .number = (uint64_t)i + 1,
			                                .count = 1,
			                                .pid = 7,
			                                .state = TARE_GRAPH_STATE_CAPTURED,
			                                .begin_ns = 410 + i,
			                                .end_ns = 410 + i,
			                                .allocated = i ? 0 : SERVING_MIB(40),
			                                .at_instantiate = SERVING_MIB(driver[i]),
			                                .used_after = (uint64_t)SERVING_MIB(31640 + i) };
	s->device.name = "NVIDIA H200";
	s->device.total = (uint64_t)SERVING_MIB(65536);
	s->device.reserved = (uint64_t)SERVING_MIB(500);
	s->device.t_ns = 450;
	s->device.rows = s->rows;
	s->device.row_nr = s->row_nr;
	s->device.tensors = (struct tare_tensor_rows){ s->tensors, 2 };
	s->device.segments = &s->segment;
	s->device.segment_nr = 1;
	s->device.needs = s->needs;
	s->device.need_nr = 4;
	for (int i = 0; i < TARE_COMING_NR; i++)
		s->device.first_ns[i] = -1;
	s->device.first_ns[TARE_COMING_CONTEXT] = 10;
	s->ledger = (struct tare_ledger){
		.at = "end", .devices = &s->device, .device_nr = 1, .graphs = s->graphs, .graph_nr = SERVING_GRAPHS
	};
}

#endif
