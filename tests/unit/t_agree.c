/* SPDX-License-Identifier: Apache-2.0 */
#include "view/agree.h"
#include "test.h"

#include <string.h>

enum { MIB = 1 << 20 };

/* Two MiB of parameters and one of activations on the CPU, in a table and in a picture. */
static struct tare_category_sum sums[] = {
	{ TARE_CATEGORY_PARAMETER, 2 * MIB, 1, TARE_EVIDENCE_WITNESS },
	{ TARE_CATEGORY_ACTIVATION, 1 * MIB, 1, TARE_EVIDENCE_INFERRED },
};
static struct tare_tensor_row blocks[] = {
	{ .rule = TARE_RULE_SAID_PARAMETER, .count = 1, .bytes = 2 * MIB },
	{ .rule = TARE_RULE_SAVED, .count = 1, .bytes = 1 * MIB },
};
static struct tare_memory_history_band bands[] = {
	{ .key = "parameter", .label = "parameter" },
	{ .key = "activation", .label = "activation" },
	{ .key = "buffer/state", .label = "buffer/state" },
};

static struct tare_agreement agree(int64_t activation, int64_t buffer, int64_t used)
{
	struct tare_host_ledger host = {
		.pid = 7,
		.name = "train.py",
		.tensors = { .is_known = true, .bytes = 3 * MIB, .count = 2 },
		.categories = sums,
		.category_nr = 2,
		.blocks = { blocks, 2 },
	};
	struct tare_ledger l = { .at = "3s", .hosts = &host, .host_nr = 1 };
	int64_t bytes[] = { 2 * MIB, activation, buffer };
	struct tare_memory_history_point point = { 3000000000, used, bytes };
	struct tare_memory_history_panel panel = { .device = -1, .bands = bands, .band_nr = 3 };
	struct tare_agreement a = { 0 };

	tare_agree_at(&a, &l, &panel, &point);
	return a;
}

TEST(agree_where_all_views_say_the_same)
{
	struct tare_agreement a = agree(1 * MIB, 0, 3 * MIB);

	CHECK_INT(a.differ, 0);
	CHECK(a.figures >= 10);
	CHECK_STR(tare_str_text(&a.why), "");
	tare_str_free(&a.why);
}

TEST(agree_not_where_a_picture_has_another_category)
{
	struct tare_agreement a = agree(0, 1 * MIB, 3 * MIB);

	CHECK_INT(a.differ, 2);
	CHECK_STR(tare_str_text(&a.why),
	          "CPU at 3.000000000 s: the picture (--svg) has 0 bytes of activation, and the table of tensors "
	          "on the CPU has 1048576");
	tare_str_free(&a.why);
}

TEST(agree_not_where_a_sum_differs)
{
	struct tare_agreement a = agree(1 * MIB, 0, 3 * MIB + 1);

	CHECK_INT(a.differ, 1);
	CHECK(strstr(tare_str_text(&a.why), "of used"));
	tare_str_free(&a.why);
}

/* What is in a table of categories, and in none of the rows that it is made of. */
TEST(agree_not_where_blocks_are_for_something_else)
{
	struct tare_agreement a;

	blocks[1].rule = TARE_RULE_LASTING;
	a = agree(1 * MIB, 0, 3 * MIB);
	CHECK_INT(a.differ, 2);
	CHECK(strstr(tare_str_text(&a.why), "--by category has"));
	tare_str_free(&a.why);
}

static struct tare_agreement agree_over_time(int64_t most)
{
	int64_t used[] = { 5, 7 };
	struct tare_ledger l = { .host_timeline = { 0, 100, 50, used, 2 } };
	struct tare_memory_history_point points[] = { { 0, 5, NULL }, { 49, 4, NULL }, { 60, most, NULL } };
	struct tare_memory_history_panel panel = { .device = -1, .points = points, .point_nr = 3 };
	struct tare_agreement a = { 0 };

	tare_agree_time(&a, &l, &panel);
	return a;
}

TEST(agree_over_time)
{
	struct tare_agreement a = agree_over_time(7);

	CHECK_INT(a.figures, 2);
	CHECK_INT(a.differ, 0);
	a = agree_over_time(8);
	CHECK_INT(a.differ, 1);
	CHECK(strstr(tare_str_text(&a.why), "--by time has 7"));
	tare_str_free(&a.why);
}
