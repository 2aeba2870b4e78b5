/* SPDX-License-Identifier: Apache-2.0 */
/* The dynamic linker's functions as libc has them. The recorder's own dlsym and dlvsym are in resolve.c. */
#ifndef TARE_RECORDER_ELF_LIBDL_H
#define TARE_RECORDER_ELF_LIBDL_H

#include <stdbool.h>

/* Finds what stands below; false: there is no dlsym. */
bool tare_libdl_find(void);
extern void *(*tare_libdl_dlsym)(void *, const char *);
extern __attribute__((visibility("hidden"))) void *(*tare_real_dlsym)(void *, const char *);
extern __attribute__((visibility("hidden"))) void *(*tare_real_dlvsym)(void *, const char *, const char *);

void *tare_resolve_dlopen(const char *path, int flags); /* libc's; NULL if this libc has none */
void *tare_resolve_dlsym(void *handle, const char *name);

/* A function of libc (or libdl of old) that the recorder exports itself: the next one, and where the program preloads one of its own, that; to be found at the start. */
void *tare_resolve_next(const char *name);

#endif
