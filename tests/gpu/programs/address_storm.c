/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that take and give back parts of the same few pages, on as few processors as the program may use: an address
 * is often given again while the call that gave it back has not returned. Each thread keeps a block now and then.
 */
#include "cu.h"

#include <pthread.h>
#include <stdint.h>

enum { THREADS = 16, ROUNDS = 1500, KEPT_EVERY = 300 };

static CUcontext context;
static uint64_t rounded_to = 1; /* sizes are multiples of it */

static size_t rounded(uint64_t bytes)
{
	return (bytes + rounded_to - 1) / rounded_to * rounded_to;
}

static void *take_and_give(void *arg)
{
	uint64_t seed = (uintptr_t)arg * 7919 + 1;
	CUdeviceptr at, kept;

	OK(cuCtxSetCurrent(context));
	for (int i = 0; i < ROUNDS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		OK(cuMemAlloc(&at, rounded(1 + (seed >> 40) % (3 * MiB))));
		if (i % KEPT_EVERY == 0)
			OK(cuMemAlloc(&kept, rounded(0xfaceb + (uint64_t)i)));
		OK(cuMemFree(at));
	}
	return NULL;
}

/* With an argument no two blocks share a page of 2 MiB. */
int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	(void)argv;
	if (argc > 1)
		rounded_to = 2 * MiB;

	open_gpu(0);
	OK(cuCtxGetCurrent(&context));
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, take_and_give, (void *)i) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
