/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls without libc: they leave errno alone and are no cancellation points, so a thread of
 * the program that is cancelled never unwinds through us. Each returns the kernel's value: negative
 * errno on failure, also where confined.h forbids the call.
 */
#ifndef TARE_RECORDER_SYS_H
#define TARE_RECORDER_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "recorder/base/confined.h"

/* What the program would itself do now: end, execute. */
static inline long tare_sys_always(long n, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
	                 : "=a"(ret)
	                 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#else
#error "Tare's recorder knows x86_64 and aarch64"
#endif
}

/* -EPERM once the program has restricted itself: a filter may kill it for what it does not expect. */
static inline long tare_sys6(long n, long a, long b, long c, long d, long e, long f)
{
	return tare_may_syscall() ? tare_sys_always(n, a, b, c, d, e, f) : -EPERM;
}

/* Of one that has no errors: 0 where it may not be asked. */
static inline uint32_t tare_sys_id(long n)
{
	long id = tare_sys6(n, 0, 0, 0, 0, 0, 0);

	return id > 0 ? (uint32_t)id : 0;
}

static inline int tare_sys_open(const char *path, int flags, int mode)
{
	return (int)tare_sys6(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, mode, 0, 0);
}

/* Of a descriptor of ours, opened before: nobody else would close it. */
static inline int tare_sys_close(int fd)
{
	return (int)tare_sys_always(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long tare_sys_read(int fd, void *buffer, size_t size)
{
	return tare_sys6(SYS_read, fd, (long)buffer, (long)size, 0, 0, 0);
}

static inline long tare_sys_write(int fd, const void *buffer, size_t size)
{
	return tare_sys6(SYS_write, fd, (long)buffer, (long)size, 0, 0, 0);
}

/* A file that grows past ulimit -f is a signal that ends the program (SIGXFSZ), so we ask before. */
static inline int tare_sys_may_grow(uint64_t end)
{
	uint64_t limit[2] = { 0, 0 };

	return tare_sys6(SYS_prlimit64, 0, 1 /* RLIMIT_FSIZE */, 0, (long)limit, 0, 0) != 0 || end <= limit[0];
}

static inline long tare_sys_pwrite(int fd, const void *buffer, size_t size, uint64_t offset)
{
	if (!tare_sys_may_grow(offset + size))
		return -EFBIG;
	return tare_sys6(SYS_pwrite64, fd, (long)buffer, (long)size, (long)offset, 0, 0);
}

static inline int tare_sys_fallocate(int fd, uint64_t offset, uint64_t size)
{
	if (!tare_sys_may_grow(offset + size))
		return -EFBIG;
	return (int)tare_sys6(SYS_fallocate, fd, 0, (long)offset, (long)size, 0, 0);
}

static inline int tare_sys_ftruncate(int fd, uint64_t size)
{
	return (int)tare_sys6(SYS_ftruncate, fd, (long)size, 0, 0, 0, 0);
}

static inline int tare_sys_unlink(const char *path)
{
	return (int)tare_sys6(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

/* Memory that is given back at once; NULL on failure. */
static inline void *tare_sys_mmap_briefly(size_t size)
{
	long ret = tare_sys6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return ret < 0 && ret > -4096 ? NULL : (void *)ret;
}

/* Memory that stays; NULL on failure. A core file of the program leaves it out: the ring alone spans all its lanes. */
static inline void *tare_sys_mmap(void *at, size_t size, int prot, int flags, int fd, long offset)
{
	long ret = tare_sys6(SYS_mmap, (long)at, (long)size, prot, flags, fd, offset);

	if (ret < 0 && ret > -4096)
		return NULL;
	tare_sys6(SYS_madvise, ret, (long)size, MADV_DONTDUMP, 0, 0, 0);
	return (void *)ret;
}

static inline int tare_sys_munmap(void *at, size_t size)
{
	return (int)tare_sys6(SYS_munmap, (long)at, (long)size, 0, 0, 0, 0);
}

/* The kernel's own answer: a vfork child shares our memory but not our pid. */
static inline uint32_t tare_sys_getpid(void)
{
	return tare_sys_id(SYS_getpid);
}

static inline uint32_t tare_sys_getppid(void)
{
	return tare_sys_id(SYS_getppid);
}

static inline uint32_t tare_sys_gettid(void)
{
	return tare_sys_id(SYS_gettid);
}

/*
 * Can the page of 4 KiB be read in which `addr` is? Costs 0.1 us. rt_sigprocmask copies the mask in before it looks at
 * an impossible `how`: EFAULT or EINVAL. Any other answer (a sandbox) counts as no.
 */
static inline bool tare_sys_is_readable(uintptr_t addr)
{
	return tare_sys6(SYS_rt_sigprocmask, -1, (long)(addr & ~(uintptr_t)4095), 0, 8, 0, 0) == -EINVAL;
}

static inline uint64_t tare_sys_now_ns(int clock)
{
	struct timespec ts = { 0, 0 };

	tare_sys6(SYS_clock_gettime, clock, (long)&ts, 0, 0, 0, 0);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
