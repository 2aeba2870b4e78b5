/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hook adds to a launch, in one process, because from process to process a launch varies by
 * more than a hook costs: batches of 500 launches of an empty kernel, so that the queue never fills,
 * in turn through dlsym's pointer (the hook, if there is one) and through the driver's own symbol,
 * read from its table. Prints: nanoseconds a launch through either, and the median difference.
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCH  500
#define ROUNDS 1000

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

typedef int launch_fn(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                      void **);

/* The symbol as libcuda's own table has it; symbols of a GNU hash table end where the strings begin. */
static void *own_symbol(void *library, const char *name)
{
	struct link_map *map;
	const Elf64_Sym *symbols = NULL;
	const char *texts = NULL;
	const Elf64_Dyn *dyn;
	size_t i;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
		return NULL;
	for (dyn = map->l_ld; dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_SYMTAB)
			symbols = (const Elf64_Sym *)dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_STRTAB)
			texts = (const char *)dyn->d_un.d_ptr;
	}
	for (i = 0; symbols && (const char *)(symbols + i) < texts; i++)
		if (strcmp(texts + symbols[i].st_name, name) == 0 && symbols[i].st_value)
			return (void *)(map->l_addr + symbols[i].st_value);
	return NULL;
}

static double batch(launch_fn *launch, void *f, int (*sync)(void))
{
	double from = now_ns(), ns;
	int i;

	for (i = 0; i < BATCH; i++)
		launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	ns = (now_ns() - from) / BATCH;
	sync();
	return ns;
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(values[0]), order);
	return values[ROUNDS / 2];
}

int main(void)
{
	static double hooked[ROUNDS], direct[ROUNDS], added[ROUNDS];
	void *h = dlopen("libcuda.so.1", RTLD_NOW), *context, *module, *f;
	int (*init)(unsigned) = (int (*)(unsigned))dlsym(h, "cuInit");
	int (*retain)(void **, int) = (int (*)(void **, int))dlsym(h, "cuDevicePrimaryCtxRetain");
	int (*current)(void *) = (int (*)(void *))dlsym(h, "cuCtxSetCurrent");
	int (*load)(void **, const void *) = (int (*)(void **, const void *))dlsym(h, "cuModuleLoadData");
	int (*get)(void **, void *, const char *) = (int (*)(void **, void *, const char *))dlsym(h, "cuModuleGetFunction");
	int (*sync)(void) = (int (*)(void))dlsym(h, "cuCtxSynchronize");
	launch_fn *by_name = (launch_fn *)dlsym(h, "cuLaunchKernel");
	launch_fn *by_table = (launch_fn *)own_symbol(h, "cuLaunchKernel");
	int i;

	if (!by_table || init(0) || retain(&context, 0) || current(context) || load(&module, ptx) ||
	    get(&f, module, "nothing"))
		return 1;
	batch(by_name, f, sync);
	batch(by_table, f, sync);
	for (i = 0; i < ROUNDS; i++) {
		/* Which comes first changes, so that neither always has the warmer queue. */
		if (i & 1)
			hooked[i] = batch(by_name, f, sync);
		direct[i] = batch(by_table, f, sync);
		if (!(i & 1))
			hooked[i] = batch(by_name, f, sync);
		added[i] = hooked[i] - direct[i];
	}
	printf("%.1f %.1f %+.1f %s\n", median(hooked), median(direct), median(added),
	       (void *)by_name == (void *)by_table ? "same" : "hooked");
	return 0;
}
