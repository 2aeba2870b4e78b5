/* SPDX-License-Identifier: Apache-2.0 */
/* A training run on one GPU, its graphs and its pool: a ledger that has some of everything. */
#include "sample_ledger_rows.h"

/* clang-format off */
#define P "process:431"
#define T P "/allocations/PyTorch"

static struct tare_row peak_rows[] = {
	ROW(P, "python3[431]", -1, 0, false, PROCESS, INFERRED, 8444.8, 0, 431),
	ROW(P "/driver", "driver start (cuInit)", 0, 1, true, DRIVER, WEIGHED, 3.25, 1, 431),
	ROW(P "/context", "context", 0, 1, false, CONTEXT, WEIGHED, 523.5625, 1, 431),
	ROW(P "/context/primary", "primary", 2, 2, true, CONTEXT, WEIGHED, 523.5625, 1, 431),
	ROW(P "/code", "kernel code", 0, 1, false, CODE, WEIGHED, 98, 412, 431),
	ROW(P "/code/libtorch_cuda.so", "libtorch_cuda.so", 4, 2, true, CODE, WEIGHED, 94, 300, 431),
	ROW(P "/code/libcudnn.so.9", "libcudnn.so.9", 4, 2, true, CODE, WEIGHED, 2, 92, 431),
	ROW(P "/code/libcublas.so.13", "libcublas.so.13", 4, 2, true, CODE, WEIGHED, 2, 20, 431),
	ROW(P "/streams", "streams and events", 0, 1, true, STREAM, WEIGHED, 16, 8, 431),
	ROW(P "/allocations", "allocations", 0, 1, false, ALLOCATION, EXACT, 7802.25, 121, 431),
	ROW(P "/allocations/trial", "cuDNN trial", 9, 2, true, ALLOCATION, EXACT, 4726, 1, 431),
	ROW(T, "PyTorch", 9, 2, false, ALLOCATION, EXACT, 2970, 118, 431),
	TENSORS(T, 11, 2731, 118),
	CATEGORY(T, "parameter", "parameter", 12, WITNESS, 97.5, 40),
	CATEGORY(T, "buffer%2Fstate", "buffer/state", 12, WITNESS, 0.25, 20),
	CATEGORY(T, "gradient", "gradient", 12, INFERRED, 40, 12),
	CATEGORY(T, "input", "input", 12, INFERRED, 18.25, 2),
	CATEGORY(T, "activation", "activation", 12, INFERRED, 2390, 40),
	CATEGORY(T, "temporary", "temporary", 12, INFERRED, 120, 3),
	CATEGORY(T, "workspace", "workspace", 12, INFERRED, 65, 1),
	ROW(T "/partly", "cached beside live tensors", 11, 3, true, ALLOCATION, EXACT, 239, 0, 431),
	ROW(P "/allocations/cuBLAS", "cuBLAS", 9, 2, true, ALLOCATION, EXACT, 106.25, 2, 431),
	ROW(P "/granularity", "granularity", 0, 1, true, GRANULARITY, INFERRED, 1.75, 0, 431),
	ROW("other", "other processes", -1, 0, true, OTHER, WITNESS, 0, 0, -1),
};

