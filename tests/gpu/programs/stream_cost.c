/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs to ask PyTorch for the current stream of a thread: a library that Python calls. */
#include <stdint.h>
#include <time.h>

struct stream {
	uint64_t first, second;
};

double ns_of_a_call(struct stream (*ask)(int8_t), long calls)
{
	struct timespec begin, end;
	volatile uint64_t sum = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < calls; i++)
		sum += ask(0).second;
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)calls;
}
