/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous pools in the ways that programs use them: the default pool, which gives back at a wait;
 * one that keeps everything (release threshold); two streams; trims; a pool destroyed while in use.
 */
#include "cu.h"

#include <stdint.h>

enum { BLOCKS = 24 };

static void fill(CUmemoryPool pool, CUstream stream, CUdeviceptr *blocks)
{
	int i;

	for (i = 0; i < BLOCKS; i++) {
		size_t bytes = (size_t)(1 + 7 * i) * 1000003;

		if (pool)
			OK(cuMemAllocFromPoolAsync(&blocks[i], bytes, pool, stream));
		else
			OK(cuMemAllocAsync(&blocks[i], bytes, stream));
	}
}

static void empty(CUstream stream, const CUdeviceptr *blocks, int every)
{
	int i;

	for (i = 0; i < BLOCKS; i++)
		if (i % every == 0)
			OK(cuMemFreeAsync(blocks[i], stream));
}

int main(void)
{
	CUmemPoolProps properties = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		                          .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 } };
	CUdeviceptr first[BLOCKS], second[BLOCKS], kept[BLOCKS];
	cuuint64_t everything = UINT64_MAX, reserved = 0, used = 0;
	CUmemoryPool keeping, pool;
	CUstream one, two;
	int round;

	open_gpu(0);
	OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));

	for (round = 0; round < 3; round++) {
		fill(NULL, one, first);
		fill(NULL, two, second);
		empty(one, first, 1);
		empty(two, second, 1);
		OK(cuStreamSynchronize(one));
		OK(cuStreamSynchronize(two));
	}

	OK(cuMemPoolCreate(&keeping, &properties));
	OK(cuMemPoolSetAttribute(keeping, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &everything));
	fill(keeping, one, kept);
	empty(one, kept, 2);
	OK(cuCtxSynchronize());
	OK(cuMemPoolGetAttribute(keeping, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
	OK(cuMemPoolGetAttribute(keeping, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
	printf("the pool that keeps: reserved %.1f MiB, used %.1f MiB\n", (double)reserved / MiB, (double)used / MiB);

	OK(cuMemPoolCreate(&pool, &properties));
	fill(pool, two, second);
	empty(two, second, 1);
	OK(cuStreamSynchronize(two));
	OK(cuMemPoolDestroy(pool));
	OK(cuMemPoolTrimTo(keeping, 64 * MiB));
	OK(cuCtxSynchronize());
	return 0;
}
