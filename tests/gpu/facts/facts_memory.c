/* SPDX-License-Identifier: Apache-2.0 */
/* What memory takes that a program asks for, of each kind. */
#include "facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void array(const char *name, size_t w, size_t h, size_t d, int channels, unsigned levels)
{
	CUDA_ARRAY3D_DESCRIPTOR about = { w, h, d, CU_AD_FORMAT_FLOAT, (unsigned)channels, 0 };
	CUmipmappedArray mips;
	CUarray one;
	CUresult result;

	grown();
	result = levels ? tare_cu.cuMipmappedArrayCreate(&mips, &about, levels) : tare_cu.cuArray3DCreate_v2(&one, &about);
	say(name, result ? -1000000000LL - result : grown());
	if (!result)
		result = levels ? tare_cu.cuMipmappedArrayDestroy(mips) : tare_cu.cuArrayDestroy(one);
	printf("arrays.%s_destroyed %lld\n", name, result ? -1000000000LL - result : grown());
}

void arrays(void)
{
	CUDA_ARRAY_DESCRIPTOR about = { 64, 64, CU_AD_FORMAT_UNSIGNED_INT8, 1 };
	CUarray small[300];
	int i;

	begin();
	array("1d_1000", 1000, 0, 0, 1, 0);
	array("2d_64", 64, 64, 0, 1, 0);
	array("2d_1000", 1000, 1000, 0, 1, 0);
	array("2d_1024_4", 1024, 1024, 0, 4, 0);
	array("2d_4097", 4097, 4097, 0, 1, 0);
	array("3d_100", 100, 100, 100, 1, 0);
	array("3d_256", 256, 256, 256, 1, 0);
	array("mips_1024", 1024, 1024, 0, 1, 11);
	for (i = 0; i < 300; i++)
		MUST(tare_cu.cuArrayCreate_v2(&small[i], &about));
	say("300_of_64x64_bytes", grown());
}

void host(void)
{
	void *p = NULL, *own = aligned_alloc(4096, 64 << 20);
	CUdeviceptr d = 0;
	unsigned flags = 0;

	begin();
	FACT("alloc_256m", tare_cu.cuMemHostAlloc(&p, 256 << 20, 0));
	RESULT("device_pointer", tare_cu.cuMemHostGetDevicePointer_v2(&d, p, 0));
	say("same_pointer", d == (uintptr_t)p);
	tare_cu.cuMemHostGetFlags(&flags, p);
	say("flags", flags);
	FACT("free_256m", tare_cu.cuMemFreeHost(p));
	FACT("alloc_1", tare_cu.cuMemHostAlloc(&p, 1, 0));
	memset(own, 0, 64 << 20);
	FACT("register_64m", tare_cu.cuMemHostRegister_v2(own, 64 << 20, 0));
	RESULT("register_twice", tare_cu.cuMemHostRegister_v2(own, 64 << 20, 0));
	FACT("unregister", tare_cu.cuMemHostUnregister(own));
	RESULT("unregister_twice", tare_cu.cuMemHostUnregister(own));
	RESULT("free_unknown", tare_cu.cuMemFreeHost(own));
}

void managed(void)
{
	CUdeviceptr p, q;
	static char from[4 << 20];

	begin();
	function("kptr");
	MUST(launch(function("k0")));
	FACT("alloc_16m", tare_cu.cuMemAllocManaged(&p, 16 << 20, 1));
	FACT("alloc_1", tare_cu.cuMemAllocManaged(&q, 1, 1));
	FACT("kernel_1_byte", launch_with(function("kptr"), &p));
	FACT("memset_4m", tare_cu.cuMemsetD8_v2(p + (4 << 20), 1, 4 << 20));
	FACT("copy_4m", tare_cu.cuMemcpyHtoD_v2(p + (8 << 20), from, 4 << 20));
	if (tare_cu.cuMemPrefetchAsync)
		FACT("prefetch_16m", tare_cu.cuMemPrefetchAsync(p, 16 << 20, 0, NULL));
	MUST(tare_cu.cuCtxSynchronize());
	say("synchronised", grown());
	FACT("prefetch_back", tare_cu.cuMemPrefetchAsync(p, 16 << 20, -1, NULL));
	MUST(tare_cu.cuCtxSynchronize());
	say("synchronised_back", grown());
	MUST(tare_cu.cuMemPrefetchAsync(p, 16 << 20, 0, NULL));
	MUST(tare_cu.cuCtxSynchronize());
	say("there_again", grown());
	FACT("free_16m", tare_cu.cuMemFree_v2(p));
	FACT("free_1", tare_cu.cuMemFree_v2(q));
}