static struct tare_row end_rows[] = {
	ROW(P, "python3[431]", -1, 0, false, PROCESS, INFERRED, 4494.5, 0, 431),
	ROW(P "/driver", "driver start (cuInit)", 0, 1, true, DRIVER, WEIGHED, 3.25, 1, 431),
	ROW(P "/context", "context", 0, 1, false, CONTEXT, WEIGHED, 523.5625, 1, 431),
	ROW(P "/context/primary", "primary", 2, 2, true, CONTEXT, WEIGHED, 523.5625, 1, 431),
	ROW(P "/code", "kernel code", 0, 1, false, CODE, WEIGHED, 102, 433, 431),
	ROW(P "/code/libtorch_cuda.so", "libtorch_cuda.so", 4, 2, true, CODE, WEIGHED, 98, 321, 431),
	ROW(P "/code/libcudnn.so.9", "libcudnn.so.9", 4, 2, true, CODE, WEIGHED, 2, 92, 431),
	ROW(P "/code/libcublas.so.13", "libcublas.so.13", 4, 2, true, CODE, WEIGHED, 2, 20, 431),
	ROW(P "/streams", "streams and events", 0, 1, true, STREAM, WEIGHED, 16, 8, 431),
	ROW(P "/allocations", "allocations", 0, 1, false, ALLOCATION, EXACT, 3848.25, 140, 431),
	ROW(T, "PyTorch", 9, 2, false, ALLOCATION, EXACT, 3722, 137, 431),
	TENSORS(T, 10, 376, 137),
	CATEGORY(T, "parameter", "parameter", 11, WITNESS, 97.5, 40),
	CATEGORY(T, "buffer%2Fstate", "buffer/state", 11, WITNESS, 0.25, 20),
	CATEGORY(T, "optimizer state", "optimizer state", 11, WITNESS, 195, 74),
	CATEGORY(T, "input", "input", 11, INFERRED, 18.25, 2),
	CATEGORY(T, "workspace", "workspace", 11, INFERRED, 65, 1),
	ROW(T "/partly", "cached beside live tensors", 10, 3, true, ALLOCATION, EXACT, 3346, 0, 431),
	ROW(P "/allocations/NCCL", "NCCL", 9, 2, true, ALLOCATION, EXACT, 20, 1, 431),
	ROW(P "/allocations/cuBLAS", "cuBLAS", 9, 2, true, ALLOCATION, EXACT, 106.25, 2, 431),
	ROW(P "/granularity", "granularity", 0, 1, true, GRANULARITY, INFERRED, 1.4375, 0, 431),
	ROW("other", "other processes", -1, 0, true, OTHER, WITNESS, 0, 0, -1),
};
#undef T
#undef P

static struct tare_ledger_line peak_lines[] = {
	LINE("/home/me/net", "model.py", 40, "forward", "train.py:12 in main", EXACT, 4726, 1),
	LINE("/home/me/net", "model.py", 40, "forward", "train.py:30 in warm_up", EXACT, 2970, 118),
	LINE("/home/me/old", "model.py", 40, "forward", "train.py:12 in main", EXACT, 106.25, 2),
	LINE("/home/me", "train.py", 5, "<module>", "runpy.py:1 in run", WEIGHED, 640.8125, 4),
	NO_LINE("granularity", INFERRED, 1.75, 431),
};
static struct tare_ledger_line end_lines[] = {
	LINE("/home/me/net", "model.py", 40, "forward", "train.py:30 in warm_up", EXACT, 3848.25, 140),
	LINE("/home/me", "train.py", 5, "<module>", "runpy.py:1 in run", WEIGHED, 644.8125, 4),
	NO_LINE("granularity", INFERRED, 1.4375, 431),
};
/* clang-format on */

static struct tare_category_sum train_host_categories[] = {
	{ TARE_CATEGORY_BUFFER, MIB(39.5), 2, TARE_EVIDENCE_WITNESS },
	{ TARE_CATEGORY_INPUT, MIB(0.5), 1, TARE_EVIDENCE_INFERRED },
};

static struct tare_ledger_line train_shared[] = {
	{ .label = "/home/me/train.py:12 in load",
	  .stack = "/home/me/train.py:12 in load",
	  .short_label = "train.py:12 in load",
	  .short_stack = "train.py:12 in load",
	  .pid = 431,
	  .tensors = { .bytes = 4096, .count = 1 } },
};

static struct tare_pinned_line train_pinned[] = {
	{ "/home/me/kv.py:7 in cache", "kv.py:7 in cache", { MIB(256), 2, MIB(128), MIB(72) } },
};

