/* SPDX-License-Identifier: Apache-2.0 */
/* Called from bench_python.py: what the Python stack of an event costs. Holds the whole recorder. */
#include "recorder/python/stack.h"

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
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
	       (double)times;
}
