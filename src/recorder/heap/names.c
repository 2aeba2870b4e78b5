/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and its kin, as libtare_recorder_host.so exports them: each calls the next one, libc's or a preload's. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "recorder/elf/libdl.h"
#include "recorder/heap/heap.h"
#include "recorder/recorder.h"

/* X(name, result, parameters) */
#define HEAP_MAP(X)                                                                                \
	X(malloc, void *, (size_t))                                                                \
	X(calloc, void *, (size_t, size_t))                                                        \
	X(realloc, void *, (void *, size_t))                                                       \
	X(free, void, (void *))                                                                    \
	X(posix_memalign, int, (void **, size_t, size_t))                                          \
	X(aligned_alloc, void *, (size_t, size_t))                                                 \
	X(memalign, void *, (size_t, size_t))                                                      \
	X(valloc, void *, (size_t))                                                                \
	X(pvalloc, void *, (size_t))

/* The C library's headers give them attributes that are not wanted where they are defined. */
#define X(name, result, params) result name params;
HEAP_MAP(X)
#undef X
void *reallocarray(void *block, size_t count, size_t bytes);

static struct {
#define X(name, result, params) result(*name) params;
	HEAP_MAP(X)
#undef X
} real TARE_HOT_DATA;
static enum { NOT_FOUND, FINDING, FOUND } state TARE_HOT_DATA;

/*
 * What is asked for while the real functions are looked for, by the dynamic linker when it is asked for them: there is
 * one thread then. It is never given back.
 */
enum { EARLY = 64 << 10, ALIGNMENT = 16 };
static uint8_t early[EARLY] __attribute__((aligned(ALIGNMENT)));
static size_t early_used;

static bool is_early(const void *block)
{
	return (const uint8_t *)block >= early && (const uint8_t *)block < early + EARLY;
}

TARE_COLD static void *take_early(size_t bytes)
{
	uint8_t *block = early + early_used;

	if (bytes > EARLY - early_used) {
		errno = ENOMEM;
		return NULL;
	}
	early_used += (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	return block;
}

TARE_COLD static bool find(void)
{
	if (state == FINDING)
		return false;
	state = FINDING;
#define X(name, result, params) real.name = (result(*) params)tare_resolve_next(#name);
	HEAP_MAP(X)
#undef X
	state = FOUND;
	return true;
}

static inline bool is_found(void)
{
	return likely(state == FOUND) || find();
}

TARE_HOT static inline void *ask(size_t bytes)
{
	void *block;

	if (!is_found())
		return take_early(bytes);
	block = real.malloc(bytes);
	tare_heap_made(block, bytes);
	return block;
}

TARE_HOT TARE_EXPORT void *malloc(size_t bytes)
{
	return ask(bytes);
}

TARE_HOT TARE_EXPORT void free(void *block)
{
	struct tare_heap_leaving leaving;

	if (unlikely(is_early(block)) || !is_found())
		return;
	if (tare_heap_may_know(block)) {
		leaving = tare_heap_leave(block);
		tare_heap_gone(&leaving);
	}
	real.free(block);
}

static bool overflows(size_t count, size_t bytes)
{
	return bytes && count > SIZE_MAX / bytes;
}

TARE_HOT TARE_EXPORT void *calloc(size_t count, size_t bytes)
{
	void *block;

	if (!is_found())
		return overflows(count, bytes) ? NULL : take_early(count * bytes);
	block = real.calloc(count, bytes);
	tare_heap_made(block, count * bytes);
	return block;
}

/* How large it was is not known: what lies behind it is ours, too. */
TARE_COLD static void *move_early(const void *block, size_t bytes)
{
	size_t left = EARLY - (size_t)((const uint8_t *)block - early);
	void *moved = ask(bytes);

	if (moved)
		memcpy(moved, block, bytes < left ? bytes : left);
	return moved;
}

TARE_HOT static void *move(void *block, size_t bytes)
{
	struct tare_heap_leaving leaving;
	void *moved;

	if (unlikely(is_early(block)))
		return move_early(block, bytes);
	if (!is_found())
		return take_early(bytes);
	leaving = tare_heap_leave(block);
	moved = real.realloc(block, bytes);
	if (moved || !bytes)
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

	if (!is_found())
		return ENOMEM;
	failure = real.posix_memalign(out, alignment, bytes);
	if (!failure)
		tare_heap_made(*out, bytes);
	return failure;
}

#define ALIGNED(name)                                                                              \
	TARE_EXPORT void *name(size_t alignment, size_t bytes)                                     \
	{                                                                                          \
		void *block = is_found() ? real.name(alignment, bytes) : NULL;                     \
                                                                                                   \
		tare_heap_made(block, bytes);                                                      \
		return block;                                                                      \
	}

#define PAGES(name)                                                                                \
	TARE_EXPORT void *name(size_t bytes)                                                       \
	{                                                                                          \
		void *block = is_found() ? real.name(bytes) : NULL;                                \
                                                                                                   \
		tare_heap_made(block, bytes);                                                      \
		return block;                                                                      \
	}

ALIGNED(aligned_alloc)
ALIGNED(memalign)
PAGES(valloc)
PAGES(pvalloc)
