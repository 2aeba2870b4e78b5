/* SPDX-License-Identifier: Apache-2.0 */
/* Ledgers of several processes, GPUs and ranks, and of none. */
#include "sample_ledger_rows.h"

/* clang-format off */
static struct tare_row pair_rows[] = {
	ROW("process:7", "server[7]", -1, 0, false, PROCESS, WEIGHED, 8736, 0, 7),
	ROW("process:7/context", "context", 0, 1, false, CONTEXT, WEIGHED, 544, 3, 7),
	ROW("process:7/context/a", "primary", 1, 2, true, CONTEXT, WEIGHED, 520, 1, 7),
	ROW("process:7/context/b", "0x7f10", 1, 2, true, CONTEXT, WEIGHED, 20, 1, 7),
	ROW("process:7/context/c", "0x7f20", 1, 2, true, CONTEXT, WEIGHED, 4, 1, 7),
	ROW("process:7/local", "local memory", 0, 1, true, LOCAL, WEIGHED, 8192, 2, 7),
	ROW("process:8", "a\033[31m%2Fname that is much longer than any column may ever be[8]", -1, 0,
	    false, PROCESS, INFERRED, 46, 0, 8),
	ROW("process:8/allocations", "allocations", 6, 1, false, ALLOCATION, EXACT, 44, 9, 8),
	ROW("process:8/allocations/1", "libone.so", 7, 2, true, ALLOCATION, EXACT, 20, 1, 8),
	ROW("process:8/allocations/2", "libtwo.so", 7, 2, true, ALLOCATION, EXACT, 8, 1, 8),
	ROW("process:8/allocations/3", "libthree.so", 7, 2, true, ALLOCATION, EXACT, 6, 2, 8),
	ROW("process:8/allocations/4", "libfour.so", 7, 2, true, ALLOCATION, EXACT, 5, 1, 8),
	ROW("process:8/allocations/5", "libfive.so", 7, 2, true, ALLOCATION, EXACT, 2, 1, 8),
	ROW("process:8/allocations/6", "libsix.so", 7, 2, true, ALLOCATION, EXACT, 1, 1, 8),
	ROW("process:8/allocations/7", "libseven.so", 7, 2, true, ALLOCATION, EXACT, 1, 1, 8),
	ROW("process:8/allocations/8", "libeight.so", 7, 2, true, ALLOCATION, EXACT, 1, 1, 8),
	ROW("process:8/granularity", "granularity", 6, 1, true, GRANULARITY, INFERRED, 2, 0, 8),
	ROW("other", "other processes", -1, 0, false, OTHER, WITNESS, 1200.5, 2, -1),
	ROW("other/99", "Xorg[99]", 17, 1, true, OTHER, WITNESS, 1000.5, 1, -1),
	ROW("other/98", "[98]", 17, 1, true, OTHER, WITNESS, 200, 1, -1),
};
static struct tare_row second_rows[] = {
	ROW("process:7", "server[7]", -1, 0, false, PROCESS, WEIGHED, 4, 0, 7),
	ROW("process:7/streams", "streams and events", 0, 1, true, STREAM, WEIGHED, 4, 2, 7),
	ROW("other", "other processes", -1, 0, true, OTHER, WITNESS, 0, 0, -1),
};
static struct tare_row third_rows[] = {
	ROW("other", "other processes", -1, 0, true, OTHER, WITNESS, 300, 1, -1),
};

static struct tare_ledger_line pair_lines[] = {
	NO_LINE("step+0x4f in server", WEIGHED, 8736, 7),
	NO_LINE("no line", EXACT, 44, 8),
	NO_LINE("granularity", INFERRED, 2, 8),
	NO_LINE("other processes", WITNESS, 1200.5, -1),
};

