/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded: who opens the driver's files. At the first open of each /dev/nvidia* it prints which libraries called for it, the
 * innermost first. TARE_WHO_OPENS names the file; without it nothing is printed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES = 64, SEEN = 64 };

static __thread int busy;
static char seen[SEEN][64];
static int seen_nr;

static int is_new(const char *path)
{
	for (int i = 0; i < seen_nr; i++)
		if (!strcmp(seen[i], path))
			return 0;
	if (seen_nr < SEEN)
		snprintf(seen[seen_nr++], sizeof(seen[0]), "%s", path);
	return 1;
}

/* Each library once, as its frames follow each other. */
static void tell(const char *what)
{
	const char *name = getenv("TARE_WHO_OPENS"), *last = "";
	struct timespec t;
	void *frames[FRAMES];
	Dl_info own = { 0 };
	FILE *out = name ? fopen(name, "a") : NULL;
	int nr;

	if (!out)
		return;
	clock_gettime(CLOCK_MONOTONIC, &t);
	nr = backtrace(frames, FRAMES);
	dladdr((void *)seen, &own);
	fprintf(out, "%d %lld.%06ld %s:", (int)getpid(), (long long)t.tv_sec, t.tv_nsec / 1000, what);
	for (int i = 0; i < nr; i++) {
		Dl_info info = { 0 };
		const char *file = dladdr(frames[i], &info) && info.dli_fname ? info.dli_fname : "?";

		if (info.dli_fbase == own.dli_fbase)
			continue;
		file = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
		if (strcmp(file, last))
			fprintf(out, " %s%s%s%s", file, info.dli_sname ? "(" : "", info.dli_sname ? info.dli_sname : "",
			        info.dli_sname ? ")" : "");
		last = file;
	}
	fputc('\n', out);
	fclose(out);
}

static void look(const char *path)
{
	if (busy || !path || strncmp(path, "/dev/nvidia", 11) || !is_new(path))
		return;
	busy = 1;
	tell(path);
	busy = 0;
}

#define OPEN(name, PARAMETERS, ...)                                                                                    \
	int name PARAMETERS                                                                                                \
	{                                                                                                                  \
		int(*next) PARAMETERS = (int(*) PARAMETERS)dlsym(RTLD_NEXT, #name);                                            \
		mode_t mode;                                                                                                   \
		va_list ap;                                                                                                    \
                                                                                                                       \
		va_start(ap, flags);                                                                                           \
		mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;                                                 \
		va_end(ap);                                                                                                    \
		look(path);                                                                                                    \
		return next(__VA_ARGS__, mode);                                                                                \
	}

OPEN(open, (const char *path, int flags, ...), path, flags)
OPEN(open64, (const char *path, int flags, ...), path, flags)
OPEN(openat, (int dir, const char *path, int flags, ...), dir, path, flags)
OPEN(openat64, (int dir, const char *path, int flags, ...), dir, path, flags)
