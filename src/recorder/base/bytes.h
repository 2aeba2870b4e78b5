/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by force into all of the recorder. Programs and tools put functions of their own before
 * libc's (sanitizers, allocators, tracers), and look for the real ones by dlsym, which is ours: so
 * nothing here may call libc's by name. Strings and memory are the compiler's where it knows the size
 * and those of bytes.c, hidden in the library, where it does not; errno and the rest is asked of
 * libc itself (elf/libc.h).
 */
#ifndef TARE_RECORDER_BYTES_H
#define TARE_RECORDER_BYTES_H

#include <errno.h>
#include <string.h>

int *tare_libc_errno(void); /* elf/libc.c */
#undef errno
#define errno (*tare_libc_errno())

#define memcmp(a, b, size)      __builtin_memcmp(a, b, size)
#define memcpy(to, from, size)  __builtin_memcpy(to, from, size)
#define memmove(to, from, size) __builtin_memmove(to, from, size)
#define memset(to, byte, size)  __builtin_memset(to, byte, size)
#define strlen(text)            __builtin_strlen(text)

#endif
