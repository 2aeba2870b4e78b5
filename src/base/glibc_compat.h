/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_GLIBC_COMPAT_H
#define TARE_BASE_GLIBC_COMPAT_H

/*
 * Included by force (-include) into everything that `make dist` ships, so that a build on a new
 * distribution runs on an old one, with glibc 2.27.
 *
 * A linker binds each function to the newest version that the build machine's glibc has: dlopen to
 * dlopen@GLIBC_2.34 on Debian 12. The `.symver` lines below ask for the version that glibc has had
 * from the beginning and still carries. Functions that are simply younger than 2.27 have a
 * replacement in glibc_compat.c. The third piece is the start code, start.c.
 *
 * A new function that needs a row shows up in tools/check-symbol-versions.sh. A row that a file does
 * not use leaves nothing behind in its object. musl has no versions: all of this is glibc's only.
 */
#include <features.h>

#ifdef __GLIBC__

/* From 2.38 on, strtol and sscanf become __isoc23_strtol and so on: the headers ask these. */
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0

#ifdef __x86_64__
#define TARE_OLD_GLIBC   "GLIBC_2.2.5"
#define TARE_OLD_OR(X86) X86
#else
#define TARE_OLD_GLIBC   "GLIBC_2.17"
#define TARE_OLD_OR(X86) TARE_OLD_GLIBC
#endif

#define TARE_OLD_AT(NAME, OLD, VERSION) __asm__(".symver " #NAME ", " #OLD "@" VERSION);
#define TARE_OLD(NAME)                  TARE_OLD_AT(NAME, NAME, TARE_OLD_GLIBC)

/* fcntl64 (2.28) differs from fcntl on 32-bit machines only. */
TARE_OLD_AT(fcntl64, fcntl, TARE_OLD_GLIBC)

/*
 * The recorder defines some of these names itself and must not import the others: dlsym and
 * pthread_* are in libraries of their own before 2.34, and it needs libc.so.6 only.
 */
#ifndef TARE_RECORDER
/* clang-format off */
TARE_OLD(__libc_start_main)

TARE_OLD(dladdr)   TARE_OLD(dlclose)   TARE_OLD(dlerror)   TARE_OLD(dlopen)   TARE_OLD(dlsym)
TARE_OLD(dlvsym)
TARE_OLD_AT(dladdr1, dladdr1, TARE_OLD_OR("GLIBC_2.3.3"))
TARE_OLD_AT(dlinfo, dlinfo, TARE_OLD_OR("GLIBC_2.3.3"))

TARE_OLD(pthread_attr_setstacksize)
TARE_OLD(pthread_create)      TARE_OLD(pthread_detach)      TARE_OLD(pthread_join)
TARE_OLD(pthread_getspecific) TARE_OLD(pthread_setspecific)
TARE_OLD(pthread_key_create)  TARE_OLD(pthread_key_delete)
TARE_OLD(pthread_kill)        TARE_OLD(pthread_once)        TARE_OLD(pthread_sigmask)
TARE_OLD(pthread_mutex_trylock)
TARE_OLD(pthread_mutexattr_destroy) TARE_OLD(pthread_mutexattr_init)
TARE_OLD(pthread_mutexattr_setpshared) TARE_OLD(pthread_mutexattr_settype)
TARE_OLD(pthread_rwlock_rdlock) TARE_OLD(pthread_rwlock_unlock) TARE_OLD(pthread_rwlock_wrlock)
TARE_OLD(sem_destroy) TARE_OLD(sem_init) TARE_OLD(sem_post) TARE_OLD(sem_wait)
TARE_OLD_AT(pthread_setname_np, pthread_setname_np, TARE_OLD_OR("GLIBC_2.12"))
TARE_OLD_AT(pthread_setaffinity_np, pthread_setaffinity_np, TARE_OLD_OR("GLIBC_2.3.4"))

TARE_OLD(exp) TARE_OLD(exp2) TARE_OLD(fmod) TARE_OLD(hypot) TARE_OLD(log) TARE_OLD(log2)
TARE_OLD(pow)
/* clang-format on */
#endif

#endif
#endif
