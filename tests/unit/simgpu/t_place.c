/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of device memory come in the order in which a card gave them, and go back. */
#include "driver.h"

#include <stdlib.h>

#define PAGE      ((size_t)2 << 20)
#define ROWS_MOST 256

struct row {
	unsigned long long bytes, real;
	CUdeviceptr here;
};

/* The allocations of tests/data/address_order.txt that begin with a name, made here. How many. */
static int make(const char *name, struct row *rows)
{
	const char *folder = getenv("TARE_TEST_DATA");
	char path[4096], line[256], word[64];
	int count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/address_order.txt", folder ? folder : "tests/data");
	file = fopen(path, "r");
	CHECK(file != NULL);
	while (count < ROWS_MOST && fgets(line, sizeof(line), file)) {
		struct row *row = &rows[count];

		if (sscanf(line, "%63s %llu %llx", word, &row->bytes, &row->real) != 3 || strcmp(word, name) != 0)
			continue;
		OK(cu.cuMemAlloc_v2(&row->here, row->bytes));
		count++;
	}
	fclose(file);
	return count;
}

/* Pairs of which the one lies in front of the other on the card and behind it here. */
static int out_of_order(const struct row *rows, int count)
{
	int i, j, bad = 0;

	for (i = 0; i < count; i++)
		for (j = 0; j < i; j++)
			bad += (rows[i].real < rows[j].real) != (rows[i].here < rows[j].here);
	return bad;
}

TEST(addresses_of_a_program_without_kernels)
{
	struct row rows[ROWS_MOST];

	context_open(NULL);
	CHECK_INT(make("plain", rows), 120);
	CHECK_INT(out_of_order(rows, 120), 0);
}

TEST(addresses_of_a_training)
{
	static const char image[] = "tare-sim-module\nkernel k code=96468992\n";
	struct row rows[ROWS_MOST];
	CUmodule module;
	CUfunction f;
	CUdeviceptr p;

	context_open(NULL);
	OK(cu.cuMemAlloc_v2(&p, PAGE));
	OK(cu.cuModuleLoadData(&module, image));
	OK(cu.cuModuleGetFunction(&f, module, "k"));
	OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	CHECK_INT(make("resnet", rows), 132);
	/* Of 8,646; code of which nobody knows the place lies between them. */
	CHECK(out_of_order(rows, 132) < 60);
}

/* KiB of addresses that this process has taken; under an emulator the emulator's own are not among them. */
static long addresses(void)
{
	FILE *from = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[4352];
	long size = 0;

	CHECK(from != NULL);
	while (fgets(line, sizeof(line), from))
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			size += (long)((end - start) >> 10);
	fclose(from);
	return size;
}

TEST(addresses_go_back)
{
	CUdeviceptr p[8];
	long before;
	int i, k;

	context_open(NULL);
	OK(cu.cuMemAlloc_v2(&p[0], 1));
	OK(cu.cuMemFree_v2(p[0]));
	before = addresses();
	for (k = 0; k < 200; k++) {
		for (i = 0; i < 8; i++)
			OK(cu.cuMemAlloc_v2(&p[i], (size_t)(i * 7 + k % 5 + 1) << 22));
		for (i = 0; i < 8; i++)
			OK(cu.cuMemsetD8_v2(p[i], 1, 100));
		for (i = 0; i < 8; i++)
			OK(cu.cuMemFree_v2(p[(i * 3 + k) % 8]));
	}
	CHECK(addresses() - before < 4 << 10);
}

/* What one leaves in a region the next one has, and neither has a byte of the other. */
TEST(addresses_do_not_overlap)
{
	unsigned char out[3];
	CUdeviceptr p[3];
	int i;

	context_open(NULL);
	for (i = 0; i < 3; i++)
		OK(cu.cuMemAlloc_v2(&p[i], (i + 1) * PAGE));
	for (i = 0; i < 3; i++)
		OK(cu.cuMemsetD8_v2(p[i], (unsigned char)(i + 1), (i + 1) * PAGE));
	OK(cu.cuMemFree_v2(p[1]));
	OK(cu.cuMemAlloc_v2(&p[1], PAGE));
	OK(cu.cuMemsetD8_v2(p[1], 9, PAGE));
	OK(cu.cuMemcpyDtoH_v2(&out[0], p[0] + PAGE - 1, 1));
	OK(cu.cuMemcpyDtoH_v2(&out[1], p[2], 1));
	OK(cu.cuMemcpyDtoH_v2(&out[2], p[2] + 3 * PAGE - 1, 1));
	CHECK_INT(out[0], 1);
	CHECK_INT(out[1], 3);
	CHECK_INT(out[2], 3);
}
