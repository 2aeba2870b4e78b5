/* SPDX-License-Identifier: Apache-2.0 */
/* Reads debug information: by libbacktrace (reader.c), or not at all where that is not there (reader_none.c). */
#ifndef TARE_DWARF_READER_H
#define TARE_DWARF_READER_H

#include "dwarf/dwarf.h"

#include <stdbool.h>

extern const bool tare_dwarf_can_read;

/* Of one file. It is never freed: the process that calls this ends soon (helper.h). NULL: nothing can be read. */
struct tare_dwarf_reader;
struct tare_dwarf_reader *tare_dwarf_reader_open(const char *path);

/* Calls `found` for each frame at that address, functions that were inlined first. */
void tare_dwarf_reader_find(struct tare_dwarf_reader *reader, uint64_t address,
                            void (*found)(void *arg, const struct tare_dwarf_frame *frame), void *arg);

#endif
