/* SPDX-License-Identifier: Apache-2.0 */
/* What `tare import` makes of a line; files as a whole: tests/e2e/t_import.py. */
#include "import/printed_line.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define MIB INT64_C(1048576)

static const struct tare_import_units as_printed, binary = { .is_binary = true }, gib = { .plain = 1 << 30 };

static struct tare_printed_line line;

static enum tare_printed_what parse(const char *text)
{
	return tare_printed_line(text, &line);
}

static int64_t used(const struct tare_import_units *units)
{
	CHECK(line.used.is_there);
	return tare_printed_bytes(&line.used, units);
}

static int64_t diff(const struct tare_import_units *units)
{
	CHECK(line.diff.is_there);
	return tare_printed_bytes(&line.diff, units);
}

/* Each line is one way to print the same: precon, 1204 MiB, of which 24 are new. */
TEST(the_same_in_every_spelling)
{
	static const char *const lines[] = {
		"precon: used: 1204 MiB, diff: 24 MiB",
		"precon used=1204.0MiB diff=24MiB",
		"precon: used: 1,204.00 MiB, diff: +24.0 MiB",
		"[precon] Memory used: 1204 MiB (diff: 24 MiB)",
		"precon | used (MiB): 1204 | diff (MiB): 24",
		"precon mem_used_mib=1204 mem_diff_mib=24",
		"precon - GPU memory used 1204 MiB, difference 24 MiB",
		"2024-05-01 12:00:01,500 - INFO - precon: used: 1204 MiB, diff: 24 MiB",
		"INFO:root:precon: used: 1204, diff: 24",
		"precon: used: 1204, diff: 24",
		"precon: used: 1262485504, diff: 25165824",
		"precon: used: 1262485504 bytes, diff: 25165824 bytes",
		"precon: used: 1.17578125 GiB, delta: 24576 KiB",
		"precon:\tused:\t1204 MiB,\tdiff:\t24 MiB",
		"used: 1204 MiB, diff: 24 MiB  # precon",
		"used: 1204 MiB, diff: 24 MiB (precon)",
		"GPU 0: precon: used: 1204 MiB, diff: 24 MiB",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		bool is_bytes = strstr(lines[i], "1262485504") != NULL;
		const struct tare_import_units bytes = { .plain = 1 };

		char got[640], want[256];

		parse(lines[i]);
		snprintf(got, sizeof(got), "%s → %s %lld %lld", lines[i], line.label, (long long)used(&as_printed),
		         (long long)diff(is_bytes ? &bytes : &as_printed));
		snprintf(want, sizeof(want), "%s → precon 1262485504 25165824", lines[i]);
		CHECK_STR(got, want);
	}
}

TEST(units_of_1000_and_of_1024)
{
	CHECK_INT(parse("a: used: 2 GB, diff: 24 MB"), TARE_PRINTED_FIGURES);
	CHECK_INT(used(&as_printed), 2000000000);
	CHECK_INT(diff(&as_printed), 24000000);
	CHECK_INT(used(&binary), 2048 * MIB);
	CHECK_INT(diff(&binary), 24 * MIB);
	CHECK_INT(parse("a: used: 2, diff: 0.5"), TARE_PRINTED_FIGURES);
	CHECK_INT(used(&gib), 2048 * MIB);
	CHECK_INT(diff(&gib), 512 * MIB);
}

TEST(signs_and_parts)
{
	CHECK_INT(parse("freed: used: 100 MiB, diff: -24.5 MiB"), TARE_PRINTED_FIGURES);
	CHECK_INT(diff(&as_printed), -24 * MIB - MIB / 2);
	CHECK_INT(parse("start: used: 527.0625 MiB"), TARE_PRINTED_FIGURES);
	CHECK(!line.diff.is_there);
	CHECK_INT(used(&as_printed), 527 * MIB + MIB / 16);
	CHECK_INT(parse("graph diff: 24 MiB"), TARE_PRINTED_FIGURES);
	CHECK(!line.used.is_there);
	CHECK_STR(line.label, "graph");
	CHECK_INT(parse("x total: 8 GiB, used: 1 GiB, diff: 0"), TARE_PRINTED_FIGURES);
	CHECK_INT(tare_printed_bytes(&line.total, &as_printed), 8192 * MIB);
	CHECK_STR(line.label, "x");
}

TEST(labels_keep_what_belongs_to_them)
{
	CHECK_INT(parse("force_graph max_iter=800 used: 1 MiB, diff: 1 MiB"), TARE_PRINTED_FIGURES);
	CHECK_STR(line.label, "force_graph max_iter=800");
	CHECK_INT(parse("after graph(800): used: 1 MiB"), TARE_PRINTED_FIGURES);
	CHECK_STR(line.label, "after graph(800)");
	CHECK_INT(parse("=== after_force_diff === used: 1 MiB, diff: 1 MiB"), TARE_PRINTED_FIGURES);
	CHECK_STR(line.label, "after_force_diff");
	CHECK_INT(parse("--- fermion ---"), TARE_PRINTED_TEXT);
	CHECK_STR(line.label, "fermion");
	CHECK_INT(parse("Übergang ψ: used: 1 MiB"), TARE_PRINTED_FIGURES);
	CHECK_STR(line.label, "Übergang ψ");
}

TEST(devices_and_times)
{
	CHECK_INT(parse("[12:00:01.25] cuda:1 precon used: 1 MiB"), TARE_PRINTED_FIGURES);
	CHECK_INT(line.device, 1);
	CHECK_STR(line.label, "precon");
	CHECK(line.has_time);
	CHECK_INT(line.time_ns, INT64_C(43201250000000));
	CHECK_INT(parse("2024-05-01T12:00:01Z precon used: 1 MiB"), TARE_PRINTED_FIGURES);
	CHECK_INT(line.time_ns, INT64_C(1714564801000000000));
	CHECK_INT(parse("precon used: 1 MiB"), TARE_PRINTED_FIGURES);
	CHECK_INT(line.device, -1);
	CHECK(!line.has_time);
}

TEST(unreadable_is_told_from_other_text)
{
	static const char *const unreadable[] = {
		"a used: n/a, diff: 24 MiB",      "a used: , diff: ", "a used: nan", "a used: -5 MiB",
		"used: 99999999999999999999 TiB", "a used: 1e400 MiB"
	};
	static const char *const other[] = { "",
		                                 "we used 3 GPUs",
		                                 "unused: 3 MiB",
		                                 "memory usage 45%",
		                                 "epoch 3 loss 0.25",
		                                 "the difference is small",
		                                 "total: 8 GiB",
		                                 "used",
		                                 "diff --git a/x b/x" };

	for (size_t i = 0; i < sizeof(unreadable) / sizeof(unreadable[0]); i++)
		CHECK_STR(parse(unreadable[i]) == TARE_PRINTED_UNREADABLE ? unreadable[i] : "", unreadable[i]);
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		CHECK_STR(parse(other[i]) == TARE_PRINTED_TEXT ? other[i] : "taken", other[i]);
}
