/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of libc that the recorder cannot do without, read from the symbol table of libc itself:
 * a program that has one of the same name, and looks for libc's by dlsym, is not called by us.
 */
#ifndef TARE_RECORDER_ELF_LIBC_H
#define TARE_RECORDER_ELF_LIBC_H

#include <stddef.h>

struct dl_phdr_info;

/* X(name, in libc, result, parameters) */
#define TARE_LIBC_MAP(X)                                                                                               \
	X(errno_location, "__errno_location", int *, (void))                                                               \
	X(iterate_objects, "dl_iterate_phdr", int, (int (*each)(struct dl_phdr_info *, size_t, void *), void *))           \
	X(auxiliary, "getauxval", unsigned long, (unsigned long))                                                          \
	X(on_exit, "on_exit", int, (void (*)(int, void *), void *))                                                        \
	X(thread_self, "pthread_self", unsigned long, (void))                                                              \
	X(register_atfork, "__register_atfork", int, (void (*)(void), void (*)(void), void (*)(void), void *))

struct tare_libc {
#define X(field, name, result, params) result(*field) params;
	TARE_LIBC_MAP(X)
#undef X
};

/* Every function is there: of a libc that was not found, one that answers 0. */
const struct tare_libc *tare_libc(void);
int *tare_libc_errno(void);

#endif
