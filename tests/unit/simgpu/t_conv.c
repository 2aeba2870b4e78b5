/* SPDX-License-Identifier: Apache-2.0 */
/* What simulated cuDNN knows of convolutions: their keys, the rule for workspaces, tables of recorded ones. */
#include <stdlib.h>
#include <string.h>

#include "simgpu/libs/conv_table.h"
#include "simgpu/libs/cudnn_rule.h"
#include "tests/unit/test.h"

/* A product of cuBLAS: of 100 images, which fill the card, and of 8, which do not. */
#define GEMM  "fwd 0:64,32,1,1/32,1,1,1 0:100,32,6,6/1152,36,6,1 0:100,64,6,6/2304,36,6,1 0,0 1,1 1,1 0"
#define SMALL "fwd 0:64,32,1,1/32,1,1,1 0:8,32,6,6/1152,36,6,1 0:8,64,6,6/2304,36,6,1 0,0 1,1 1,1 0"

static const struct sim_conv_card h100 = { 90, 132 };

static struct sim_conv parsed(const char *line)
{
	struct sim_conv conv;

	CHECK(sim_conv_parse(line, &conv));
	return conv;
}

TEST(conv_is_read)
{
	struct sim_conv conv = parsed("bwd_filter 9:64,8,3,5/120,15,5,1 9:2,32,9,9/2592,81,9,1 "
	                              "9:2,64,5,3/960,15,3,1 1,0 2,2 1,3 0 = 400 8");

	CHECK_INT(conv.direction, SIM_CONV_FILTER);
	CHECK_INT(conv.type, 9);
	CHECK_INT(conv.rank, 4);
	CHECK_INT(conv.groups, 4);
	CHECK_INT(conv.w.dims[3], 5);
	CHECK_INT(conv.x.strides[0], 2592);
	CHECK_INT(conv.y.dims[2], 5);
	CHECK_INT(conv.pads[0], 1);
	CHECK_INT(conv.strides[1], 2);
	CHECK_INT(conv.dilations[1], 3);
	CHECK(!conv.channels_last);
}

TEST(conv_that_is_none)
{
	static const char *const bad[] = {
		"",
		"fwd",
		"fw 0:1,1,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0,0 1,1 1,1 0",
		"fwd 0:1,1/1,1 0:1,1/1,1 0:1,1/1,1 0 1 1 0",
		"fwd 0:1,1,1,1/1,1,1 0:1,1,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0,0 1,1 1,1 0",
		"fwd 0:1,1,1,1,1,1/1,1,1,1,1,1 0:1,1,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0,0 1,1 1,1 0",
		"fwd 0:1,2,1,1/1,1,1,1 0:1,3,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0,0 1,1 1,1 0",
		"fwd 0:1,0,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0,0 1,1 1,1 0",
		"fwd 0:1,1,1,1/1,1,1,1 2:1,1,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0,0 1,1 1,1 0",
		"fwd 0:1,1,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0,0 1,1 1,1 x",
		"fwd 0:1,1,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0,0 1 1,1 0",
		"fwd 0:9999999999,1,1,1/1,1,1,1 0:1,1,1,1/1,1,1,1 0:1,9999999999,1,1/1,1,1,1 0,0 1,1 1,1 0",
	};
	struct sim_conv conv;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (sim_conv_parse(bad[i], &conv))
			test_fail(__FILE__, __LINE__, "is taken for a convolution: %s", bad[i]);
}

TEST(conv_strides_of_one)
{
	/* The same convolution, with other strides where a dimension is of size 1. */
	struct sim_conv one = parsed("fwd 0:16,8,1,1/8,1,1,1 0:1,8,4,4/128,16,4,1 "
	                             "0:1,16,4,4/256,16,4,1 0,0 1,1 1,1 0");
	struct sim_conv other = parsed("fwd 0:16,8,1,1/8,1,77,5 0:1,8,4,4/9,16,4,1 "
	                               "0:1,16,4,4/1,16,4,1 0,0 1,1 1,1 0");
	struct sim_conv last = parsed("fwd 0:16,8,1,1/8,1,8,8 0:1,8,4,4/128,1,32,8 "
	                              "0:1,16,4,4/256,1,64,16 0,0 1,1 1,1 0");
	char key[SIM_CONV_KEY], same[SIM_CONV_KEY];

	CHECK(sim_conv_key(&one, key, sizeof(key)));
	CHECK(sim_conv_key(&other, same, sizeof(same)));
	CHECK_STR(same, key);
	CHECK(last.channels_last);
	CHECK(sim_conv_key(&last, same, sizeof(same)));
	CHECK_HAS(same, "0:16,8,1,1/8,1,8,8");
	CHECK(strcmp(same, key) != 0);
	CHECK_INT(sim_conv_key(&one, key, 20), 0);
	CHECK_INT(sim_conv_key(&one, NULL, 0), 0);
}

