/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that the hooks of libtare_recorder_host.so pass on to: malloc and its kin as the next library has them,
 * libc's or a preload's.
 */
#ifndef TARE_RECORDER_HEAP_NEXT_H
#define TARE_RECORDER_HEAP_NEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "recorder/heap/heap.h"
#include "recorder/recorder.h"

/* X(name, result, parameters) */
#define TARE_NEXT_MAP(X)                                                                                               \
	X(malloc, void *, (size_t))                                                                                        \
	X(calloc, void *, (size_t, size_t))                                                                                \
	X(realloc, void *, (void *, size_t))                                                                               \
	X(free, void, (void *))                                                                                            \
	X(posix_memalign, int, (void **, size_t, size_t))                                                                  \
	X(aligned_alloc, void *, (size_t, size_t))                                                                         \
	X(memalign, void *, (size_t, size_t))                                                                              \
	X(valloc, void *, (size_t))                                                                                        \
	X(pvalloc, void *, (size_t))

struct tare_heap_next {
#define X(name, result, params) result(*name) params;
	TARE_NEXT_MAP(X)
#undef X
	/* `free` once nearly all blocks are known not to be recorded by tare_sampled_may_be() alone; NULL before, and
	 * where all are recorded. */
	void (*free_unknown)(void *);
};
extern struct tare_heap_next tare_next;

enum tare_next_state { TARE_NEXT_NOT_FOUND, TARE_NEXT_FINDING, TARE_NEXT_FOUND };
extern enum tare_next_state tare_next_state;

/* False: they are being looked for, and the dynamic linker asks for memory meanwhile. */
bool tare_next_find(void);
static inline bool tare_next_is_found(void)
{
	return likely(tare_next_state == TARE_NEXT_FOUND) || tare_next_find();
}

/* operators.c: C++'s new and delete; called once the others are found, while nothing has been loaded by dlopen. */
void tare_operators_find(void);

/* Memory for those who ask while the functions are looked for; it is never given back. */
void *tare_early_take(size_t bytes);
bool tare_early_is(const void *block);
size_t tare_early_behind(const void *block); /* bytes from there to the end of all such memory */

/*
 * What of this thread the two functions below were called with last: an operator of an allocator's own may call malloc or
 * free after all (operators.c).
 */
extern TARE_TLS struct tare_heap_last {
	const void *asked, *given_back;
} tare_heap_last;

/* What the hooks do where more is to be done than to pass the call on: a block that may be recorded comes or goes. */
void *tare_heap_ask(size_t bytes);
void tare_heap_give_back(void *block);

#endif
