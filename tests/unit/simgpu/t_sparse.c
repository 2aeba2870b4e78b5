/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory takes memory of the host only where something was written. */
#include "driver.h"

#include <stdlib.h>
#include <unistd.h>

#define GIB (1ull << 30)

/* KiB of this process: its own, and what it shares. */
static long resident(void)
{
	char line[256];
	long sum = 0, value;
	FILE *from = fopen("/proc/self/status", "r");

	while (fgets(line, sizeof(line), from))
		if (sscanf(line, "RssAnon: %ld", &value) == 1 || sscanf(line, "RssShmem: %ld", &value) == 1)
			sum += value;
	fclose(from);
	return sum;
}

TEST(zeros_and_copies_of_nothing_take_no_memory)
{
	CUdeviceptr p, q;
	long before;

	context_open(NULL);
	OK(cu.cuMemAlloc_v2(&p, 100 * GIB));
	OK(cu.cuMemAllocAsync(&q, 30 * GIB, NULL));
	before = resident(); /* an emulator's own tables are as large as the addresses */
	OK(cu.cuMemsetD8_v2(p, 0, 100 * GIB));
	OK(cu.cuMemsetD32_v2(q + 4, 0, 7 * GIB));
	OK(cu.cuMemcpyDtoD_v2(q, p, 30 * GIB));
	OK(cu.cuMemcpyDtoD_v2(p + 50 * GIB, q, 30 * GIB));
	CHECK(resident() - before < 16 << 10);
}

TEST(what_was_written_survives_among_holes)
{
	size_t size = 8 << 20;
	unsigned char *out = malloc(size);
	CUdeviceptr p, q;
	size_t i;

	context_open(NULL);
	OK(cu.cuMemAlloc_v2(&p, size));
	OK(cu.cuMemAlloc_v2(&q, size));
	OK(cu.cuMemsetD8_v2(q, 7, size));
	OK(cu.cuMemsetD8_v2(p + 1234567, 5, 100000));
	OK(cu.cuMemcpyDtoD_v2(q + 3, p, size - 3));
	memset(out, 1, size);
	OK(cu.cuMemcpyDtoH_v2(out, q, size));
	for (i = 0; i < size; i++)
		if (out[i] != (i < 3 ? 7 : i >= 1234570 && i < 1334570 ? 5 : 0))
			break;
	CHECK_INT(i, size);
	OK(cu.cuMemsetD16_v2(q + 1300000, 0, 200000));
	OK(cu.cuMemcpyDtoH_v2(out, q, size));
	CHECK(out[1299999] == 5 && out[1300000] == 0 && out[1334569] == 0);
	/* Over itself. */
	OK(cu.cuMemcpyDtoD_v2(q + 1000, q, size - 1000));
	OK(cu.cuMemcpyDtoH_v2(out, q, size));
	CHECK(out[1300999] == 5 && out[1301000] == 0 && out[1002] == 7);
	free(out);
}

/* Said once, by a sentence, and nothing fails. */
TEST(a_host_that_runs_short_is_told)
{
	char text[4096] = "", *found;
	CUdeviceptr p;
	unsigned out = 9;
	int ends[2], old;

	context_open("host-left 257MiB");
	OK(cu.cuMemAlloc_v2(&p, 64 << 20));
	CHECK_INT(pipe(ends), 0);
	old = dup(2);
	dup2(ends[1], 2);
	OK(cu.cuMemsetD8_v2(p, 3, 64 << 20));
	OK(cu.cuMemsetD8_v2(p, 4, 64 << 20));
	dup2(old, 2);
	CHECK(read(ends[0], text, sizeof(text) - 1) > 0);
	found = strstr(text, "has 257 MiB of memory left");
	CHECK(found && !strstr(found + 20, "MiB of memory left"));
	OK(cu.cuMemcpyDtoH_v2(&out, p, 4));
	CHECK_INT(out, 0);
	OK(cu.cuMemsetD8_v2(p, 6, 100)); /* a little is always kept */
	OK(cu.cuMemcpyDtoH_v2(&out, p, 4));
	CHECK_INT(out, 0x06060606);
}
