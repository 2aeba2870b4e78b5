/* SPDX-License-Identifier: Apache-2.0 */
/* Finds dlopen, dlsym and their kin as libc has them. */
#include "recorder/elf/libdl.h"

#include <dlfcn.h>

#include "recorder/elf/elfsym.h"
#include "recorder/recorder.h"

/*
 * What the stubs of resolve.c pass on to: the next dlsym behind us, which is libc's unless the program
 * preloads one of its own. Found before anything else, because dlsym may be called from constructors
 * that run before ours.
 */
void *(*tare_real_dlsym)(void *, const char *);
void *(*tare_real_dlvsym)(void *, const char *, const char *);

void *(*tare_libdl_dlsym)(void *, const char *);

/* libc has had the functions of libdl since 2.34; before, libdl has them if it is loaded. */
/* A function of libc (or libdl of old) that the recorder exports itself: the next one. */
static void *resolve_libc(const char *name)
{
	struct tare_elf_object object;
	void *found = NULL;

	if (tare_elf_find_object("libc.so", &object))
		found = tare_elf_symbol(&object, name, NULL);
	if (!found && tare_elf_find_object("libdl.so", &object))
		found = tare_elf_symbol(&object, name, NULL);
	return found;
}

bool tare_libdl_find(void)
{
	void *next;

	if (likely(tare_real_dlsym))
		return true;
	tare_libdl_dlsym = (void *(*)(void *, const char *))resolve_libc("dlsym");
	if (!tare_libdl_dlsym)
		return false;
	next = tare_libdl_dlsym(RTLD_NEXT, "dlvsym");
	tare_real_dlvsym = (void *(*)(void *, const char *, const char *))(next ? next : resolve_libc("dlvsym"));
	next = tare_libdl_dlsym(RTLD_NEXT, "dlsym");
	tare_real_dlsym = next ? (void *(*)(void *, const char *))next : tare_libdl_dlsym;
	return true;
}

/* From here: the global scope behind us. */
void *tare_resolve_next(const char *name)
{
	void *found = resolve_libc(name), *next = NULL;

	if (found && tare_libdl_find()) /* what is not there would be dlerror()'s for the program to see */
		next = tare_libdl_dlsym(RTLD_NEXT, name);
	return next ? next : found;
}

void *tare_resolve_dlopen(const char *path, int flags)
{
	void *(*real)(const char *, int) = (void *(*)(const char *, int))resolve_libc("dlopen");

	/* A program of old that never loaded libdl: libc has its own way in. */
	if (!real)
		real = (void *(*)(const char *, int))resolve_libc("__libc_dlopen_mode");
	return real ? real(path, flags) : NULL;
}

void *tare_resolve_dlsym(void *handle, const char *name)
{
	if (tare_libdl_find())
		return tare_libdl_dlsym(handle, name);
	return NULL;
}
