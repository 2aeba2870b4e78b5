/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a launch costs the thread that launches: 500 launches of an empty kernel at a time, so that the
 * queue never fills, and only they are timed. Prints the median nanoseconds a launch.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCH 500
#define ROUNDS 400

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n";

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	void *h = dlopen("libcuda.so.1", RTLD_NOW), *context, *module, *f;
	int (*init)(unsigned) = (int (*)(unsigned))dlsym(h, "cuInit");
	int (*retain)(void **, int) = (int (*)(void **, int))dlsym(h, "cuDevicePrimaryCtxRetain");
	int (*current)(void *) = (int (*)(void *))dlsym(h, "cuCtxSetCurrent");
	int (*load)(void **, const void *) = (int (*)(void **, const void *))dlsym(h, "cuModuleLoadData");
	int (*get)(void **, void *, const char *) =
		(int (*)(void **, void *, const char *))dlsym(h, "cuModuleGetFunction");
	int (*sync)(void) = (int (*)(void))dlsym(h, "cuCtxSynchronize");
	int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
		      void **) =
		(int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
			 void **))dlsym(h, "cuLaunchKernel");
	static double ns[ROUNDS];
	int i, round;

	if (init(0) || retain(&context, 0) || current(context) || load(&module, ptx) || get(&f, module, "nothing"))
		return 1;
	for (round = 0; round < ROUNDS; round++) {
		double from = now_ns();

		for (i = 0; i < BATCH; i++)
			launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
		ns[round] = (now_ns() - from) / BATCH;
		sync();
	}
	qsort(ns, ROUNDS, sizeof(ns[0]), order);
	printf("%.1f\n", ns[ROUNDS / 2]);
	return 0;
}