/* The sample of tests/data against the rule: how many are right, and how many would be without it. */
TEST(rule_against_a_card)
{
	const char *folder = getenv("TARE_TEST_DATA");
	int count = 0, right = 0, deviceless_right = 0, shape_right = 0;
	char line[2048], path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cudnn_workspaces.txt", folder ? folder : "tests/data");
	file = fopen(path, "r");
	CHECK(file != NULL);
	while (fgets(line, sizeof(line), file)) {
		long long card, deviceless;
		struct sim_conv_plan plan;
		struct sim_conv conv;
		const char *rule;

		if (line[0] == '#')
			continue;
		conv = parsed(line);
		CHECK(sscanf(strstr(line, " = "), " = %lld %lld", &card, &deviceless) == 2);
		CHECK(sim_conv_plan_parse(strstr(line, " # ") + 3, &plan));
		count++;
		right += sim_cudnn_rule(&conv, &h100, &plan, deviceless, &rule) == card;
		deviceless_right += deviceless == card;
		shape_right += sim_cudnn_rule(&conv, &h100, NULL, -1, &rule) == card;
	}
	fclose(file);
	CHECK_INT(count, 64);
	CHECK_INT(right, 59);
	CHECK_INT(deviceless_right, 28);
	CHECK_INT(shape_right, 25);
}

TEST(rule_of_other_cards)
{
	struct sim_conv_card ampere = { 86, 38 };
	struct sim_conv conv = parsed(GEMM), small = parsed(SMALL);
	struct sim_conv_plan plan;
	const char *rule;

	CHECK(sim_conv_plan_parse("58:25=1", &plan));
	CHECK_INT(sim_cudnn_rule(&conv, &h100, &plan, 0, &rule), 400);
	CHECK_STR(rule, "gemm");
	CHECK_INT(sim_cudnn_rule(&small, &h100, &plan, 0, &rule), 0);
	CHECK_INT(sim_cudnn_rule(&conv, &ampere, &plan, 0, &rule), 0);
	CHECK_STR(rule, "deviceless");
	CHECK(sim_conv_plan_parse("58:25=0", &plan));
	CHECK_INT(sim_cudnn_rule(&conv, &h100, &plan, 0, &rule), 0);
	CHECK_INT(sim_cudnn_rule(&conv, &h100, NULL, 77, &rule), 77);
}

TEST(plans_are_read)
{
	struct sim_conv_plan plan;

	CHECK(sim_conv_plan_parse("30:2=5,12=-1", &plan));
	CHECK_INT(plan.engine, 30);
	CHECK_INT(plan.knobs[12], -1);
	CHECK_INT(plan.knobs[3], SIM_CONV_NO_KNOB);
	CHECK(sim_conv_plan_parse("7:", &plan));
	CHECK(!sim_conv_plan_parse("7", &plan));
	CHECK(!sim_conv_plan_parse("", &plan));
	CHECK(!sim_conv_plan_parse("7:64=1", &plan));
	CHECK(!sim_conv_plan_parse("7:-1=1", &plan));
	CHECK(!sim_conv_plan_parse("7:1=", &plan));
}

/* A table of two convolutions, by hand: sizes 5 and 405. */
static size_t make_table(unsigned char *data, const char *card, uint64_t low, uint64_t high)
{
	size_t n = 0;
	uint64_t numbers[] = { low, 1, high - low, 0 };

	memcpy(data, "TARECONV\x01\xfc\xcd\x05\x5a\x84\x01", 15); /* 1, 91900, 90, 132 */
	n = 15;
	data[n++] = (unsigned char)strlen(card);
	memcpy(data + n, card, strlen(card));
	n += strlen(card);
	memcpy(data + n, "\x02\x05\x90\x03\x02", 5);
	n += 5;
	for (int i = 0; i < 4; i++) {
		for (; numbers[i] >= 0x80; numbers[i] >>= 7)
			data[n++] = (unsigned char)(numbers[i] | 0x80);
		data[n++] = (unsigned char)numbers[i];
	}
	return n;
}

TEST(table_is_read)
{
	unsigned char data[128];
	size_t size = make_table(data, "NVIDIA H100", 3, 300);
	struct sim_conv_table table;

	CHECK(sim_conv_table_read(&table, data, size));
	CHECK_STR(table.card, "NVIDIA H100");
	CHECK_INT(table.cudnn, 91900);
	CHECK_INT(table.capability, 90);
	CHECK_INT(table.processors, 132);
	CHECK_INT(table.count, 2);
	CHECK_INT(table.hashes[1], 300);
	CHECK_INT(table.bytes[0], 405);
	CHECK_INT(table.bytes[1], 5);
	sim_conv_table_end(&table);
}

