/* SPDX-License-Identifier: Apache-2.0 */
/* Called from bench_python.py: what the Python stack of an event costs. Holds the whole recorder. */
#include "recorder/python/stack.h"
#include "recorder/torch/module.h"

#include <stdint.h>
#include <time.h>

__attribute__((visibility("default"))) double bench(long times, unsigned int *id);

/* ns for each of that many stacks of the caller, all the same. */
double bench(long times, unsigned int *id)
{
	struct timespec begin, end;
	unsigned int stack = 0;

	for (long i = 0; i < 100; i++)
		stack = tare_python_stack();
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < times; i++)
		stack ^= tare_python_stack();
	clock_gettime(CLOCK_MONOTONIC, &end);
	*id = stack;
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)times;
}

/*
 * Called from bench_modules.py, inside of what looks like a call of a module. What each of `times` takes: STACK the
 * stack alone, BLOCK with the module that a block is for, NODE the module alone, as for a node of autograd.
 */
enum { STACK, BLOCK, NODE };

__attribute__((visibility("default"))) double bench_module(long times, int what, unsigned int *flags);

static unsigned int once(int what)
{
	struct tare_module_seen module = { 0, 0, 0 };
	struct tare_python_here here;

	if (what == STACK)
		return tare_python_stack();
	if (what == NODE)
		return tare_module_see(tare_python_module()).class;
	here = tare_python_here();
	if (here.module)
		module = tare_module_see(here.module);
	return tare_module_flag(&module);
}

double bench_module(long times, int what, unsigned int *flags)
{
	struct timespec begin, end;

	*flags = once(what);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < times; i++)
		*flags = once(what);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)times;
}
