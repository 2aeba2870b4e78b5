/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a record costs, by threads: each pushes and pops a phase, which is a record. To be recorded:
 *   tare record --sim h200 -f -o /tmp/lanes.tare -- build/tests/bench/bench_lanes THREADS RECORDS
 * Prints the time by the clock and of the processors, divided by the records of all threads, and how long the first
 * record of a thread takes, in which it gets its lane.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tare/tare.h"

enum { THREADS_MAX = 2048 };

static long pairs;
static pthread_barrier_t barrier;
static double firsts[THREADS_MAX]; /* ns; 0: that thread has not begun */

static double now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void *work(void *arg)
{
	double *first = arg, began = now_ns(CLOCK_MONOTONIC), ended;

	tare_phase_push("first");
	ended = now_ns(CLOCK_MONOTONIC);
	tare_phase_pop();
	__atomic_store(first, &(double){ ended - began }, __ATOMIC_RELEASE);
	pthread_barrier_wait(&barrier);
	for (long i = 0; i < pairs; i++) {
		tare_phase_push("phase");
		tare_phase_pop();
	}
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* One after another, so that each is alone with its first record. */
static int start_threads(pthread_t *threads, long nr)
{
	for (long i = 0; i < nr; i++) {
		double first = 0;

		if (pthread_create(&threads[i], NULL, work, &firsts[i]))
			return -1;
		while (first == 0)
			__atomic_load(&firsts[i], &first, __ATOMIC_ACQUIRE);
	}
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* A program that never calls the driver has no log. */
static int start_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned int) = library ? (int (*)(unsigned int))(uintptr_t)dlsym(library, "cuInit") : NULL;

	return init ? init(0) : -1;
}

int main(int argc, char **argv)
{
	long nr = argc > 1 ? atol(argv[1]) : 1, records = argc > 2 ? atol(argv[2]) : 4000000;
	static pthread_t threads[THREADS_MAX];
	double clock, cpu;

	if (nr < 1 || nr > THREADS_MAX)
		return 2;
	if (start_driver() != 0)
		fprintf(stderr, "there is no driver here, so nothing is recorded\n");
	pairs = records / 2 / nr;
	pthread_barrier_init(&barrier, NULL, (unsigned)nr + 1);
	if (start_threads(threads, nr) != 0)
		return 1;
	/* Before this thread lets them go: on few processors it may be the last to go on. */
	clock = now_ns(CLOCK_MONOTONIC);
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	clock = now_ns(CLOCK_MONOTONIC) - clock;
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	for (long i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	printf("%ld threads: %.1f ns a record by the clock, %.1f ns of processors\n", nr,
	       clock / ((double)pairs * 2 * (double)nr), cpu / ((double)pairs * 2 * (double)nr));
	qsort(firsts, (size_t)nr, sizeof(firsts[0]), by_size);
	printf("first record of a thread: median %.1f us, nine of ten within %.1f us\n", firsts[nr / 2] / 1e3,
	       firsts[nr * 9 / 10] / 1e3);
	return 0;
}
