/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64 sizes of one job, captured smallest first, in the device memory of the largest. Driver API and
 * no toolkit: real GPU or simulated.
 *
 *     cc -I include examples/graphs.c -L build/src/graphs -ltare_graphs -ldl -o graphs
 *     ./graphs                                        on a GPU
 *     tare run --sim h200 -- ./graphs                 without one
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "tare/tare_graphs.h"

#define SIZES 64
#ifndef ROW
#define ROW (1u << 20)
#endif

/* The few driver functions that this program calls; a program with cuda.h needs none of this. */
static int (*init)(unsigned flags), (*retain)(void **context, int device), (*set)(void *context);
static int (*create)(CUstream *stream, unsigned flags), (*synchronize)(CUstream stream);
static int (*fill)(unsigned long long at, unsigned value, size_t words, CUstream stream);
static int (*copy)(unsigned long long to, unsigned long long from, size_t bytes, CUstream stream);
static int (*get_info)(size_t *free_bytes, size_t *total);

static void *driver;

static void get(void *pointer, const char *name)
{
	*(void **)pointer = driver ? dlsym(driver, name) : NULL;
	if (!*(void **)pointer) {
		fprintf(stderr, "graphs: no %s; is there a CUDA driver? try tare run --sim h200 -- %s\n", name, "./graphs");
		exit(1);
	}
}

static void start(CUstream *stream)
{
	void *context;

	driver = dlopen("libcuda.so.1", RTLD_NOW);
	get(&init, "cuInit");
	get(&retain, "cuDevicePrimaryCtxRetain");
	get(&set, "cuCtxSetCurrent");
	get(&create, "cuStreamCreate");
	get(&synchronize, "cuStreamSynchronize");
	get(&fill, "cuMemsetD32Async");
	get(&copy, "cuMemcpyDtoDAsync_v2");
	get(&get_info, "cuMemGetInfo_v2");
	if (init(0) || retain(&context, 0) || set(context) || create(stream, 1)) {
		fprintf(stderr, "graphs: no usable GPU\n");
		exit(1);
	}
}

static double used_mib(void)
{
	size_t free_bytes, total;

	get_info(&free_bytes, &total);
	return (double)(total - free_bytes) / (1 << 20);
}

static void check(int result)
{
	if (!result)
		return;
	fprintf(stderr, "graphs: %s\n", tare_graphs_error());
	exit(1);
}

/* Two buffers of `size` rows: fill one, copy it to the other. */
static void capture(struct tare_graphs *graphs, unsigned size, CUstream stream)
{
	tare_graphs_address from, to;
	size_t bytes = (size_t)size * ROW;

	check(tare_graphs_begin(graphs, size, stream, NULL));
	check(tare_graphs_alloc(graphs, bytes, stream, &from));
	check(tare_graphs_alloc(graphs, bytes, stream, &to));
	fill(from, size, bytes / 4, stream);
	copy(to, from, bytes, stream);
	check(tare_graphs_free(graphs, from));
	check(tare_graphs_end(graphs));
}

int main(void)
{
	struct tare_graphs_stats stats;
	struct tare_graphs *graphs;
	CUstream stream;
	double before;
	unsigned size;

	start(&stream);
	before = used_mib();
	check(tare_graphs_create(NULL, &graphs));
	for (size = 1; size <= SIZES; size++) {
		capture(graphs, size, stream);
		if (!(size & (size - 1)))
			printf("%3u sizes: %7.1f MiB\n", size, used_mib() - before);
	}
	for (size = SIZES; size; size--)
		check(tare_graphs_launch(graphs, size, stream));
	synchronize(stream);
	check(tare_graphs_stats(graphs, &stats, sizeof(stats)));
	printf("%llu keys, arena %.1f MiB (%.1f without sharing), %llu executable graph(s), %llu replays\n",
	       (unsigned long long)stats.captures, (double)stats.arena_bytes / (1 << 20),
	       (double)stats.sum_bytes / (1 << 20), (unsigned long long)stats.execs, (unsigned long long)stats.launches);
	tare_graphs_destroy(graphs);
	printf("after the end: %.1f MiB\n", used_mib() - before);
	return 0;
}