static struct tare_host_ledger train_host[] = {
	{ .pid = 431,
	  .name = "python3",
	  .categories = train_host_categories,
	  .category_nr = 2,
	  .pss = TARE_NOT_KNOWN,
	  .rss = 980000000,
	  .anon = 372244480,
	  .file = 374341632,
	  .shmem = 233413888,
	  .swap = 0,
	  .tables = 37748736,
	  .peak_rss = 1010000000,
	  .pinned = 268435456,
	  .registered = 0,
	  .pinned_sum = { MIB(256), 2, MIB(128), MIB(72) },
	  .pinned_lines = train_pinned,
	  .pinned_line_nr = 1,
	  .pinned_on_card = MIB(2),
	  .tensors = { .is_known = true,
	               .bytes = 41943040,
	               .count = 3,
	               .mapped = 2097152,
	               .mapped_count = 1,
	               .most = 83886080 } },
};

static struct tare_finding train_findings[] = {
	{ .advice = TARE_ADVICE_TRIAL,
	  .account = TARE_ACCOUNT_TRIAL,
	  .bytes = MIB(4726),
	  .pid = 431,
	  .name = "",
	  .count = 1 },
	{ .advice = TARE_ADVICE_CUBLAS,
	  .account = TARE_ACCOUNT_ALLOCATION,
	  .bytes = MIB(106.25),
	  .pid = 431,
	  .name = "cuBLAS",
	  .count = 2 },
};

static const uint64_t training_steps[] = { 120 };

static struct tare_training_mark training_marks[] = {
	{ .number = 1, .begin_ns = 900000000, .ns = 1350000000, .used = MIB(8464.8125), .live = MIB(2731) },
	{ .number = 2, .begin_ns = 2250000000, .ns = 41000000, .used = MIB(4494.5), .live = MIB(2926) },
};

/* Three blocks that are alike, and a head. */
static const struct tare_module_row train_modules[] = {
	{ .path = "net", .name = "net", .class = "ResNet", .pid = 431, .number = 1, .is_found = true },
	{ .path = "net.layer1",
	  .name = "layer1",
	  .class = "Sequential",
	  .parent = &train_modules[0],
	  .pid = 431,
	  .number = 2 },
	{ .path = "net.layer1.0",
	  .name = "0",
	  .class = "Bottleneck",
	  .parent = &train_modules[1],
	  .pid = 431,
	  .number = 3 },
	{ .path = "net.layer1.1",
	  .name = "1",
	  .class = "Bottleneck",
	  .parent = &train_modules[1],
	  .pid = 431,
	  .number = 4,
	  .order = 1 },
	{ .path = "net.layer1.2",
	  .name = "2",
	  .class = "Bottleneck",
	  .parent = &train_modules[1],
	  .pid = 431,
	  .number = 5,
	  .order = 2 },
	{ .path = "net.fc",
	  .name = "fc",
	  .class = "Linear",
	  .parent = &train_modules[0],
	  .pid = 431,
	  .number = 6,
	  .order = 1 },
};

#define OF_MODULE(MODULE, RULE, MIBS)                                                                                  \
	{                                                                                                                  \
		.module = &train_modules[MODULE], .rule = TARE_RULE_##RULE, .count = 1, .bytes = MIB(MIBS), .born_ns = -1,     \
		.pid = 431                                                                                                     \
	}
static struct tare_tensor_row train_by_module[] = {
	OF_MODULE(2, RECOMPUTED, 800),
	OF_MODULE(3, RECOMPUTED, 800),
	OF_MODULE(4, RECOMPUTED, 800),
	OF_MODULE(5, SAID_PARAMETER, 97.5),
};

