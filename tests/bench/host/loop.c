/* SPDX-License-Identifier: Apache-2.0 */
/* loop THREADS PAIRS: each thread asks for blocks of random sizes and frees them, four calls deep, with some work between. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 2000, WORK = 60 };

static long pairs;

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

__attribute__((noinline)) static char *make(size_t bytes)
{
	char *block = malloc(bytes);

	memset(block, 1, bytes < 256 ? bytes : 256);
	return block;
}

__attribute__((noinline)) static char *node(uint64_t r)
{
	char *block = make(r % 64 ? 16 + (r >> 8) % 500 : 16 + (r >> 8) % 20000);

	block[0]++;
	return block;
}

__attribute__((noinline)) static char *list(uint64_t r)
{
	char *block = node(r);

	block[1]++;
	return block;
}

static void *work(void *arg)
{
	uint64_t state = (uint64_t)(uintptr_t)arg * 0x9e3779b97f4a7c15u + 1, sum = 0;
	char **slots = calloc(SLOTS, sizeof(*slots));

	for (long i = 0; i < pairs; i++) {
		char **slot = &slots[next(&state) % SLOTS];

		for (int k = 0; k < WORK; k++)
			sum += next(&state);
		free(*slot);
		*slot = list(next(&state));
	}
	for (int i = 0; i < SLOTS; i++)
		free(slots[i]);
	free(slots);
	return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[64];
	uint64_t sum = 0;

	pairs = argc > 2 ? atol(argv[2]) : 1000;
	for (int i = 0; i < count && i < 64; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < count && i < 64; i++) {
		void *result;

		pthread_join(threads[i], &result);
		sum += (uint64_t)(uintptr_t)result;
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
