/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dynamic linker's functions, of which the recorder owns dlsym and dlvsym: by them, and by the
 * driver's own cuGetProcAddress, programs reach the driver.
 */
#ifndef TARE_RECORDER_RESOLVE_H
#define TARE_RECORDER_RESOLVE_H

void *tare_resolve_dlopen(const char *path, int flags); /* libc's; NULL if this libc has none */
void *tare_resolve_dlsym(void *handle, const char *name);

/* A function of libc (or libdl of old) that the recorder exports itself: the next one. */
void *tare_resolve_libc(const char *name);
/* The same, and where the program preloads one of its own, that; to be found at the start. */
void *tare_resolve_next(const char *name);

#endif
