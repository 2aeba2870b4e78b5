/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "test.h"
#include "weigh/explain.h"
#include "witness/procfs.h"

#include <errno.h>
#include <string.h>

TEST(every_sum_is_of_figures)
{
	struct tare_sum_term terms[TARE_SUM_MOST];

	for (int i = 0; i < TARE_TOOL_NR; i++) {
		if (tare_figures_parse(tare_tools[i].shows, terms) < 0)
			test_fail(__FILE__, __LINE__, "%s: %s", tare_tools[i].name, tare_tools[i].shows);
		if (tare_figures_parse(tare_tools[i].formula, terms) < 1)
			test_fail(__FILE__, __LINE__, "%s: %s", tare_tools[i].name, tare_tools[i].formula);
		CHECK_INT(tare_tool_find(tare_tools[i].word, strlen(tare_tools[i].word)), i);
		CHECK(*tare_tools[i].leaves_out && *tare_tools[i].counts_twice && *tare_tools[i].unknown);
	}
	CHECK_INT(tare_figures_parse("FILES + NOTHING", terms), -1);
	CHECK_INT(tare_tool_find("ps2", 3), TARE_TOOL_NR);
}

TEST(a_sum_is_known_if_all_of_it_is)
{
	struct tare_str text = { 0 };
	struct tare_figures f;

	tare_figures_clear(&f);
	CHECK(tare_figures_sum(&f, "MEM_TOTAL - MEM_FREE") == TARE_FIGURE_NOT_KNOWN);
	CHECK(tare_figures_sum(&f, "") == TARE_FIGURE_NOT_KNOWN);
	f.of[TARE_FIGURE_MEM_TOTAL] = 100 << 20;
	CHECK(tare_figures_sum(&f, "MEM_TOTAL - MEM_FREE") == TARE_FIGURE_NOT_KNOWN);
	f.of[TARE_FIGURE_MEM_FREE] = 30 << 20;
	f.of[TARE_FIGURE_BUFFERS] = 0;
	CHECK_INT(tare_figures_sum(&f, "MEM_TOTAL - MEM_FREE"), 70 << 20);
	tare_figures_describe(&text, &f, "MEM_TOTAL - MEM_FREE - BUFFERS");
	CHECK_STR(tare_str_text(&text), "MemTotal 100.0 - free 30.0");
	tare_str_cut(&text, 0);
	tare_figures_describe(&text, NULL, "MEM_TOTAL - MEM_FREE - BUFFERS");
	CHECK_STR(tare_str_text(&text), "MemTotal - free - Buffers");
	tare_str_free(&text);
}

static void check_print(enum tare_tool tool, int64_t bytes, const char *wanted)
{
	struct tare_str text = { 0 };

	tare_tool_print(&text, tool, bytes);
	CHECK_STR(tare_str_text(&text), wanted);
	tare_str_free(&text);
}

TEST(each_tool_prints_in_its_way)
{
	const int64_t kib = 1024, mib = 1 << 20, gib = 1 << 30;

	check_print(TARE_TOOL_PS, 386064 * kib, "386064");
	check_print(TARE_TOOL_TOP, 999999 * kib, "999999");
	check_print(TARE_TOOL_TOP, 1000000 * kib, "976.6m");
	check_print(TARE_TOOL_TOP, 2560 * mib, "2.500g");
	check_print(TARE_TOOL_HTOP, 99999 * kib, "99999");
	check_print(TARE_TOOL_HTOP, 377 * mib, "377M");
	check_print(TARE_TOOL_HTOP, 5 * gib / 2, "2.50G");
	check_print(TARE_TOOL_HTOP, 25 * gib, "25.0G");
	check_print(TARE_TOOL_TEGRASTATS, 3431 * mib, "3431MB");
	check_print(TARE_TOOL_DOCKER, 387 * mib + mib / 5, "387.2MiB");
	check_print(TARE_TOOL_DOCKER, 3 * gib / 2, "1.5GiB");
	check_print(TARE_TOOL_HEAPTRACK, 1000000, "1.00MB");
	check_print(TARE_TOOL_MEMORY_PROFILER, 3 * mib / 2, "1.500 MiB");
}

static void check_parse(enum tare_tool tool, const char *text, int64_t bytes, int64_t tolerance)
{
	int64_t got = 0, got_tolerance = 0;

	CHECK_INT(tare_tool_parse(tool, text, strlen(text), &got, &got_tolerance), 0);
	CHECK_INT(got, bytes);
	CHECK_INT(got_tolerance, tolerance);
}

TEST(a_figure_has_the_units_of_its_tool)
{
	static const char *const bad[] = { "", "x", "-1", "2.5", ".5G", "1e3", "1Q", "1GG", "1Gx", "1 G x", "1GiBs" };
	int64_t bytes, tolerance;

	check_parse(TARE_TOOL_PS, "386064", 386064 * 1024, 512);
	check_parse(TARE_TOOL_HTOP, "2.5G", 5 * ((int64_t)1 << 29), 53687091);
	check_parse(TARE_TOOL_HTOP, "2.50GB", 5 * ((int64_t)1 << 29), 5368709);
	check_parse(TARE_TOOL_TEGRASTATS, "3443", (int64_t)3443 << 20, 1 << 19);
	check_parse(TARE_TOOL_TEGRASTATS, "3443MB", (int64_t)3443 << 20, 1 << 19);
	check_parse(TARE_TOOL_MEMORY_PROFILER, "2081.6", 2182715802, 52428);
	check_parse(TARE_TOOL_HEAPTRACK, "1.5MB", 1500000, 50000);
	check_parse(TARE_TOOL_HEAPTRACK, "1MiB", 1 << 20, 1 << 19);
	check_parse(TARE_TOOL_DOCKER, "1.5GiB", 3 * ((int64_t)1 << 29), 53687091);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (tare_tool_parse(TARE_TOOL_HTOP, bad[i], strlen(bad[i]), &bytes, &tolerance) != -EINVAL)
			test_fail(__FILE__, __LINE__, "\"%s\" is taken for a size", bad[i]);
	CHECK_INT(tare_tool_parse(TARE_TOOL_HTOP, "99999999999999999T", 18, &bytes, &tolerance), -ERANGE);
}

TEST(clients_of_nvmap_are_summed_up)
{
	static const char clients[] = "CLIENT                        PROCESS      PID        SIZE\n"
								  "user                        my train     8411     123456K\n"
								  "user                          python     8411          4K\n"
								  "user                          python       84         10K\n"
								  "kernel                        kernel        0        100K\n"
								  "total                                              123570K\n";
	uint64_t bytes = 1;

	CHECK_INT(tare_nvmap_parse(clients, 8411, &bytes), 0);
	CHECK_INT(bytes, (uint64_t)123460 << 10);
	CHECK_INT(tare_nvmap_parse(clients, 1, &bytes), 0);
	CHECK_INT(bytes, 0);
	CHECK_INT(tare_nvmap_parse("", 1, &bytes), -EINVAL);
	CHECK_INT(tare_nvmap_parse("something else\n", 1, &bytes), -EINVAL);
	CHECK_INT(tare_nvmap_process("/nowhere", 1, &bytes), -ENOENT);
}
