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

static void *take_and_give(void *arg)
{
	uint64_t seed = (uintptr_t)arg * 7919 + 1;
	CUdeviceptr at, kept;

	OK(cuCtxSetCurrent(context));
	for (int i = 0; i < ROUNDS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		OK(cuMemAlloc(&at, 1 + (seed >> 40) % (3 * MiB)));
		if (i % KEPT_EVERY == 0)
			OK(cuMemAlloc(&kept, 0xfaceb + (size_t)i));
		OK(cuMemFree(at));
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	open_gpu(0);
	OK(cuCtxGetCurrent(&context));
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, take_and_give, (void *)i) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
