/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program behind `tare demo`: a few steps of an imaginary training, by the driver API alone, so
 * that it runs on a real GPU and on the simulated one. It knows nothing of Tare.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define MiB (1ull << 20)

typedef unsigned long long deviceptr;

static int (*init)(unsigned int);
static int (*retain)(void **, int);
static int (*set_current)(void *);
static int (*load)(void **, const void *);
static int (*get_function)(void **, void *, const char *);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                     void **);
static int (*alloc)(deviceptr *, size_t);
static int (*release)(deviceptr);
static int (*alloc_host)(void **, size_t, unsigned int);
static int (*stream_create)(void **, unsigned int);
static int (*synchronize)(void);

static const struct {
	const char *name;
	void *at;
} functions[] = {
	{ "cuInit", &init },
	{ "cuDevicePrimaryCtxRetain", &retain },
	{ "cuCtxSetCurrent", &set_current },
	{ "cuModuleLoadData", &load },
	{ "cuModuleGetFunction", &get_function },
	{ "cuLaunchKernel", &launch },
	{ "cuMemAlloc_v2", &alloc },
	{ "cuMemFree_v2", &release },
	{ "cuMemHostAlloc", &alloc_host },
	{ "cuStreamCreate", &stream_create },
	{ "cuCtxSynchronize", &synchronize },
};

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
						  ".visible .entry step() { ret; }\n";

static void check(int result, const char *what)
{
	if (result == 0)
		return;
	fprintf(stderr, "demo: %s failed with CUDA error %d\n", what, result);
	exit(1);
}

static void find_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	size_t i;

	if (!library) {
		fprintf(stderr, "demo: %s\n", dlerror());
		exit(1);
	}
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		*(void **)functions[i].at = dlsym(library, functions[i].name);
		if (!*(void **)functions[i].at) {
			fprintf(stderr, "demo: the driver has no %s\n", functions[i].name);
			exit(1);
		}
	}
}

static void train(void *step_kernel, int steps)
{
	deviceptr activations[12], workspace;
	int step, i;

	for (step = 0; step < steps; step++) {
		for (i = 0; i < 12; i++)
			check(alloc(&activations[i], (size_t)(48 - 3 * i) * MiB + 1024), "cuMemAlloc (activations)");
		check(alloc(&workspace, 96 * MiB), "cuMemAlloc (workspace)");
		check(launch(step_kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
		check(synchronize(), "cuCtxSynchronize");
		check(release(workspace), "cuMemFree");
		for (i = 0; i < 12; i++)
			check(release(activations[i]), "cuMemFree");
	}
}

int main(void)
{
	void *context, *module, *step_kernel, *staging, *streams[8];
	deviceptr parameters, optimizer;
	int i;

	find_driver();
	check(init(0), "cuInit");
	check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
	check(set_current(context), "cuCtxSetCurrent");
	check(load(&module, ptx), "cuModuleLoadData");
	check(get_function(&step_kernel, module, "step"), "cuModuleGetFunction");
	check(alloc(&parameters, 97 * MiB + 512), "cuMemAlloc (parameters)");
	check(alloc(&optimizer, 195 * MiB), "cuMemAlloc (optimizer)");
	check(alloc_host(&staging, 32 * MiB, 0), "cuMemHostAlloc");
	for (i = 0; i < 8; i++)
		check(stream_create(&streams[i], 1), "cuStreamCreate");
	train(step_kernel, 5);
	puts("demo: 5 steps done");
	return 0;
}
