// SPDX-License-Identifier: Apache-2.0
// deep COUNT: pairs of malloc and free of 16 to 2,016 bytes, the innermost of seven functions. Says how long they took.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

__attribute__((noinline)) static long f7(size_t bytes)
{
	volatile char *block = malloc(bytes);
	long sum;

	block[0] = 1;
	sum = block[0];
	free((void *)block);
	return sum;
}

#define CALLS(NAME, NEXT)                                                                                              \
	__attribute__((noinline)) static long NAME(size_t bytes)                                                           \
	{                                                                                                                  \
		long sum = NEXT(bytes);                                                                                        \
                                                                                                                       \
		__asm__ volatile("" ::: "memory");                                                                             \
		return sum + 1;                                                                                                \
	}
CALLS(f6, f7)
CALLS(f5, f6)
CALLS(f4, f5)
CALLS(f3, f4)
CALLS(f2, f3)
CALLS(f1, f2)

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000, sum = 0;
	unsigned state = 1;
	struct rusage usage;
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (long i = 0; i < count; i++) {
		state = state * 1103515245u + 12345u;
		sum += f1(16 + (state >> 16) % 2001);
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr, "loop %.3f s, CPU %.3f s, sum %ld\n",
	        (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9,
	        (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	            (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6,
	        sum);
}
