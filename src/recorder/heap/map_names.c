/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmap and its kin, as libtare_recorder_host.so exports them. Mappings of files are not recorded. What nobody may touch
 * is recorded as reserved, and what mprotect makes of it; mprotect is asked far more often of other memory, so programs
 * that have never reserved anything pay one look for it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "recorder/base/sys.h"
#include "recorder/elf/elfsym.h"
#include "recorder/elf/libdl.h"
#include "recorder/heap/heap.h"
#include "recorder/recorder.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4 /* since Linux 5.7, glibc 2.32 */
#endif

static struct {
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
	int (*mprotect)(void *, size_t, int);
	int (*munmap)(void *, size_t);
} real;
static bool has_reserved;

/* Code of the library that malloc is in: what that maps, malloc hands out. */
static uintptr_t malloc_begin, malloc_end;

static void find_malloc(void)
{
	struct tare_elf_object object;

	if (!tare_elf_object_at(tare_resolve_next("malloc"), &object))
		return;
	malloc_begin = object.begin;
	malloc_end = object.end;
}

static bool is_found(void)
{
	if (likely(__atomic_load_n(&real.munmap, __ATOMIC_ACQUIRE) != NULL))
		return true;
	find_malloc();
	real.mmap = (void *(*)(void *, size_t, int, int, int, off_t))tare_resolve_next("mmap");
	real.mremap = (void *(*)(void *, size_t, size_t, int, ...))tare_resolve_next("mremap");
	real.mprotect = (int (*)(void *, size_t, int))tare_resolve_next("mprotect");
	__atomic_store_n(&real.munmap, (int (*)(void *, size_t))tare_resolve_next("munmap"), __ATOMIC_RELEASE);
	return real.mmap && real.mremap && real.mprotect && real.munmap;
}

static bool is_of_malloc(const void *caller)
{
	return (uintptr_t)caller >= malloc_begin && (uintptr_t)caller < malloc_end;
}

/* Where the real function is not found the kernel is asked, and answers as the C library would. */
static long ask_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	long ret = tare_sys_always(number, a, b, c, d, e, f);

	if (ret >= 0 || ret < -4095)
		return ret;
	errno = (int)-ret;
	return -1;
}

static void note_mapped(struct tare_heap_mapping mapping, int prot)
{
	if (prot == PROT_NONE)
		__atomic_store_n(&has_reserved, true, __ATOMIC_RELAXED);
	tare_heap_mapped(mapping, prot == PROT_NONE ? TARE_HEAP_OF_RESERVE : TARE_HEAP_OF_MMAP);
}

static void *map(void *at, size_t size, int prot, int flags, int fd, off_t offset, const void *caller)
{
	uint64_t before = tare_heap_stamp();
	void *mapped;

	if (!is_found())
		return (void *)ask_kernel(SYS_mmap, (long)at, (long)size, prot, flags, fd, offset);
	mapped = real.mmap(at, size, prot, flags, fd, offset);
	if (mapped == MAP_FAILED || is_of_malloc(caller))
		return mapped;
	if (flags & MAP_FIXED)
		tare_heap_unmapped((struct tare_heap_mapping){ mapped, size }, TARE_HEAP_GOES_UNMAPPED, before);
	if (flags & MAP_ANONYMOUS)
		note_mapped((struct tare_heap_mapping){ mapped, size }, prot);
	return mapped;
}

/* The C library's headers make one name of the two. */
#define MMAP(name)                                                                                                     \
	void *tare_host_##name(void *at, size_t size, int prot, int flags, int fd, off_t offset) __asm__(#name);           \
	TARE_EXPORT void *tare_host_##name(void *at, size_t size, int prot, int flags, int fd, off_t offset)               \
	{                                                                                                                  \
		return map(at, size, prot, flags, fd, offset, __builtin_return_address(0));                                    \
	}

MMAP(mmap)
MMAP(mmap64)

TARE_EXPORT int munmap(void *at, size_t size)
{
	uint64_t before = tare_heap_stamp();
	int failure;

	if (!is_found())
		return (int)ask_kernel(SYS_munmap, (long)at, (long)size, 0, 0, 0, 0);
	failure = real.munmap(at, size);
	if (!failure && !is_of_malloc(__builtin_return_address(0)))
		tare_heap_unmapped((struct tare_heap_mapping){ at, size }, TARE_HEAP_GOES_UNMAPPED, before);
	return failure;
}

TARE_EXPORT int mprotect(void *at, size_t size, int prot)
{
	bool is_of_interest = prot == PROT_NONE || __atomic_load_n(&has_reserved, __ATOMIC_RELAXED);
	struct tare_heap_mapping mapping = { at, size };
	uint64_t before = is_of_interest ? tare_heap_stamp() : 0;
	int failure;

	if (!is_found())
		return (int)ask_kernel(SYS_mprotect, (long)at, (long)size, prot, 0, 0, 0);
	failure = real.mprotect(at, size, prot);
	if (failure || !is_of_interest || !size || is_of_malloc(__builtin_return_address(0)))
		return failure;
	if (prot == PROT_NONE) {
		__atomic_store_n(&has_reserved, true, __ATOMIC_RELAXED);
		tare_heap_unmapped(mapping, TARE_HEAP_GOES_CLOSED, before);
	} else {
		tare_heap_mapped(mapping, TARE_HEAP_OF_MPROTECT);
	}
	return failure;
}

TARE_EXPORT void *mremap(void *from, size_t old_size, size_t size, int flags, ...)
{
	uint64_t before = tare_heap_stamp();
	void *wanted, *now;
	va_list args;

	va_start(args, flags);
	wanted = (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) ? va_arg(args, void *) : NULL;
	va_end(args);
	if (!is_found())
		return (void *)ask_kernel(SYS_mremap, (long)from, (long)old_size, (long)size, flags, (long)wanted, 0);
	now = real.mremap(from, old_size, size, flags, wanted);
	if (now != MAP_FAILED && !is_of_malloc(__builtin_return_address(0))) {
		tare_heap_unmapped((struct tare_heap_mapping){ from, old_size }, TARE_HEAP_GOES_MOVED, before);
		tare_heap_mapped((struct tare_heap_mapping){ now, size }, TARE_HEAP_OF_MREMAP);
	}
	return now;
}
