/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests and frees a second of src/allocator, on one core: blocks of mixed sizes, of which some hundreds are in use, or some
 * thousands. The driver costs nothing.
 */
#include "allocator/allocator.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FEW   512
#define MANY  8192
#define STEPS 20000000u

static bool on_alloc(void *arg, uint64_t size, uint64_t *address)
{
	uint64_t *next = arg;

	*address = *next;
	*next += (size + TARE_ALLOC_LARGE_ROUND - 1) / TARE_ALLOC_LARGE_ROUND * TARE_ALLOC_LARGE_ROUND;
	return true;
}

static void on_free(void *arg, uint64_t address, uint64_t size)
{
	(void)arg;
	(void)address;
	(void)size;
}

static uint64_t on_reserve(void *arg, uint64_t *size)
{
	uint64_t *next = arg;

	*size = 1ull << 40;
	*next += *size;
	return *next - *size;
}

static bool on_map(void *arg, uint64_t address, uint64_t size)
{
	(void)arg;
	(void)address;
	(void)size;
	return true;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* `places` is a power of two: half of them have a block, on average. */
static void measure(const char *conf, unsigned places)
{
	uint64_t next = 1ull << 40, dice = 88172645463325252ull;
	struct tare_alloc_driver driver = {
		.arg = &next, .alloc = on_alloc, .free = on_free, .reserve = on_reserve, .map = on_map, .unmap = on_free
	};
	struct tare_alloc_settings settings;
	struct tare_alloc_rules rules;
	struct tare_allocator *a;
	uint32_t *live = calloc(places, sizeof(*live));
	uint64_t *sizes = malloc(4096 * sizeof(*sizes));
	double begin;

	tare_alloc_settings_init(&settings);
	if (tare_alloc_rules_of("2.11", &rules, NULL) || tare_alloc_settings_parse(&settings, conf, &rules, NULL))
		abort();
	a = tare_alloc_new(&settings, &rules, &driver);
	tare_alloc_stream(a, 0);
	for (size_t i = 0; i < 4096; i++) {
		dice ^= dice << 13;
		dice ^= dice >> 7;
		dice ^= dice << 17;
		sizes[i] = 1 + (dice >> 8) % (dice % 2 ? 100000 : dice % 3 ? 4000000 : 40000000);
	}
	begin = now();
	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t at;

		dice = dice * 6364136223846793005ull + 1442695040888963407ull;
		at = (uint32_t)(dice >> 32) & (places - 1);
		if (live[at]) {
			tare_alloc_free(a, live[at]);
			live[at] = 0;
		} else {
			live[at] = tare_alloc_malloc(a, sizes[dice >> 50 & 4095], 0, 0);
		}
	}
	printf("%-28s %5u blocks %6.1f million operations a second, %.0f MiB reserved\n", *conf ? conf : "(none)",
	       places / 2, STEPS / (now() - begin) / 1e6, (double)tare_alloc_stats(a)->reserved / 1048576);
	tare_alloc_delete(a);
	free(sizes);
	free(live);
}

int main(void)
{
	static const char *const confs[] = { "", "expandable_segments:True", "max_split_size_mb:64",
		                                 "roundup_power2_divisions:8" };

	for (size_t i = 0; i < sizeof(confs) / sizeof(confs[0]); i++) {
		measure(confs[i], FEW);
		measure(confs[i], MANY);
	}
	return 0;
}
