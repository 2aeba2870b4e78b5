/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files by which some programs see whether there is a driver before they load it: /dev/nvidia0, /dev/nvidiactl. They are
 * asked for with stat() and access() only, and answered as character devices of the simulated machine; whatever else is
 * asked for goes on as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "simgpu/libs/loader.h"

enum { MAJOR = 195, CONTROL = 255, NOT_ONE = -1 };

#define OUT __attribute__((visibility("default")))

/* What stands behind each function: looked up at the start, for later another thread may hold the linker's lock over fork(). */
#define FUNCTIONS(X)                                                                                                   \
	X(stat)                                                                                                            \
	X(stat64)                                                                                                          \
	X(lstat)                                                                                                           \
	X(lstat64)                                                                                                         \
	X(__xstat) X(__xstat64) X(__lxstat) X(__lxstat64) X(fstatat) X(fstatat64) X(access)
#define PLACE(name) AT_##name,
#define NAME(name)  #name,
enum { FUNCTIONS(PLACE) FUNCTIONS_NR };
static const char *const names[] = { FUNCTIONS(NAME) };
static void *nexts[FUNCTIONS_NR];

static void *next_of(int i)
{
	void *next = __atomic_load_n(&nexts[i], __ATOMIC_ACQUIRE);

	if (!next) {
		next = sim_loader_behind(names[i]);
		__atomic_store_n(&nexts[i], next, __ATOMIC_RELEASE);
	}
	return next;
}

__attribute__((constructor)) static void start(void)
{
	int i;

	for (i = 0; i < FUNCTIONS_NR; i++)
		next_of(i);
}

#define NEXT(name, ...)                                                                                                \
	({                                                                                                                 \
		__typeof__(sim_##name) *next_ = (__typeof__(sim_##name) *)next_of(AT_##name);                                  \
		next_ ? next_(__VA_ARGS__) : no_function();                                                                    \
	})

static int no_function(void)
{
	errno = ENOSYS;
	return -1;
}

/* The minor number of the device that a path is, NOT_ONE: none of ours. */
static int minor_of(const char *path)
{
	static const char begin[] = "/dev/nvidia";
	const char *devices, *rest;
	char *end;
	long n;

	if (!path || strncmp(path, begin, sizeof(begin) - 1) != 0)
		return NOT_ONE;
	rest = path + sizeof(begin) - 1;
	if (strcmp(rest, "ctl") == 0)
		return CONTROL;
	if (strcmp(rest, "-uvm") == 0)
		return 0;
	if (*rest < '0' || *rest > '9')
		return NOT_ONE;
	n = strtol(rest, &end, 10);
	devices = getenv("TARE_SIM_DEVICES");
	return !*end && n < (devices && *devices ? strtol(devices, NULL, 10) : 1) ? (int)n : NOT_ONE;
}

static int fill(int number, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFCHR | 0666;
	st->st_nlink = 1;
	st->st_blksize = 4096;
	st->st_rdev = makedev(MAJOR, (unsigned)number);
	return 0;
}

/* On 64-bit machines a stat is a stat64. */
#define STAT(name)                                                                                                     \
	OUT int sim_##name(const char *path, struct stat *st) __asm__(#name);                                              \
	int sim_##name(const char *path, struct stat *st)                                                                  \
	{                                                                                                                  \
		int number = minor_of(path);                                                                                   \
                                                                                                                       \
		return number != NOT_ONE ? fill(number, st) : NEXT(name, path, st);                                            \
	}
#define STAT_OF_OLD(name)                                                                                              \
	OUT int sim_##name(int version, const char *path, struct stat *st) __asm__(#name);                                 \
	int sim_##name(int version, const char *path, struct stat *st)                                                     \
	{                                                                                                                  \
		int number = minor_of(path);                                                                                   \
                                                                                                                       \
		return number != NOT_ONE ? fill(number, st) : NEXT(name, version, path, st);                                   \
	}
#define STAT_AT(name)                                                                                                  \
	OUT int sim_##name(int folder, const char *path, struct stat *st, int flags) __asm__(#name);                       \
	int sim_##name(int folder, const char *path, struct stat *st, int flags)                                           \
	{                                                                                                                  \
		int number = minor_of(path);                                                                                   \
                                                                                                                       \
		return number != NOT_ONE ? fill(number, st) : NEXT(name, folder, path, st, flags);                             \
	}

STAT(stat)
STAT(stat64)
STAT(lstat)
STAT(lstat64)
STAT_OF_OLD(__xstat)
STAT_OF_OLD(__xstat64)
STAT_OF_OLD(__lxstat)
STAT_OF_OLD(__lxstat64)
STAT_AT(fstatat)
STAT_AT(fstatat64)

OUT int sim_access(const char *path, int mode) __asm__("access");
int sim_access(const char *path, int mode)
{
	if (minor_of(path) == NOT_ONE)
		return NEXT(access, path, mode);
	if (!(mode & X_OK))
		return 0;
	errno = EACCES;
	return -1;
}
