/* SPDX-License-Identifier: Apache-2.0 */
/* What a push or a pop costs, by tare.h and by NVTX 3, median of 15 rounds: with a context if given an argument. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <nvtx3/nvToolsExt.h>

#include "tare/tare.h"

enum { ROUNDS = 15, PAIRS = 20000 };

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void make_context(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
	int (*init)(unsigned int) = (int (*)(unsigned int))dlsym(driver, "cuInit");
	int (*retain)(void **, int) = (int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
	int (*set)(void *) = (int (*)(void *))dlsym(driver, "cuCtxSetCurrent");

	if (init(0) != 0 || retain(&context, 0) != 0 || set(context) != 0)
		exit(1);
}

int main(int argc, char **argv)
{
	double tare[ROUNDS], nvtx[ROUNDS];

	(void)argv;
	if (argc > 1)
		make_context();
	for (int r = 0; r < ROUNDS; r++) {
		double start = now_ns(), middle;

		for (int i = 0; i < PAIRS; i++) {
			tare_phase_push("autograd::engine::evaluate_function");
			tare_phase_pop();
		}
		middle = now_ns();
		for (int i = 0; i < PAIRS; i++) {
			nvtxRangePushA("autograd::engine::evaluate_function");
			nvtxRangePop();
		}
		tare[r] = (middle - start) / PAIRS / 2;
		nvtx[r] = (now_ns() - middle) / PAIRS / 2;
	}
	qsort(tare, ROUNDS, sizeof(double), order);
	qsort(nvtx, ROUNDS, sizeof(double), order);
	printf("tare.h %.1f ns, nvtx %.1f ns\n", tare[ROUNDS / 2], nvtx[ROUNDS / 2]);
	return 0;
}
