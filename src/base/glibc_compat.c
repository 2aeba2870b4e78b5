/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions younger than glibc 2.27, as the system calls they are. They are hidden, so that they
 * win inside `tare` and nobody else sees them. glibc's headers rename stat to stat64 when
 * _FILE_OFFSET_BITS is 64; on 64-bit machines both are the same, and so both names are here.
 */
#include "base/glibc_compat.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Named by assembler name, so that the header's own renaming cannot interfere. */
#define COMPAT(RESULT, NAME, PARAMS)                                                                                   \
	HIDDEN RESULT tare_compat_##NAME PARAMS __asm__(#NAME);                                                            \
	RESULT tare_compat_##NAME PARAMS

static int at(int dir, const char *path, struct stat *st, int flags)
{
	return (int)syscall(SYS_newfstatat, dir, path, st, flags);
}

COMPAT(int, stat, (const char *path, struct stat *st))
{
	return at(AT_FDCWD, path, st, 0);
}

COMPAT(int, stat64, (const char *path, struct stat *st))
{
	return at(AT_FDCWD, path, st, 0);
}

COMPAT(int, lstat, (const char *path, struct stat *st))
{
	return at(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

COMPAT(int, lstat64, (const char *path, struct stat *st))
{
	return at(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

COMPAT(int, fstat, (int fd, struct stat *st))
{
	return (int)syscall(SYS_fstat, fd, st);
}

COMPAT(int, fstat64, (int fd, struct stat *st))
{
	return (int)syscall(SYS_fstat, fd, st);
}

COMPAT(int, fstatat, (int dir, const char *path, struct stat *st, int flags))
{
	return at(dir, path, st, flags);
}

COMPAT(int, fstatat64, (int dir, const char *path, struct stat *st, int flags))
{
	return at(dir, path, st, flags);
}

COMPAT(pid_t, gettid, (void))
{
	return (pid_t)syscall(SYS_gettid);
}

COMPAT(int, close_range, (unsigned int first, unsigned int last, int flags))
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

COMPAT(int, pidfd_open, (pid_t pid, unsigned int flags))
{
	return (int)syscall(SYS_pidfd_open, pid, flags);
}

COMPAT(int, pidfd_send_signal, (int pidfd, int sig, void *info, unsigned int flags))
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, info, flags);
}