static struct tare_training training[] = {
	{ .pid = 431,
	  .program = "python3",
	  .device = 0,
	  .by = TARE_TRAINING_OPTIMIZER,
	  .count = 120,
	  .counts = training_steps,
	  .marks = training_marks,
	  .mark_nr = NR(training_marks),
	  .thread_nr = 1,
	  .first = { .figures = { [TARE_TRAINING_NS] = 1350000000,
	                          [TARE_TRAINING_DRIVER] = 912000000,
	                          [TARE_TRAINING_ASKED] = 61,
	                          [TARE_TRAINING_ASKED_BYTES] = MIB(8448),
	                          [TARE_TRAINING_TRIED] = MIB(4726),
	                          [TARE_TRAINING_GIVEN_BACK] = MIB(4726),
	                          [TARE_TRAINING_USED] = MIB(8464.8125),
	                          [TARE_TRAINING_LIVE] = MIB(2731) } },
	  .steady = { .figures = { [TARE_TRAINING_NS] = 41000000,
	                           [TARE_TRAINING_USED] = MIB(4494.5),
	                           [TARE_TRAINING_LIVE] = MIB(2926) } },
	  .most_at = "peak:tensors",
	  .most_ns = 2300000000,
	  .modules = { train_by_module, NR(train_by_module) },
	  .most = { [TARE_CATEGORY_PARAMETER] = { TARE_CATEGORY_PARAMETER, MIB(97.5), 40, TARE_EVIDENCE_WITNESS },
	            [TARE_CATEGORY_BUFFER] = { TARE_CATEGORY_BUFFER, MIB(0.25), 20, TARE_EVIDENCE_WITNESS },
	            [TARE_CATEGORY_GRADIENT] = { TARE_CATEGORY_GRADIENT, MIB(97.5), 40, TARE_EVIDENCE_INFERRED },
	            [TARE_CATEGORY_OPTIMIZER] = { TARE_CATEGORY_OPTIMIZER, MIB(195), 80, TARE_EVIDENCE_WITNESS },
	            [TARE_CATEGORY_INPUT] = { TARE_CATEGORY_INPUT, MIB(18.25), 2, TARE_EVIDENCE_INFERRED },
	            [TARE_CATEGORY_ACTIVATION] = { TARE_CATEGORY_ACTIVATION, MIB(2452.5), 40, TARE_EVIDENCE_INFERRED },
	            [TARE_CATEGORY_WORKSPACE] = { TARE_CATEGORY_WORKSPACE, MIB(65), 1, TARE_EVIDENCE_INFERRED } } },
};

const struct tare_ledger *sample_train_peak(void)
{
	static struct tare_device_ledger device = H200(peak_rows, peak_lines, 8464.8125, 4726, 20, 1900000000);
	static struct tare_ledger ledger = { .at = "peak",
		                                 .t_ns = -1,
		                                 .devices = &device,
		                                 .device_nr = 1,
		                                 .shared = { 4096, 1, train_shared, 1 },
		                                 .hosts = train_host,
		                                 .host_nr = 1,
		                                 .opened_gpu = true };

	peak_rows[10].elastic = true;
	device.findings = train_findings;
	device.finding_nr = NR(train_findings);
	ledger.trainings = training;
	ledger.training_nr = NR(training);
	return &ledger;
}

static struct tare_refusal card_refusals[] = {
	{ "cuMemAlloc_v2", "PyTorch", 2, UINT64_C(8) << 30, UINT64_C(8) << 30, 1900000000 },
	{ "cuLaunchKernel", NULL, 1, MIB(266), MIB(10.5), 1200000000 },
	{ "cuMemCreate", "NCCL", 1, MIB(64), MIB(1), 1300000000 },
	{ "cuStreamCreate", "app", 1, MIB(2), MIB(2), 1400000000 },
	{ "cuMemAllocAsync", "RMM", 12345, MIB(1), MIB(1), 1400000000 },
};

static const struct tare_ledger *on_card(struct tare_device_ledger *device, struct tare_ledger *ledger)
{
	*ledger = *sample_train_peak();
	*device = ledger->devices[0];
	ledger->devices = device;
	return ledger;
}

