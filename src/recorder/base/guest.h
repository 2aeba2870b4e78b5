/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the program names and that may not be there: where the kernel would say EFAULT, nothing
 * of ours may fault. Costs a system call for each page, the first time it is asked for.
 */
#ifndef TARE_RECORDER_BASE_GUEST_H
#define TARE_RECORDER_BASE_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/base/sys.h"

struct tare_guest {
	uintptr_t page; /* asked for last, plus 1 */
	bool is_there;
};

static inline bool tare_guest_can_read(struct tare_guest *guest, const void *at)
{
	uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095;

	if (guest->page != page + 1) {
		guest->page = page + 1;
		guest->is_there = tare_sys_is_readable(page);
	}
	return guest->is_there;
}

/* Whether all bytes of an object are there that may lie across two pages. */
static inline bool tare_guest_can_read_all(struct tare_guest *guest, const void *at, size_t size)
{
	return tare_guest_can_read(guest, at) &&
	       tare_guest_can_read(guest, (const char *)at + size - 1);
}

/* The length of a text, at most `max`; `max` also where it goes beyond what is there. */
static inline size_t tare_guest_length(struct tare_guest *guest, const char *text, size_t max)
{
	size_t n;

	for (n = 0; n < max; n++)
		if (!tare_guest_can_read(guest, text + n))
			return max;
		else if (!text[n])
			break;
	return n;
}

/* Just behind `prefix` and '=', where `line` begins so; else NULL. */
static inline const char *tare_guest_value(struct tare_guest *guest, const char *line,
					   const char *name)
{
	for (;; line++, name++) {
		if (!tare_guest_can_read(guest, line))
			return NULL;
		if (!*name)
			return *line == '=' ? line + 1 : NULL;
		if (*line != *name)
			return NULL;
	}
}

#endif