static struct tare_device_ledger pair_devices[] = {
	{ .index = 0, .name = "NVIDIA GeForce RTX 3060", .uuid = "GPU-0", .total = 12884901888,
	  .reserved = TARE_NOT_KNOWN, .used = 10468982784, .used_start = 1258815488,
	  .unexplained = 10468982784 - MIB(9982.5), .t_ns = 500000000, .peak_t_ns = 500000000,
	  .peak_used = 10468982784, .used_by = TARE_EVIDENCE_WEIGHED, .nvml = true,
	  .rows = pair_rows, .row_nr = NR(pair_rows),
	  .lines = pair_lines, .line_nr = NR(pair_lines) },
	{ .index = 1, .name = "NVIDIA GeForce RTX 3060", .uuid = "GPU-1", .total = TARE_NOT_KNOWN,
	  .reserved = TARE_NOT_KNOWN, .used = MIB(1.5), .used_start = 0, .unexplained = -MIB(2.5),
	  .t_ns = 750000000, .peak_t_ns = 750000000, .peak_used = MIB(1.5),
	  .used_by = TARE_EVIDENCE_WEIGHED, .rows = second_rows, .row_nr = NR(second_rows) },
	{ .index = 2, .name = "NVIDIA GeForce RTX 3060", .uuid = "GPU-2", .total = 12884901888,
	  .reserved = TARE_NOT_KNOWN, .used = MIB(300), .used_start = MIB(300), .t_ns = -1,
	  .peak_t_ns = -1, .peak_used = MIB(300), .used_by = TARE_EVIDENCE_WEIGHED, .nvml = true,
	  .rows = third_rows, .row_nr = NR(third_rows) },
};
static struct tare_host_ledger pair_hosts[] = {
	{ .pid = 7, .name = "server", .pss = 104857600, .rss = 209715200, .anon = TARE_NOT_KNOWN,
	  .file = TARE_NOT_KNOWN, .shmem = TARE_NOT_KNOWN, .swap = 1048576, .tables = TARE_NOT_KNOWN,
	  .peak_rss = 209715200,
	  .pinned = TARE_NOT_KNOWN, .registered = 65536 },
	{ .pid = 8, .generation = 1, .name = "a\033[31m/name", .pss = TARE_NOT_KNOWN,
	  .rss = TARE_NOT_KNOWN, .anon = TARE_NOT_KNOWN, .file = TARE_NOT_KNOWN,
	  .shmem = TARE_NOT_KNOWN, .swap = TARE_NOT_KNOWN, .tables = TARE_NOT_KNOWN,
	  .peak_rss = TARE_NOT_KNOWN },
};
/* clang-format on */
static struct tare_finding pair_findings[] = {
	{ .advice = TARE_ADVICE_STACK,
	  .account = TARE_ACCOUNT_LOCAL,
	  .bytes = MIB(7392),
	  .pid = 7,
	  .name = "solve\033[31m<…>",
	  .each = 32768,
	  .next = 4096 },
	{ .advice = TARE_ADVICE_OTHERS,
	  .account = TARE_ACCOUNT_OTHER,
	  .bytes = MIB(1200.5),
	  .pid = -1,
	  .name = "Xorg (pid 99)" },
	{ .advice = TARE_ADVICE_ACCOUNT,
	  .account = TARE_ACCOUNT_HOSTMAP,
	  .bytes = MIB(300),
	  .pid = -1,
	  .name = "mapping of pinned memory" },
};
static struct tare_finding stream_findings[] = {
	{ .advice = TARE_ADVICE_STREAMS,
	  .account = TARE_ACCOUNT_STREAM,
	  .bytes = MIB(4),
	  .pid = 7,
	  .name = "libone",
	  .count = 1234 },
};
static struct tare_loss pair_losses[] = {
	{ .pid = 7,
	  .program = "server",
	  .tid = 12,
	  .records = 1000,
	  .from_ns = 800000000,
	  .to_ns = 900000000,
	  .reason = "disk-full",
	  .why = "the disk was full, or a limit on files or the disk was reached" },
	{ .pid = 7,
	  .program = "server",
	  .tid = 13,
	  .records = 34,
	  .from_ns = 810000000,
	  .to_ns = 990000000,
	  .reason = "no-lane",
	  .why = "more threads recorded at once than a log has lanes" },
	{ .pid = 8,
	  .generation = 1,
	  .program = "a\033[31m/name",
	  .from_ns = 850000000,
	  .to_ns = 870000000,
	  .reason = "damaged",
	  .why = "a part of the log is damaged or missing" },
};
static const char *pair_degraded[] = {
	"process 8 ran a static program, whose driver calls cannot be seen; record it with a dynamic "
	"build",
	"NVML does not list processes here",
};

const struct tare_ledger *sample_pair(void)
{
	static struct tare_ledger ledger = {
		.at = "peak",
		.t_ns = -1,
		.devices = pair_devices,
		.device_nr = 3,
		.hosts = pair_hosts,
		.host_nr = 2,
		.losses = pair_losses,
		.loss_nr = NR(pair_losses),
		.degraded = pair_degraded,
		.degraded_nr = 2,
		.opened_gpu = true,
	};

	pair_devices[0].findings = pair_findings;
	pair_devices[0].finding_nr = NR(pair_findings);
	pair_devices[1].findings = stream_findings;
	pair_devices[1].finding_nr = NR(stream_findings);
	for (int i = 2; i <= 3; i++)
		pair_rows[i].contended = true;
	pair_rows[3].low = MIB(16);
	pair_rows[3].high = MIB(24);
	pair_rows[2].low = MIB(516);
	pair_rows[2].high = MIB(524);
	pair_rows[1].contended = pair_rows[0].contended = true;
	pair_rows[1].low = MIB(540);
	pair_rows[1].high = MIB(548);
	pair_rows[0].low = MIB(8732);
	pair_rows[0].high = MIB(8740);
	return &ledger;
}

