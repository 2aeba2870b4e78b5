/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a record costs, by threads: each pushes and pops a phase, which is a record. To be recorded:
 *   tare record --sim h200 -f -o /tmp/lanes.tare -- build/tests/bench/bench_lanes THREADS RECORDS
 * Prints the time by the clock and of the processors, divided by the records of all threads.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tare/tare.h"

enum { THREADS_MAX = 2048 };

static long pairs;
static pthread_barrier_t barrier;

static double now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void *work(void *arg)
{
	(void)arg;
	tare_phase_push("first"); /* the thread gets its lane */
	tare_phase_pop();
	pthread_barrier_wait(&barrier);
	for (long i = 0; i < pairs; i++) {
		tare_phase_push("phase");
		tare_phase_pop();
	}
	pthread_barrier_wait(&barrier);
	return NULL;
}

int main(int argc, char **argv)
{
	long nr = argc > 1 ? atol(argv[1]) : 1, records = argc > 2 ? atol(argv[2]) : 4000000;
	static pthread_t threads[THREADS_MAX];
	double clock, cpu;

	if (nr < 1 || nr > THREADS_MAX)
		return 2;
	pairs = records / 2 / nr;
	pthread_barrier_init(&barrier, NULL, (unsigned)nr + 1);
	for (long i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	pthread_barrier_wait(&barrier);
	clock = now_ns(CLOCK_MONOTONIC);
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	pthread_barrier_wait(&barrier);
	clock = now_ns(CLOCK_MONOTONIC) - clock;
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	for (long i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	printf("%ld threads: %.1f ns a record by the clock, %.1f ns of processors\n", nr,
	       clock / ((double)pairs * 2 * (double)nr), cpu / ((double)pairs * 2 * (double)nr));
	return 0;
}
