/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_blocks N RATE: N times, one of 4,096 places of one segment is given a block of a tensor, as PyTorch's allocator reports
 * it, or gives it back, chosen at random; one place in 16 is chosen so seldom that its blocks live long. RATE: so often a
 * second, 0 as often as it can. Then it says so. To be recorded by long_pairs.py.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PLACES = 4096, PLACE = 64 << 10, SIZES = 100, OLD = 16, SELDOM = 4096, AT_ONCE = 1000 };

typedef int (*call)();

uint64_t c10_cuda_segment(int (*alloc)(unsigned long long *, unsigned long), uint64_t size);
void c10_cuda_block(uint64_t at, int64_t bytes, bool is_old);

static int (*take_memory)();

static int take(unsigned long long *at, unsigned long size)
{
	return take_memory(at, size);
}

/* 0: it is where the driver is not to be had. */
static uint64_t segment(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;

	if (!driver || ((call)dlsym(driver, "cuInit"))(0) ||
	    ((call)dlsym(driver, "cuDevicePrimaryCtxRetain"))(&context, 0) ||
	    ((call)dlsym(driver, "cuCtxSetCurrent"))(context))
		return 0;
	take_memory = (call)dlsym(driver, "cuMemAlloc_v2");
	return c10_cuda_segment(take, (uint64_t)PLACES * PLACE);
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 8;
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Until so many were due. */
static void wait_for(double begun_s, long done, long rate)
{
	double left = begun_s + (double)done / (double)rate - now_s();
	struct timespec ts = { (time_t)left, (long)((left - (double)(time_t)left) * 1e9) };

	if (left > 0)
		nanosleep(&ts, NULL);
}

int main(int argc, char **argv)
{
	static int64_t bytes[PLACES];
	long n = argc > 1 ? atol(argv[1]) : 1000, rate = argc > 2 ? atol(argv[2]) : 0, done = 0;
	uint64_t at = segment();
	double begun_s = now_s();
	uint32_t seed = 1;

	if (!at)
		return 1;
	while (done < n) {
		uint32_t place = next(&seed) % PLACES;

		if (place % OLD == 0 && next(&seed) % SELDOM)
			continue;
		bytes[place] = bytes[place] ? -bytes[place] : 512 * (1 + next(&seed) % SIZES);
		c10_cuda_block(at + (uint64_t)place * PLACE, bytes[place], false);
		if (bytes[place] < 0)
			bytes[place] = 0;
		if (++done % AT_ONCE == 0 && rate)
			wait_for(begun_s, done, rate);
	}
	puts("done");
	return 0;
}
