/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and its kin, as libtare_recorder_host.so exports them: each calls the next one, libc's or a preload's. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "recorder/heap/next.h"
#include "recorder/recorder.h"

/* The C library's headers give them attributes that are not wanted where they are defined. */
#define X(name, result, params) result name params;
TARE_NEXT_MAP(X)
#undef X
void *reallocarray(void *block, size_t count, size_t bytes);

/*
 * Nearly every call passes straight through: it is known before the next function is called, which then returns to the
 * caller itself.
 */
TARE_HOT TARE_EXPORT void *malloc(size_t bytes)
{
	return likely(tare_sampling_passes(bytes)) ? tare_next.malloc(bytes) : tare_heap_ask(bytes);
}

TARE_HOT TARE_EXPORT void free(void *block)
{
	void (*free_unknown)(void *) = __atomic_load_n(&tare_next.free_unknown, __ATOMIC_RELAXED);

	if (likely(free_unknown && !tare_sampled_may_be(block)))
		free_unknown(block);
	else
		tare_heap_give_back(block);
}

static bool overflows(size_t count, size_t bytes)
{
	return bytes && count > SIZE_MAX / bytes;
}

static void *ask_for_zeros(size_t count, size_t bytes)
{
	void *block;

	if (!tare_next_is_found())
		return overflows(count, bytes) ? NULL : tare_early_take(count * bytes);
	block = tare_next.calloc(count, bytes);
	tare_heap_made(block, count * bytes);
	return block;
}

TARE_HOT TARE_EXPORT void *calloc(size_t count, size_t bytes)
{
	size_t all;

	return likely(!__builtin_mul_overflow(count, bytes, &all) && tare_sampling_passes(all))
	           ? tare_next.calloc(count, bytes)
	           : ask_for_zeros(count, bytes);
}

/* How large it was is not known: what lies behind it is ours, too. */
TARE_COLD static void *move_early(const void *block, size_t bytes)
{
	size_t left = tare_early_behind(block);
	void *moved = tare_heap_ask(bytes);

	if (moved)
		memcpy(moved, block, bytes < left ? bytes : left);
	return moved;
}

TARE_HOT static void *move(void *block, size_t bytes)
{
	struct tare_heap_leaving leaving;
	void *moved;

	if (unlikely(tare_early_is(block)))
		return move_early(block, bytes);
	if (!tare_next_is_found())
		return tare_early_take(bytes);
	leaving = tare_heap_leave(block);
	moved = tare_next.realloc(block, bytes);
	if (moved)
		tare_heap_moved(&leaving, bytes);
	else if (!bytes)
		tare_heap_gone(&leaving);
	else
		tare_heap_stayed(&leaving); /* refused */
	tare_heap_made(moved, bytes);
	return moved;
}

TARE_HOT TARE_EXPORT void *realloc(void *block, size_t bytes)
{
	return move(block, bytes);
}

TARE_EXPORT void *reallocarray(void *block, size_t count, size_t bytes)
{
	if (overflows(count, bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return move(block, count * bytes);
}

TARE_EXPORT int posix_memalign(void **out, size_t alignment, size_t bytes)
{
	int failure;

	if (!tare_next_is_found())
		return ENOMEM;
	failure = tare_next.posix_memalign(out, alignment, bytes);
	if (!failure)
		tare_heap_made(*out, bytes);
	return failure;
}

#define ALIGNED(name)                                                                                                  \
	TARE_EXPORT void *name(size_t alignment, size_t bytes)                                                             \
	{                                                                                                                  \
		void *block = tare_next_is_found() ? tare_next.name(alignment, bytes) : NULL;                                  \
                                                                                                                       \
		tare_heap_made(block, bytes);                                                                                  \
		return block;                                                                                                  \
	}

#define PAGES(name)                                                                                                    \
	TARE_EXPORT void *name(size_t bytes)                                                                               \
	{                                                                                                                  \
		void *block = tare_next_is_found() ? tare_next.name(bytes) : NULL;                                             \
                                                                                                                       \
		tare_heap_made(block, bytes);                                                                                  \
		return block;                                                                                                  \
	}

ALIGNED(aligned_alloc)
ALIGNED(memalign)
PAGES(valloc)
PAGES(pvalloc)
