/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++'s operators new and delete, as libtare_recorder_host.so exports them. Those of libstdc++ and libc++ are malloc and
 * free by other names, and are not called unless malloc fails: then they call the program's handler, or throw. An allocator
 * that brings malloc along, as jemalloc, tcmalloc and mimalloc do, has operators of its own, which do not call malloc:
 * they are called, and their blocks recorded; one that turns out to call malloc or free is left to these. Those of any other
 * library are called, and are its own business: if they ask malloc, that is recorded.
 *
 * What is thrown goes through our frames: nothing is to be cleaned up in them, and the library has unwind tables.
 */
#include <stddef.h>
#include <stdint.h>

#include "recorder/base/plib.h"
#include "recorder/elf/elfsym.h"
#include "recorder/elf/objects.h"
#include "recorder/heap/next.h"
#include "recorder/recorder.h"

enum operator{
#define TARE_NEW(name)                  OF_##name,
#define TARE_NEW_WITH(name, is_aligned) OF_##name,
#define TARE_DELETE(name)               OF_##name,
#include "recorder/heap/operators.def"
	OPERATOR_NR
};

static const char *const names[OPERATOR_NR] = {
#define TARE_NEW(name)                  #name,
#define TARE_NEW_WITH(name, is_aligned) #name,
#define TARE_DELETE(name)               #name,
#include "recorder/heap/operators.def"
};

/* All arguments are in registers, so one type is good for all. */
typedef void *operator_fn(uintptr_t, uintptr_t, uintptr_t);

static struct {
	operator_fn *real; /* the next one; NULL: none was loaded yet */
	bool is_own;       /* of the library that malloc is of, and does not call it */
} operators[OPERATOR_NR];
/* Are all that there are malloc and free by other names? */
static bool are_malloc TARE_HOT_DATA;

static bool is_of_language(const struct tare_elf_object *object)
{
	const char *file = tare_plib_basename(object->path);

	return tare_plib_starts(file, "libstdc++.so") || tare_plib_starts(file, "libc++.so") ||
	       tare_plib_starts(file, "libc++abi.so");
}

static operator_fn *look_for(int which, struct tare_elf_object *in)
{
	return (operator_fn *)tare_elf_find_behind(&are_malloc, names[which], in);
}

/*
 * In a program in C a library that is loaded later gets the operators of what it was linked with, which can be others for
 * each library. Nobody has been given ours yet.
 */
static void hide(void)
{
	struct tare_elf_object own;

	if (tare_elf_object_at(&are_malloc, &own))
		tare_elf_hide(&own, names, OPERATOR_NR);
}

void tare_operators_find(void)
{
	struct tare_elf_object object, of_malloc;
	bool are_of_language = true;

	if (!tare_elf_object_at((const void *)(uintptr_t)tare_next.malloc, &of_malloc))
		return;
	for (int i = 0; i < OPERATOR_NR; i++) {
		operators[i].real = look_for(i, &object);
		if (!operators[i].real && i == OF__Znwm) {
			hide();
			break;
		}
		if (!operators[i].real)
			continue;
		operators[i].is_own = object.begin == of_malloc.begin;
		are_of_language &= is_of_language(&object);
	}
	are_malloc = are_of_language;
}

/* A library may have come since. */
static operator_fn *real_of(int which)
{
	operator_fn *real = __atomic_load_n(&operators[which].real, __ATOMIC_ACQUIRE);
	struct tare_elf_object object;

	if (likely(real))
		return real;
	real = look_for(which, &object);
	__atomic_store_n(&operators[which].real, real, __ATOMIC_RELEASE);
	return real;
}

/* As libstdc++ asks. NULL: there is none, or this is not an alignment. */
static void *ask_malloc(size_t bytes, size_t alignment)
{
	void *block;

	bytes += !bytes;
	if (!alignment)
		return tare_heap_ask(bytes);
	if (alignment & (alignment - 1) || bytes > SIZE_MAX - alignment || !tare_next_is_found())
		return NULL;
	alignment = alignment < sizeof(void *) ? sizeof(void *) : alignment;
	block = tare_next.aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
	tare_heap_made(block, bytes);
	return block;
}

/* `b` and `c` are what else the operator has been given. */
TARE_HOT static void *make(int which, size_t bytes, size_t alignment, uintptr_t b, uintptr_t c)
{
	operator_fn *real;
	void *block;

	if (tare_next_is_found() && are_malloc) {
		block = ask_malloc(bytes, alignment);
		if (likely(block))
			return block;
	}
	real = real_of(which);
	if (unlikely(!real))
		return are_malloc ? NULL : ask_malloc(bytes, alignment);
	tare_heap_last.asked = NULL;
	block = real(bytes, b, c);
	if (block && block == tare_heap_last.asked)
		operators[which].is_own = false;
	if (operators[which].is_own)
		tare_heap_made(block, bytes);
	return block;
}

TARE_HOT static void drop(int which, void *block, uintptr_t b, uintptr_t c)
{
	operator_fn *real = are_malloc ? NULL : real_of(which);
	struct tare_heap_leaving leaving;

	if (!real) {
		tare_heap_give_back(block);
		return;
	}
	if (operators[which].is_own && tare_heap_may_know(block)) {
		leaving = tare_heap_leave(block);
		tare_heap_gone(&leaving);
	}
	tare_heap_last.given_back = NULL;
	real((uintptr_t)block, b, c);
	if (block && block == tare_heap_last.given_back)
		operators[which].is_own = false;
}

/* Nearly always, as with malloc (names.c). */
#define TARE_NEW(name)                                                                                                 \
	void *name(size_t bytes);                                                                                          \
	TARE_HOT TARE_EXPORT void *name(size_t bytes)                                                                      \
	{                                                                                                                  \
		void *block;                                                                                                   \
                                                                                                                       \
		if (likely(are_malloc && tare_sampling_passes(bytes + !bytes))) {                                              \
			block = tare_next.malloc(bytes + !bytes);                                                                  \
			if (likely(block))                                                                                         \
				return block;                                                                                          \
		}                                                                                                              \
		return make(OF_##name, bytes, 0, 0, 0);                                                                        \
	}
#define TARE_NEW_WITH(name, is_aligned)                                                                                \
	void *name(size_t bytes, uintptr_t b, uintptr_t c);                                                                \
	TARE_EXPORT void *name(size_t bytes, uintptr_t b, uintptr_t c)                                                     \
	{                                                                                                                  \
		return make(OF_##name, bytes, (is_aligned) ? b : 0, b, c);                                                     \
	}
#define TARE_DELETE(name)                                                                                              \
	void name(void *block, uintptr_t b, uintptr_t c);                                                                  \
	TARE_HOT TARE_EXPORT void name(void *block, uintptr_t b, uintptr_t c)                                              \
	{                                                                                                                  \
		void (*free_unknown)(void *) = __atomic_load_n(&tare_next.free_unknown, __ATOMIC_RELAXED);                     \
                                                                                                                       \
		if (likely(are_malloc && free_unknown && !tare_sampled_may_be(block)))                                         \
			free_unknown(block);                                                                                       \
		else                                                                                                           \
			drop(OF_##name, block, b, c);                                                                              \
	}
#include "recorder/heap/operators.def"
