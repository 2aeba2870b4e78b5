/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_calls N: N times, one of 64 places is given memory of one of 16 sizes or gives it back, chosen at random. Then it says
 * so. To be recorded by hand: docs/measurements/store.md has the command, and long_pairs.py does.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACES = 64, SIZES = 16, STEP = 3000000 };

typedef int (*call)();

int main(int argc, char **argv)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
	long n = argc > 1 ? atol(argv[1]) : 1000;
	uint64_t places[PLACES] = { 0 };
	uint32_t seed = 1;
	call alloc, release;

	if (!driver || ((call)dlsym(driver, "cuInit"))(0) ||
	    ((call)dlsym(driver, "cuDevicePrimaryCtxRetain"))(&context, 0) ||
	    ((call)dlsym(driver, "cuCtxSetCurrent"))(context))
		return 1;
	alloc = (call)dlsym(driver, "cuMemAlloc_v2");
	release = (call)dlsym(driver, "cuMemFree_v2");
	while (n-- > 0) {
		uint64_t *place;

		seed = seed * 1103515245 + 12345;
		place = &places[(seed >> 16) % PLACES];
		if (*place) {
			release(*place);
			*place = 0;
		} else {
			alloc(place, (size_t)(1 + (seed >> 24) % SIZES) * STEP);
		}
	}
	puts("done");
	return 0;
}
