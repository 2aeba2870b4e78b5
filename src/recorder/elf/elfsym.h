/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of loaded objects, read from their tables instead of asked from dlsym: that name is ours
 * in the user's process, and its symbol version moved in glibc 2.34. An object passed in must stay
 * loaded meanwhile.
 */
#ifndef TARE_RECORDER_ELFSYM_H
#define TARE_RECORDER_ELFSYM_H

#include "recorder/elf/objects.h"

/* The first object in load order whose file name (without folder) starts with `prefix`. */
bool tare_elf_find_object(const char *prefix, struct tare_elf_object *out);

/*
 * Address of a defined symbol. With a version, that one (any, in an object without versions); with
 * NULL the default one, and failing that any. An indirect function is resolved. NULL when there is
 * none, and for thread-local symbols.
 */
void *tare_elf_symbol(const struct tare_elf_object *obj, const char *name, const char *version);

/* Its entry in the table of symbols; NULL: there is none. */
const ElfW(Sym) * tare_elf_entry(const struct tare_elf_object *obj, const char *name);

/* Where the code of an exported function lies. False: there is none. */
bool tare_elf_function(const struct tare_elf_object *obj, const char *name, struct tare_code *out);

/* Of any loaded object, in load order, but not `except`. NULL: none of the first thousand has it. */
void *tare_elf_find_symbol(const char *name, const void *except);

/* … of those loaded after the object that holds `own`; *in is the one that has it. */
void *tare_elf_find_behind(const void *own, const char *name, struct tare_elf_object *in);

/* Is `soname` among the libraries the object names as needed? */
bool tare_elf_needs(const struct tare_elf_object *obj, const char *soname);
/* The same of the object that holds `caller`. */
bool tare_elf_is_linked(uintptr_t caller, const char *soname);

#endif
