/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of source code and inlined functions of native code, from the debug information (DWARF) of files on this machine.
 * Nothing is fetched. A process of its own reads it, so that no file can harm the report (helper.h).
 */
#ifndef TARE_DWARF_DWARF_H
#define TARE_DWARF_DWARF_H

#include <stddef.h>
#include <stdint.h>

struct tare_dwarf_frame {
	const char *function; /* as linkers know it, or plain; NULL: not known */
	const char *file;     /* NULL: not known */
	uint32_t line;        /* 0: not known */
};

/*
 * The frames at an address of the file at `path`, functions that were inlined first; their number, 0: nothing is known.
 * Only of a file that has this build id, whose first 16 bytes these are. What is found is good until tare_dwarf_close().
 * For one thread at a time.
 */
size_t tare_dwarf_find(const char *path, const uint64_t build_id[2], uint64_t address,
                       const struct tare_dwarf_frame **out);

/* Sentences on files of which nothing could be told, one for each reason; their number. A file that was stripped has none. */
size_t tare_dwarf_failures(const char *const **out);

/* Forgets all. It need not be called. */
void tare_dwarf_close(void);

#endif