const struct tare_ledger *sample_card(void)
{
	static struct tare_oom oom = { .number = 1,
		                           .t_ns = 1900000000,
		                           .pid = 431,
		                           .program = "python3",
		                           .is_torch = true,
		                           .source = "/home/me/train.py:87 in forward",
		                           .short_source = "train.py:87 in forward",
		                           .count = 3,
		                           .asked = UINT64_C(300) << 20,
		                           .segment = UINT64_C(320) << 20,
		                           .allocated = UINT64_C(80) << 20,
		                           .reserved = UINT64_C(400) << 20,
		                           .free = 102000000,
		                           .stuck = MIB(320),
		                           .verdict = TARE_OOM_FRAGMENTED };
	static struct tare_device_ledger device;
	static struct tare_ledger ledger;

	on_card(&device, &ledger);
	device.card =
		(struct tare_card_ledger){ .is_there = true, .name = "", .total = UINT64_C(8) << 30, .used = device.used };
	device.refusals = card_refusals;
	device.refusal_nr = NR(card_refusals);
	ledger.ooms = &oom;
	ledger.oom_nr = 1;
	return &ledger;
}

const struct tare_ledger *sample_card_of_profile(void)
{
	static struct tare_device_ledger device;
	static struct tare_ledger ledger;

	on_card(&device, &ledger);
	device.card = (struct tare_card_ledger){ .is_there = true,
		                                     .has_profile = true,
		                                     .name = "NVIDIA Example",
		                                     .total = UINT64_C(12) << 30,
		                                     .reserved = UINT64_C(300) << 20,
		                                     .used = device.used - MIB(213),
		                                     .context = MIB(310.5),
		                                     .multiprocessors = 46,
		                                     .threads_per_multiprocessor = 1536 };
	return &ledger;
}

const struct tare_ledger *sample_train_end(void)
{
	static struct tare_device_ledger device = H200(end_rows, end_lines, 4494.5, 0, 0, 41200000000);
	static struct tare_ledger ledger = { .at = "end",
		                                 .t_ns = 41200000000,
		                                 .devices = &device,
		                                 .device_nr = 1,
		                                 .hosts = train_host,
		                                 .host_nr = 1,
		                                 .opened_gpu = true };

	device.findings = &train_findings[1];
	device.finding_nr = 1;
	ledger.trainings = training;
	ledger.training_nr = NR(training);
	return &ledger;
}

/* Twenty captures that look alike, one that failed, one built by hand; and what could be saved. */
const struct tare_ledger *sample_graphs(void)
{
	static struct tare_graph_part part = { "libtorch_cuda", 20 << 20 };
	static struct tare_device_ledger device = H200(end_rows, end_lines, 4494.5, 0, 0, 41200000000);
	static struct tare_graph graphs[22];
	static struct tare_graph_saving savings[] = {
		{ TARE_GRAPH_SAVING_POOLS, 0, 20, 400 << 20, 20 << 20 },
		{ TARE_GRAPH_SAVING_UPDATE, 0, 20, 40 << 20, 2 << 20 },
	};
	static struct tare_ledger ledger = { .at = "end",
		                                 .t_ns = 41200000000,
		                                 .devices = &device,
		                                 .device_nr = 1,
		                                 .graphs = graphs,
		                                 .graph_nr = 22,
		                                 .savings = savings,
		                                 .saving_nr = 2,
		                                 .opened_gpu = true };

	for (int i = 0; i < 22; i++) {
		struct tare_graph *g = &graphs[i];

		*g = (struct tare_graph){ .number = (uint64_t)i + 1, .count = 1, .pid = 431 };
		g->state = i < 20 ? TARE_GRAPH_STATE_CAPTURED : i < 21 ? TARE_GRAPH_STATE_INVALID : TARE_GRAPH_STATE_BUILT;
		g->begin_ns = g->end_ns = i * INT64_C(1000000);
		g->used_after = i == 20 ? TARE_NOT_KNOWN : (uint64_t)MIB(1000 + 22 * i);
		g->stream_number = i < 21;
		if (i == 20)
			continue;
		g->flags = TARE_GRAPH_FLAG_NODES | TARE_GRAPH_FLAG_LAUNCHES;
		g->execs = g->alive = 1;
		g->launches = 100;
		g->nodes = i < 20 ? 280 : 4;
		g->kinds[TARE_NODE_KERNEL] = i < 20 ? 270 : 3;
		g->kinds[TARE_NODE_MEMSET] = i < 20 ? 10 : 1;
		g->at_instantiate = i < 20 ? MIB(2) : 0;
		if (i == 21)
			continue;
		g->allocated = g->held = MIB(20);
		g->parts = &part;
		g->part_nr = 1;
		g->pool = (uint32_t)i + 1;
		g->is_private = true;
		g->source = i < 10 ? "capture_begin" : "warm_up";
	}
	return &ledger;
}

