/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the program names and that may not be there: where the kernel would say EFAULT, nothing
 * of ours may fault. Costs a system call for each page, the first time it is asked for.
 */
#ifndef TARE_RECORDER_BASE_PROGRAM_MEMORY_H
#define TARE_RECORDER_BASE_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/base/sys.h"

struct tare_program_memory {
	uintptr_t page; /* asked for last, plus 1 */
	bool is_there;
};

static inline bool tare_program_can_read(struct tare_program_memory *memory, const void *at)
{
	uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095;

	if (memory->page != page + 1) {
		memory->page = page + 1;
		memory->is_there = tare_sys_is_readable(page);
	}
	return memory->is_there;
}

/* Whether all bytes of an object are there that may lie across two pages. */
static inline bool tare_program_can_read_all(struct tare_program_memory *memory, const void *at, size_t size)
{
	return tare_program_can_read(memory, at) && tare_program_can_read(memory, (const char *)at + size - 1);
}

/* The length of a text, at most `max`; `max` also where it goes beyond what is there. */
static inline size_t tare_program_length(struct tare_program_memory *memory, const char *text, size_t max)
{
	size_t n;

	for (n = 0; n < max; n++)
		if (!tare_program_can_read(memory, text + n))
			return max;
		else if (!text[n])
			break;
	return n;
}

/* Just behind `prefix` and '=', where `line` begins so; else NULL. */
static inline const char *tare_program_value(struct tare_program_memory *memory, const char *line, const char *name)
{
	for (;; line++, name++) {
		if (!tare_program_can_read(memory, line))
			return NULL;
		if (!*name)
			return *line == '=' ? line + 1 : NULL;
		if (*line != *name)
			return NULL;
	}
}

#endif
