/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointers that the program hands to the driver, and that a hook looks through as well. Whether they
 * point anywhere is between those two: NULL may be legal, and a bad address may be refused before the
 * driver looks at it. So a hook never writes `*pointer` itself (tools/check-hook-pointers.py):
 *
 *     TARE_ANSWER(result, out)           what the driver wrote, once it has said that it did
 *     tare_peek(&copy, in, sizeof(copy)) what the program wrote: the kernel is asked whether it can be read
 */
#ifndef TARE_RECORDER_BASE_PEEK_H
#define TARE_RECORDER_BASE_PEEK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "recorder/base/sys.h"

/* 0 where the driver did not say success, and where the program did not want the answer. */
#define TARE_ANSWER(result, out) ((result) == 0 && (out) ? *(out) : (__typeof__(*(out)))0)

/* Can all of it be read now? Costs a system call (0.1 us) per page. */
static inline bool tare_peek_may(const void *from, size_t size)
{
	uintptr_t at = (uintptr_t)from, page;

	if (!at || at + size < at)
		return false;
	for (page = at & ~(uintptr_t)4095; page < at + size; page += 4096)
		if (!tare_sys_is_readable(page))
			return false;
	return true;
}

/* Zeros, and false, where it cannot. */
static inline bool tare_peek(void *to, const void *from, size_t size)
{
	bool may = tare_peek_may(from, size);

	if (may)
		memcpy(to, from, size);
	else
		memset(to, 0, size);
	return may;
}

#endif