/* 14 plain segments of which 12 are pinned, an expandable one that is full, one for graph 1. */
const struct tare_ledger *sample_pool(void)
{
	static struct tare_device_ledger device = H200(end_rows, end_lines, 4494.5, 0, 0, 41200000000);
	static struct tare_graph graph = { .number = 1, .count = 1, .pid = 431, .pool = 1 };
	static struct tare_pool_segment segments[16];
	static struct tare_pool_self_report said = { .pid = 431,
		                                         .t_ns = INT64_C(3200000000),
		                                         .allocated = MIB(98),
		                                         .reserved = MIB(330),
		                                         .active = MIB(98),
		                                         .requested = MIB(97),
		                                         .inactive_split = MIB(182),
		                                         .is_compared = true,
		                                         .live = MIB(98),
		                                         .segments = MIB(330) };
	static struct tare_ledger ledger = { .at = "end",
		                                 .t_ns = 41200000000,
		                                 .devices = &device,
		                                 .device_nr = 1,
		                                 .graphs = &graph,
		                                 .graph_nr = 1,
		                                 .opened_gpu = true };

	for (int i = 0; i < 16; i++) {
		struct tare_pool_segment *s = &segments[i];

		*s = (struct tare_pool_segment){ .pid = 431, .address = UINT64_C(0x7f0000000000) + (uint64_t)i * MIB(32) };
		s->bytes = i == 15 ? MIB(30) : MIB(20);
		s->live = i < 12 ? MIB(1 + i) : i == 14 ? MIB(20) : 0;
		s->blocks = s->live ? 2 : 0;
		s->is_expandable = i == 14;
		s->is_of_graph = s->is_held = i == 15;
		s->graph_pool = i == 15;
		if (!s->live)
			continue;
		s->pin_address = s->address;
		s->pin_bytes = 512;
		s->pin_born_ns = i == 1 ? -1 : INT64_C(1200000000) * (i + 1);
		s->pin_line = i == 2 ? NULL : "/home/me/train.py:87 in forward";
		s->pin_short_line = i == 2 ? NULL : "train.py:87 in forward";
	}
	device.segments = segments;
	device.segment_nr = 16;
	device.self_reports = &said;
	device.self_report_nr = 1;
	return &ledger;
}

const struct tare_ledger *sample_streams(void)
{
	static const struct tare_stream streams[] = {
		{ .kind = TARE_STREAM_DEFAULT },
		{ .kind = TARE_STREAM_OF_POOL, .id = 0x63, .number = 3 },
		{ .kind = TARE_STREAM_OF_POOL, .id = 0x5, .priority = -1 },
		{ .kind = TARE_STREAM_OF_POOL, .id = 0x27, .number = 1, .priority = -2 },
		{ .kind = TARE_STREAM_EXTERNAL, .id = UINT64_C(0x55d0a1b2c3d0) },
		{ .kind = TARE_STREAM_OTHER, .id = 0x1001 },
		{ .kind = TARE_STREAM_NOT_KNOWN },
	};
	const struct tare_ledger *ledger = sample_pool();

	for (int i = 0; i < 16; i++)
		ledger->devices[0].segments[i].stream = streams[i < 6 ? 0 : i > 12 ? 6 : i - 6];
	ledger->devices[0].segments[7].other_stream_blocks = 2;
	return ledger;
}
