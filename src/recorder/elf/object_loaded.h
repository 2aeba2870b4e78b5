/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_OBJECT_LOADED_H
#define TARE_RECORDER_OBJECT_LOADED_H

#include "recorder/elf/objects.h"

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
