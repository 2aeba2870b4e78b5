/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and its kin for the tool: out of memory ends the process with a sentence. */
#include "base/xalloc.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void out_of_memory(size_t count, size_t size) __attribute__((noreturn));
static void out_of_memory(size_t count, size_t size)
{
	fprintf(stderr, "tare: out of memory (asked for %zu x %zu bytes); free some and run it again\n", count, size);
	abort();
}

void tare_xalloc_begin(void)
{
	enum { LARGE = 4 << 20 };

	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, 2 * LARGE); /* as malloc itself would set it with that */
}

void *tare_xrealloc(void *old, size_t count, size_t size)
{
	void *p = reallocarray(old, count ? count : 1, size ? size : 1);

	if (!p)
		out_of_memory(count, size);
	return p;
}

/* realloc would keep only what malloc aligns to. */
void *tare_xrealloc_lines(void *old, size_t had, size_t count, size_t size)
{
	size_t bytes;
	void *p = NULL;

	if (!__builtin_mul_overflow(count, size, &bytes))
		p = aligned_alloc(64, bytes);
	if (!p)
		out_of_memory(count, size);
	if (had)
		memcpy(p, old, had * size);
	free(old);
	return p;
}

void *tare_xmalloc(size_t size)
{
	return tare_xrealloc(NULL, 1, size);
}

void *tare_xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		out_of_memory(count, size);
	return p;
}

char *tare_xstrndup(const char *text, size_t len)
{
	char *p = tare_xmalloc(len + 1);

	memcpy(p, text, len);
	p[len] = '\0';
	return p;
}

char *tare_xstrdup(const char *text)
{
	return tare_xstrndup(text, strlen(text));
}