const struct tare_ledger *sample_uncounted(void)
{
	static struct tare_row rows[] = {
		ROW("process:5", "app[5]", -1, 0, false, PROCESS, EXACT, 64, 0, 5),
		ROW("process:5/allocations", "allocations", 0, 1, true, ALLOCATION, EXACT, 64, 2, 5),
	};
	static struct tare_device_ledger device = {
		.index = 0,
		.name = "Orin",
		.total = TARE_NOT_KNOWN,
		.reserved = TARE_NOT_KNOWN,
		.used = 67108864,
		.used_start = TARE_NOT_KNOWN,
		.t_ns = 1000000,
		.peak_t_ns = 1000000,
		.peak_used = 67108864,
		.used_by = TARE_EVIDENCE_INFERRED,
		.integrated = true,
		.rows = rows,
		.row_nr = NR(rows),
	};
	static struct tare_ledger ledger = {
		.at = "12.5s", .t_ns = 12500000000, .devices = &device, .device_nr = 1, .opened_gpu = true
	};

	return &ledger;
}

/* clang-format off */
#define RANKED(N, PATH, ACCOUNT, BYTES)                                                            \
	{ .path = PATH, .label = PATH, .parent = -1, .leaf = true,                                 \
	  .account = TARE_ACCOUNT_##ACCOUNT, .evidence = TARE_EVIDENCE_WEIGHED,                    \
	  .bytes = MIB(BYTES), .low = MIB(BYTES), .high = MIB(BYTES), .count = 1,                  \
	  .driver_ns = 1000, .pid = 100 + (N), .rank = (N), .rank_at = (N) }

static struct tare_row rank_rows_0[] = {
	RANKED(0, "process:100/driver", DRIVER, 3.25),
	RANKED(0, "process:100/context", CONTEXT, 523.5625),
	RANKED(0, "process:100/code", CODE, 94),
	RANKED(0, "process:100/allocations", ALLOCATION, 1000),
	RANKED(1, "process:101/driver", DRIVER, 0.0625),
	RANKED(2, "process:102/context", CONTEXT, 523.5625),
	RANKED(2, "process:102/allocations", ALLOCATION, 1400.4375),
	RANKED(2, "process:102/granularity", GRANULARITY, 1.5625),
};
static struct tare_row rank_rows_1[] = {
	RANKED(1, "process:101/context", CONTEXT, 523.5625),
	RANKED(1, "process:101/allocations", ALLOCATION, 1600),
	RANKED(2, "process:102/context", CONTEXT, 523.5625),
};

static struct tare_device_ledger rank_devices[] = {
	{ .index = 0, .name = "NVIDIA H200", .uuid = "GPU-0", .total = (uint64_t)MIB(143771),
	  .reserved = TARE_NOT_KNOWN, .used = (uint64_t)MIB(3546.4375), .t_ns = 1900000000,
	  .peak_t_ns = 1900000000, .peak_used = (uint64_t)MIB(3546.4375),
	  .used_by = TARE_EVIDENCE_WEIGHED, .nvml = true, .rows = rank_rows_0,
	  .row_nr = NR(rank_rows_0) },
	{ .index = 1, .name = "NVIDIA H200", .uuid = "GPU-1", .total = (uint64_t)MIB(143771),
	  .reserved = TARE_NOT_KNOWN, .used = (uint64_t)MIB(2647.125), .t_ns = 2100000000,
	  .peak_t_ns = 2100000000, .peak_used = (uint64_t)MIB(2647.125),
	  .used_by = TARE_EVIDENCE_WEIGHED, .nvml = true, .rows = rank_rows_1,
	  .row_nr = NR(rank_rows_1) },
};

#define RANK(N, LOCAL, END, END_NS)                                                                \
	{ .rank = (N), .local = (LOCAL), .world = 3, .job = "17.0", .launcher = "Slurm",           \
	  .host = (N) == 2 ? "gpu8" : "gpu7", .pid = 100 + (N), .process_nr = 1,                   \
	  .end = TARE_RANK_##END, .end_ns = END_NS, .is_failed = true, .is_first = (N) == 1,       \
	  .code = (N) == 0 ? 15 : (N) == 1 ? 1 : -1 }
static struct tare_rank_ledger ranks[] = {
	RANK(0, 0, SIGNAL, 12500000000),
	RANK(1, 1, EXITED, 12300000000),
	RANK(2, 0, KILLED, 12000000000),
};
/* clang-format on */

const struct tare_ledger *sample_ranks(void)
{
	static struct tare_ledger ledger = { .at = "peak",
		                                 .t_ns = -1,
		                                 .devices = rank_devices,
		                                 .device_nr = 2,
		                                 .ranks = ranks,
		                                 .rank_nr = 3,
		                                 .opened_gpu = true };

	rank_rows_0[3].elastic = true;
	return &ledger;
}

const struct tare_ledger *sample_idle(void)
{
	static struct tare_ledger ledger = { .at = "end", .t_ns = 3000000 };

	return &ledger;
}
