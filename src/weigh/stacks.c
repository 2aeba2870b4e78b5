/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the stack pointers of threads. */
#include "weigh/place.h"

#include "base/array.h"
#include "base/bisect.h"
#include "base/comparator.h"
#include "base/str.h"
#include "witness/root.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "0 0x3 0x7f… 0x1000 0x0 0x0 0x0 0x7ffc… 0x7f…": the last two are where its stack and its code are; else "running". */
static uint64_t pointer_in(char *text)
{
	char *code = strrchr(text, ' '), *stack;

	if (!code)
		return 0;
	*code = '\0';
	stack = strrchr(text, ' ');
	return stack ? strtoull(stack + 1, NULL, 16) : 0;
}

TARE_SCALAR_COMPARATOR(by_address, uint64_t)

void tare_weigh_stacks_find(struct tare_weigh_stacks *s, const char *root, pid_t pid)
{
	char path[PATH_MAX];
	struct tare_str text = { 0 };
	struct dirent *thread;
	DIR *threads;

	if (snprintf(path, sizeof(path), "%s/proc/%d/task", root, (int)pid) >= (int)sizeof(path))
		return;
	threads = opendir(path);
	if (!threads)
		return;
	while ((thread = readdir(threads))) {
		long tid = strtol(thread->d_name, NULL, 10);
		uint64_t pointer;

		if (tid <= 0 || tid == pid || tare_root_read(&text, root, "/proc/%d/task/%ld/syscall", (int)pid, tid) ||
		    !text.len)
			continue;
		pointer = pointer_in(text.data);
		if (!pointer)
			continue;
		TARE_APPEND(s->pointers, s->count, s->cap) = pointer;
	}
	closedir(threads);
	tare_str_free(&text);
	TARE_SORT(s->pointers, s->count, by_address);
}

bool tare_weigh_stacks_have(const struct tare_weigh_stacks *s, uint64_t start, uint64_t end)
{
	size_t low = 0;

	TARE_BISECT(low, s->count, i, s->pointers[i] < start);
	return low < s->count && s->pointers[low] < end;
}

void tare_weigh_stacks_free(struct tare_weigh_stacks *s)
{
	free(s->pointers);
	*s = (struct tare_weigh_stacks){ 0 };
}
