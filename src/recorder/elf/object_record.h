/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects as they were when first seen at their addresses: copies that are never changed and never
 * freed. A library that is unloaded and loaded again at the same place finds its record again. Call
 * under the dynamic linker's lock only.
 */
#ifndef TARE_RECORDER_OBJECT_RECORD_H
#define TARE_RECORDER_OBJECT_RECORD_H

#include "recorder/elf/objects.h"

/* NULL for an object without memory, and when there is no more room. */
const struct tare_elf_object *tare_object_record(const struct dl_phdr_info *info, bool is_main);

/* Zeroed memory that is never given back, 16-aligned; NULL past 16 MiB in all. */
void *tare_object_room(size_t size);

/* What the headers say of an object, without a path. False: it has no memory. */
bool tare_object_describe(const struct dl_phdr_info *info, struct tare_elf_object *obj);

#endif
