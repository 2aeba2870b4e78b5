/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded by bench_host.py into every program: at its end adds a line to the file BENCH_USAGE, "path wall user system
 * resident calls", in seconds and KiB. Built with -DCOUNT it also counts what is asked of malloc, which no other run does.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static long calls;

#ifdef COUNT
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

#define COUNTED(name, params, call)                                                                                    \
	void *name params                                                                                                  \
	{                                                                                                                  \
		__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);                                                               \
		return call;                                                                                                   \
	}

COUNTED(malloc, (size_t bytes), __libc_malloc(bytes))
COUNTED(calloc, (size_t count, size_t bytes), __libc_calloc(count, bytes))
COUNTED(realloc, (void *block, size_t bytes), __libc_realloc(block, bytes))
COUNTED(memalign, (size_t alignment, size_t bytes), __libc_memalign(alignment, bytes))
COUNTED(aligned_alloc, (size_t alignment, size_t bytes), __libc_memalign(alignment, bytes))

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
	*out = memalign(alignment, bytes);
	return *out ? 0 : 12;
}
#endif

static void read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, text, size - 1);

	text[got > 0 ? got : 0] = 0;
	if (fd >= 0)
		close(fd);
}

/* Since the process began, also what came before the first of its code: in ticks of 10 ms. */
static double wall(void)
{
	char text[1024], *at;
	struct timespec now;
	unsigned long long begun;

	read_file("/proc/self/stat", text, sizeof(text));
	at = strrchr(text, ')');
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	clock_gettime(CLOCK_BOOTTIME, &now);
	if (!at || sscanf(at, "%llu", &begun) != 1)
		return 0;
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - (double)begun / (double)sysconf(_SC_CLK_TCK);
}

/* Not of getrusage(), which passes on what there was before exec. */
static long resident(void)
{
	char text[4096], *at;

	read_file("/proc/self/status", text, sizeof(text));
	at = strstr(text, "VmHWM:");
	return at ? atol(at + 6) : 0;
}

__attribute__((destructor)) static void ends(void)
{
	const char *to = getenv("BENCH_USAGE");
	char path[512], line[1024];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct rusage used;
	double seconds = wall();
	int fd, n;

	if (!to || length < 0)
		return;
	path[length] = 0;
	getrusage(RUSAGE_SELF, &used);
	n = snprintf(line, sizeof(line), "%s %.4f %.4f %.4f %ld %ld\n", path, seconds,
	             (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6,
	             (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6, resident(), calls);
	fd = open(to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		return;
	close(fd);
}
