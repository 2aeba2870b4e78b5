/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target where there is no libFuzzer: mutates the seeds, always in the same way, for so
 * many seconds. An input that crashes is left in a file, whose name is printed first.
 *
 *   fuzz_TARGET SECONDS [DIR]  fuzz; the files of DIR are seeds, too
 *   fuzz_TARGET FILE…          run these inputs
 *   fuzz_TARGET --seeds DIR    write the seed corpus, for libFuzzer
 */
#include "seeds.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HANG_S = 20 };

static uint64_t state = 0x7a3e5eed;
static uint8_t input[FUZZ_MAX], seeds[FUZZ_SEED_MAX][FUZZ_MAX];
static int seed_nr;
static size_t input_size, seed_sizes[FUZZ_SEED_MAX];

static uint64_t number(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? state % below : 0;
}

/* Values at which counts and sizes break. */
static uint64_t edge(void)
{
	static const uint64_t edges[] = { 0,     1,         15,         16,        4095,       4096,
		                              65535, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX - 15 };

	return edges[number(sizeof(edges) / sizeof(edges[0]))];
}

static void mutate_once(void)
{
	size_t at = number(input_size), n = 1 + number(64);
	size_t from = number(input_size), width = (size_t)1 << number(4);
	uint64_t value = edge();

	switch (number(6)) {
	case 0:
		input[at] ^= (uint8_t)(1 << number(8));
		break;
	case 1:
		at = at / width * width;
		if (at + width <= input_size)
			memcpy(input + at, &value, width);
		break;
	case 2: /* one part over another, at cells or anywhere */
		n *= number(2) ? 16 : 1;
		if (number(2)) {
			at = at / 16 * 16;
			from = from / 16 * 16;
		}
		if (at + n <= input_size && from + n <= input_size)
			memmove(input + at, input + from, n);
		break;
	case 3:
		if (at + n <= input_size)
			memset(input + at, 0, n);
		break;
	case 4:
		if (number(8) == 0)
			input_size = at + 1;
		break;
	default:
		if (at + n < input_size) {
			memmove(input + at, input + at + n, input_size - at - n);
			input_size -= n;
		}
	}
}

static void mutate(void)
{
	int n = (int)number((uint64_t)seed_nr);

	memcpy(input, seeds[n], seed_sizes[n]);
	input_size = seed_sizes[n];
	for (uint64_t i = 1 + number(12); i > 0 && input_size > 1; i--)
		mutate_once();
	if (number(4) == 0)
		input[0] ^= FUZZ_RESEAL;
}

static int write_input(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *f = fopen(path, "wb");

	return f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0 ? 0 : 1;
}

/* A sanitizer ends with a signal, too, so that the input is left. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "abort_on_error=1";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

static char crash_path[64];

/* The input is all in memory still; nothing else is needed here. */
static void on_crash(int sig)
{
	write_input(crash_path, input, input_size);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Files of DIR are seeds, too: as many as there is room for. */
static void read_seeds(const char *dir)
{
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char path[4096];
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		f = names[i]->d_name[0] != '.' && seed_nr < FUZZ_SEED_MAX ? fopen(path, "rb") : NULL;
		if (f)
			seed_sizes[seed_nr] = fread(seeds[seed_nr], 1, FUZZ_MAX, f), seed_nr++;
		if (f)
			fclose(f);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

static int fuzz(double seconds, const char *dir)
{
	struct timespec now, begin;
	uint64_t runs = 0;

	snprintf(crash_path, sizeof(crash_path), "fuzz-crash-%d", (int)getpid());
	printf("# an input that crashes is left in %s\n", crash_path);
	fflush(stdout);
	signal(SIGSEGV, on_crash);
	signal(SIGABRT, on_crash);
	signal(SIGBUS, on_crash);
	signal(SIGFPE, on_crash);
	signal(SIGALRM, on_crash);
	for (; seed_nr < fuzz_seed_nr(); seed_nr++)
		seed_sizes[seed_nr] = fuzz_seed(seed_nr, seeds[seed_nr]);
	if (dir)
		read_seeds(dir);
	for (int i = 0; i < seed_nr; i++)
		LLVMFuzzerTestOneInput(seeds[i], seed_sizes[i]);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		mutate();
		alarm(HANG_S);
		LLVMFuzzerTestOneInput(input, input_size);
		runs++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
	printf("# %llu inputs\n", (unsigned long long)runs);
	return 0;
}

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");

	if (!f)
		return 1;
	input_size = fread(input, 1, sizeof(input), f);
	fclose(f);
	return LLVMFuzzerTestOneInput(input, input_size);
}

static int write_seeds(const char *dir)
{
	mkdir(dir, 0700);
	for (int i = 0; i < fuzz_seed_nr(); i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/seed-%d", dir, i);
		input_size = fuzz_seed(i, input);
		if (write_input(path, input, input_size))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int rc = 0;

	if (argc == 3 && !strcmp(argv[1], "--seeds"))
		return write_seeds(argv[2]);
	if (argc > 1 && argc < 4 && strspn(argv[1], "0123456789.") == strlen(argv[1]))
		return fuzz(atof(argv[1]), argv[2]);
	for (int i = 1; i < argc; i++)
		rc |= run_file(argv[i]);
	return rc;
}
