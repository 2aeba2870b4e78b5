/* SPDX-License-Identifier: Apache-2.0 */
/* Where libbacktrace is not there, functions are known by their symbols only. */
#include "dwarf/reader.h"

const bool tare_dwarf_can_read = false;

struct tare_dwarf_reader *tare_dwarf_reader_open(const char *path)
{
	(void)path;
	return NULL;
}

void tare_dwarf_reader_find(struct tare_dwarf_reader *reader, uint64_t address,
                            void (*found)(void *arg, const struct tare_dwarf_frame *frame), void *arg)
{
	(void)reader;
	(void)address;
	(void)found;
	(void)arg;
}
