/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_DWARF_OBJECT_H
#define TARE_DWARF_OBJECT_H

#include <stdint.h>

enum tare_dwarf_object {
	TARE_DWARF_HAS_LINES,
	TARE_DWARF_NO_LINES,   /* stripped, and there is no file beside it */
	TARE_DWARF_IS_GONE,    /* the file, or it cannot be read */
	TARE_DWARF_IS_ANOTHER, /* its build id is not the one that was recorded */
	TARE_DWARF_IS_PACKED,  /* in a way that nobody here can read */
};

/*
 * Looks whether the file at `path` is the one with this build id, and has debug information: in itself, under its build
 * id in /usr/lib/debug, or in the file that .gnu_debuglink names, where it lies on this machine.
 */
enum tare_dwarf_object tare_dwarf_object_look(const char *path, const uint64_t build_id[2]);

#endif