TEST(table_damaged)
{
	unsigned char data[128];
	size_t size = make_table(data, "NVIDIA H100", 3, 300);
	struct sim_conv_table table;

	for (size_t shorter = 0; shorter < size; shorter++)
		CHECK(!sim_conv_table_read(&table, data, shorter));
	data[size] = 0;
	CHECK(!sim_conv_table_read(&table, data, size + 1));
	for (size_t at = 0; at < size; at++) {
		unsigned char kept = data[at];

		for (int bit = 0; bit < 8; bit++) {
			data[at] = (unsigned char)(kept ^ 1 << bit);
			if (sim_conv_table_read(&table, data, size))
				sim_conv_table_end(&table);
		}
		data[at] = kept;
	}
}

/* The tables that are shipped: every convolution of the sample that the card answered is in one, with that size. */
TEST(tables_of_the_product)
{
	const char *folder = getenv("TARE_TEST_DATA"), *shipped = getenv("TARE_TEST_TABLES");
	struct sim_conv_asker h100_asks = { "NVIDIA H100 80GB HBM3", 91900, 90, 132 };
	struct sim_conv_asker h200_asks = { "NVIDIA H200", 91900, 90, 132 };
	struct sim_conv_asker newer = { "NVIDIA H100 80GB HBM3", 91901, 90, 132 };
	struct sim_conv_asker much_newer = { "NVIDIA H100 80GB HBM3", 92000, 90, 132 };
	struct sim_conv_asker smaller = { "NVIDIA H100 PCIe", 91900, 90, 114 };
	const struct sim_conv_table *table;
	struct sim_conv_tables tables;
	char line[2048], path[4096];
	bool assumed;
	FILE *file;

	CHECK(folder && shipped);
	memset(&tables, 0, sizeof(tables));
	sim_conv_tables_open(&tables, shipped);
	CHECK(tables.count >= 1);
	snprintf(path, sizeof(path), "%s/cudnn_workspaces.txt", folder);
	file = fopen(path, "r");
	CHECK(file != NULL);
	while (fgets(line, sizeof(line), file)) {
		struct sim_conv conv;
		long long card;

		if (line[0] == '#')
			continue;
		conv = parsed(line);
		card = atoll(strstr(line, " = ") + 3);
		CHECK_INT(sim_conv_lookup(&tables, &h100_asks, &conv, &table, &assumed), card);
		CHECK(!assumed);
		CHECK(sim_conv_lookup(&tables, &h200_asks, &conv, &table, &assumed) >= 0);
		CHECK(!assumed);
		CHECK_INT(sim_conv_lookup(&tables, &newer, &conv, &table, &assumed), card);
		CHECK(assumed);
		CHECK_INT(sim_conv_lookup(&tables, &much_newer, &conv, &table, &assumed), -1);
		CHECK_INT(sim_conv_lookup(&tables, &smaller, &conv, &table, &assumed), -1);
	}
	fclose(file);
	sim_conv_tables_end(&tables);
	sim_conv_tables_open(&tables, "/nowhere");
	CHECK_INT(tables.count, 0);
	sim_conv_tables_end(&tables);
}

/* What tare calibrate --libraries writes is what tools/conv-table.py wrote, and is read again. */
TEST(conv_table_is_written)
{
	const char *shipped = getenv("TARE_TEST_TABLES");
	struct sim_conv_table table, again;
	unsigned char *data = malloc(16 << 20), *packed;
	char path[4096];
	size_t size, packed_size = 0;
	FILE *file;

	CHECK(shipped && data);
	snprintf(path, sizeof(path), "%s/h100-cudnn-9.19.conv", shipped);
	file = fopen(path, "r");
	CHECK(file != NULL);
	size = fread(data, 1, 16 << 20, file);
	fclose(file);
	CHECK(sim_conv_table_read(&table, data, size));
	packed = sim_conv_table_pack(&table, &packed_size);
	CHECK(packed != NULL);
	CHECK_INT(packed_size, size);
	CHECK(memcmp(packed, data, size) == 0);
	free(packed);

	table.count = 0;
	packed = sim_conv_table_pack(&table, &packed_size);
	CHECK(packed && sim_conv_table_read(&again, packed, packed_size));
	CHECK_INT(again.count, 0);
	CHECK_STR(again.card, "NVIDIA H100 80GB HBM3");
	sim_conv_table_end(&again);
	free(packed);
	sim_conv_table_end(&table);
	free(data);
}
