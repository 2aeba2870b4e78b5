/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_XALLOC_H
#define TARE_BASE_XALLOC_H

#include <stddef.h>

/*
 * Memory for the tool. These never return NULL: out of memory, or a size that overflows, ends the
 * process with one sentence. They must not be used in src/recorder, whose process is not ours.
 */
void *tare_xmalloc(size_t size);
void *tare_xcalloc(size_t count, size_t size); /* zeroed */
void *tare_xrealloc(void *old, size_t count, size_t size);
/* `had` items in room for `count`, at the begin of a cache line; `old` is freed. For items of whole cache lines. */
void *tare_xrealloc_lines(void *old, size_t had, size_t count, size_t size);
/*
 * Once, before anything else: arrays of some MiB and more lie in pages of their own, so that they grow without a copy. Else
 * malloc takes those from its heap as soon as one of them was freed, and what they grow out of stays as holes.
 */
void tare_xalloc_begin(void);
char *tare_xstrdup(const char *text);
char *tare_xstrndup(const char *text, size_t len);

#endif
