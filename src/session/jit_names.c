/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the names that a runtime with a compiler writes into /tmp/perf-PID.map. */
#include "session/jit_names.h"

#include "base/array.h"
#include "base/bisect.h"
#include "base/comparator.h"
#include "base/file.h"
#include "base/xalloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MAX = 256 << 20, CLOCK_SLACK = 2 /* seconds */ };

struct function {
	uint64_t begin, end;
	const char *name;
	size_t order; /* in the file: the later took the place of the earlier */
};

struct tare_jit_names {
	struct tare_str text;
	struct function *functions; /* by begin, those that begin together by order */
	size_t count, cap;
	uint64_t longest;
};

/* Seconds since 1970 at which the process began; 0: not known. */
static time_t start_of(uint64_t start_ticks)
{
	struct timespec now, since_boot;
	long per_second = sysconf(_SC_CLK_TCK);

	if (!start_ticks || per_second <= 0 || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
	    clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0)
		return 0;
	return now.tv_sec - since_boot.tv_sec + (time_t)(start_ticks / (uint64_t)per_second);
}

/* Anybody may put a file of any name into /tmp; and the number may have been another process's. */
static bool is_its_own(const char *path, uint64_t start_ticks)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       st.st_mtime + CLOCK_SLACK >= start_of(start_ticks);
}

static void add_line(struct tare_jit_names *n, char *line)
{
	struct function f = { .order = n->count };
	uint64_t size;
	char *p;

	errno = 0;
	f.begin = strtoull(line, &p, 16);
	if (errno || p == line || *p != ' ')
		return;
	line = p + 1;
	size = strtoull(line, &p, 16);
	if (errno || p == line || *p != ' ' || !p[1] || !size || size > UINT64_MAX - f.begin)
		return;
	f.end = f.begin + size;
	f.name = p + 1;
	if (n->longest < size)
		n->longest = size;
	TARE_APPEND(n->functions, n->count, n->cap) = f;
}

TARE_COMPARATOR(by_begin, struct function, TARE_RISING(begin) TARE_RISING(order))

struct tare_jit_names *tare_jit_names_open(uint32_t pid, uint64_t start_ticks)
{
	struct tare_jit_names *n;
	char path[64], *rest, *line;

	snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", pid);
	if (!is_its_own(path, start_ticks))
		return NULL;
	n = tare_xcalloc(1, sizeof(*n));
	if (tare_file_read(&n->text, path, FILE_MAX, NULL) == 0 && n->text.data)
		for (rest = n->text.data; (line = strsep(&rest, "\n"));)
			add_line(n, line);
	TARE_SORT(n->functions, n->count, by_begin);
	return n;
}

void tare_jit_names_close(struct tare_jit_names *n)
{
	if (!n)
		return;
	free(n->functions);
	tare_str_free(&n->text);
	free(n);
}

const char *tare_jit_names_find(const struct tare_jit_names *n, uint64_t address, uint64_t *offset)
{
	const struct function *found = NULL;
	size_t low = 0;

	TARE_BISECT(low, n->count, i, n->functions[i].begin <= address);
	for (; low > 0 && address - n->functions[low - 1].begin < n->longest; low--) {
		const struct function *f = &n->functions[low - 1];

		if (address < f->end && (!found || f->order > found->order))
			found = f;
	}
	if (found)
		*offset = address - found->begin;
	return found ? found->name : NULL;
}