static void pool_state(const char *when, CUmemoryPool pool)
{
	cuuint64_t value[4] = { 0 };
	int i;

	for (i = 0; i < 4; i++)
		tare_cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT + i, &value[i]);
	printf("pools.%s_reserved_bytes %llu\npools.%s_used_bytes %llu\n", when, (unsigned long long)value[0], when,
	       (unsigned long long)value[2]);
}

void pools(void)
{
	static const int mib[] = { 100, 32, 33, 64, 65, 200, 1 };
	CUmemPoolProps props = { .allocType = 1, .location = { 1, 0 } };
	cuuint64_t threshold = 1ull << 40;
	CUmemoryPool pool;
	CUdeviceptr p, q, r[64];
	CUstream stream;
	size_t i;

	begin();
	MUST(tare_cu.cuStreamCreate(&stream, 1));
	MUST(tare_cu.cuDeviceGetDefaultMemPool(&pool, 0));
	grown();
	FACT("first_1_byte", tare_cu.cuMemAllocAsync(&p, 1, stream));
	pool_state("first_1_byte", pool);
	MUST(tare_cu.cuMemAllocAsync(&q, 1, stream));
	say("step_bytes", (long long)(q - p));
	FACT("free_both", tare_cu.cuMemFreeAsync(p, stream) + tare_cu.cuMemFreeAsync(q, stream));
	FACT("synchronised", tare_cu.cuStreamSynchronize(stream));
	pool_state("empty", pool);
	for (i = 0; i < sizeof(mib) / sizeof(mib[0]); i++) {
		grown();
		MUST(tare_cu.cuMemAllocAsync(&p, (size_t)mib[i] << 20, stream));
		sayn("alloc_mib", mib[i], grown());
		MUST(tare_cu.cuStreamSynchronize(stream));
		sayn("sync_mib", mib[i], grown());
		MUST(tare_cu.cuMemFreeAsync(p, stream));
		sayn("free_mib", mib[i], grown());
		MUST(tare_cu.cuStreamSynchronize(stream));
		sayn("freed_mib", mib[i], grown());
	}
	for (i = 0; i < 64; i++)
		MUST(tare_cu.cuMemAllocAsync(&r[i], 5 << 20, stream));
	say("64_of_5m", grown());
	pool_state("64_of_5m", pool);
	for (i = 0; i < 60; i++)
		MUST(tare_cu.cuMemFreeAsync(r[i], stream));
	say("60_freed", grown());
	FACT("60_synchronised", tare_cu.cuStreamSynchronize(stream));
	pool_state("60_synchronised", pool);
	for (i = 60; i < 64; i++)
		MUST(tare_cu.cuMemFreeAsync(r[i], stream));
	FACT("64_synchronised", tare_cu.cuCtxSynchronize());
	MUST(tare_cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
	FACT("kept_alloc", tare_cu.cuMemAllocAsync(&p, 100 << 20, stream));
	FACT("kept_free", tare_cu.cuMemFreeAsync(p, stream));
	FACT("kept_sync", tare_cu.cuStreamSynchronize(stream));
	FACT("kept_200m_alloc", tare_cu.cuMemAllocAsync(&p, 200 << 20, stream));
	pool_state("kept", pool);
	FACT("kept_200m_free", tare_cu.cuMemFreeAsync(p, stream));
	FACT("trim_to_50m", tare_cu.cuMemPoolTrimTo(pool, 50 << 20));
	MUST(tare_cu.cuStreamSynchronize(stream));
	FACT("trim_to_50m_after_sync", tare_cu.cuMemPoolTrimTo(pool, 50 << 20));
	FACT("trim_to_0", tare_cu.cuMemPoolTrimTo(pool, 0));
	FACT("own_pool", tare_cu.cuMemPoolCreate(&pool, &props));
	FACT("own_alloc_10m", tare_cu.cuMemAllocFromPoolAsync(&p, 10 << 20, pool, stream));
	FACT("own_free", tare_cu.cuMemFreeAsync(p, stream));
	FACT("own_destroy", tare_cu.cuMemPoolDestroy(pool));
	MUST(tare_cu.cuMemAllocAsync(&p, 10 << 20, stream));
	grown();
	FACT("free_by_plain", tare_cu.cuMemFree_v2(p));
	MUST(tare_cu.cuMemAlloc_v2(&p, 10 << 20));
	FACT("plain_freed_async", tare_cu.cuMemFreeAsync(p, stream));
	FACT("plain_sync", tare_cu.cuStreamSynchronize(stream));
}

void vmm(void)
{
	CUmemAllocationProp prop = { .type = 1, .location = { 1, 0 } };
	CUmemAccessDesc access = { { 1, 0 }, 3 };
	CUmemGenericAllocationHandle a, b;
	size_t least = 0, best = 0;
	CUdeviceptr at, alias;

	begin();
	tare_cu.cuMemGetAllocationGranularity(&least, &prop, 0);
	tare_cu.cuMemGetAllocationGranularity(&best, &prop, 1);
	say("granularity_bytes", (long long)least);
	say("recommended_bytes", (long long)best);
	RESULT("create_1m", tare_cu.cuMemCreate(&a, 1 << 20, &prop, 0));
	FACT("create_20m", tare_cu.cuMemCreate(&a, 20 << 20, &prop, 0));
	FACT("create_2m", tare_cu.cuMemCreate(&b, 2 << 20, &prop, 0));
	FACT("reserve_1g", tare_cu.cuMemAddressReserve(&at, 1 << 30, 0, 0, 0));
	FACT("reserve_alias", tare_cu.cuMemAddressReserve(&alias, 1 << 30, 0, 0, 0));
	FACT("map", tare_cu.cuMemMap(at, 20 << 20, 0, a, 0));
	RESULT("map_over", tare_cu.cuMemMap(at, 2 << 20, 0, b, 0));
	FACT("access", tare_cu.cuMemSetAccess(at, 20 << 20, &access, 1));
	FACT("map_alias", tare_cu.cuMemMap(alias, 20 << 20, 0, a, 0));
	FACT("access_alias", tare_cu.cuMemSetAccess(alias, 20 << 20, &access, 1));
	MUST(tare_cu.cuMemsetD8_v2(at, 7, 1));
	FACT("release", tare_cu.cuMemRelease(a));
	RESULT("unmap_part", tare_cu.cuMemUnmap(at, 2 << 20));
	FACT("unmap", tare_cu.cuMemUnmap(at, 20 << 20));
	FACT("unmap_alias", tare_cu.cuMemUnmap(alias, 20 << 20));
	FACT("release_2m", tare_cu.cuMemRelease(b));
	FACT("address_free", tare_cu.cuMemAddressFree(at, 1 << 30));
}

/* ARGUMENT: MIB,kernel|set|prefetch */
void touches(void)
{
	unsigned long long mib = 0, at;
	char how[16], name[64];
	CUdeviceptr p, q;
	CUfunction f;
	int round;

	if (sscanf(argument, "%llu,%15s", &mib, how) != 2)
		exit(2);
	snprintf(name, sizeof(name), "touches_%llu_%s", mib, how);
	section = name;
	begin();
	f = function("kptr");
	MUST(launch(function("k0")));
	grown();
	for (round = 0; round < 2; round++) {
		MUST(tare_cu.cuMemAllocManaged(&p, mib << 20, 1));
		sayn("alloc", round, grown());
		for (at = 0; at < mib << 20; at += 2 << 20) {
			CUdeviceptr here = p + at;
			long long by;

			if (strcmp(how, "kernel") == 0)
				MUST(launch_with(f, &here));
			else if (strcmp(how, "set") == 0)
				MUST(tare_cu.cuMemsetD8_v2(here, 1, 1));
			else
				MUST(tare_cu.cuMemPrefetchAsync(here, 2 << 20, 0, NULL));
			MUST(tare_cu.cuCtxSynchronize());
			by = grown();
			if (by)
				printf("%s.round_%d_touch_%llu %lld\n", section, round, at >> 20, by);
		}
		*(volatile char *)(uintptr_t)p = 1;
		sayn("host_touch", round, grown());
		MUST(tare_cu.cuMemPrefetchAsync(p, mib << 20, -1, NULL));
		MUST(tare_cu.cuCtxSynchronize());
		sayn("back", round, grown());
		MUST(tare_cu.cuMemAlloc_v2(&q, 512 << 20));
		sayn("plain_512m", round, grown());
		MUST(tare_cu.cuMemFree_v2(q));
		sayn("plain_freed", round, grown());
		MUST(tare_cu.cuMemFree_v2(p));
		sayn("freed", round, grown());
	}
}
