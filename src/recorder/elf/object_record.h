/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_ELF_OBJECT_RECORD_H
#define TARE_RECORDER_ELF_OBJECT_RECORD_H

#include "recorder/elf/objects.h"

/*
 * Objects as they were when first seen at their addresses: copies that are never changed and never
 * freed. A library that is unloaded and loaded again at the same place finds its record again. Call
 * under the dynamic linker's lock only.
 */

/* NULL for an object without memory, and when there is no more room. */
const struct tare_elf_object *tare_object_record(const struct dl_phdr_info *info, bool is_main);

/* Zeroed memory that is never given back, 16-aligned; NULL past 16 MiB in all. */
void *tare_object_room(size_t size);

/* What the headers say of an object, without a path. False: it has no memory. */
bool tare_object_describe(const struct dl_phdr_info *info, struct tare_elf_object *obj);

/* object_loaded.c */
enum tare_object_answer {
	TARE_OBJECT_NOT_KNOWN, /* this glibc has no _dl_find_object(), or the object has no headers to read */
	TARE_OBJECT_NONE,
	TARE_OBJECT_THERE,
};

/*
 * The object that holds `addr`, without a lock, from any thread and any signal handler. Its path is the linker's, empty
 * for the program itself.
 */
enum tare_object_answer tare_object_loaded(uintptr_t addr, struct tare_elf_object *out);

/* Finds the function; until then nothing is known. */
void tare_object_loaded_start(void);

#endif
