/* SPDX-License-Identifier: Apache-2.0 */
/* Lends a piece of memory for a moment, so that it need not lie on the stack. */
#include "recorder/base/scratch.h"

#include <stdbool.h>
#include <string.h>

#include "recorder/base/parts.h"
#include "recorder/base/sys.h"

/* What a signal handler left by longjmp does not come back; then there is a mapping. */
enum { PIECES = 8, PIECE = 10 << 10 };

static char pieces[PIECES][PIECE] __attribute__((aligned(16)));
static bool is_taken[PIECES];

void *tare_scratch_take(size_t size)
{
	for (int i = 0; i < PIECES && size <= PIECE; i++)
		if (!__atomic_exchange_n(&is_taken[i], true, __ATOMIC_ACQUIRE)) {
			memset(pieces[i], 0, size);
			return pieces[i];
		}
	return tare_sys_mmap_briefly(size);
}

void tare_scratch_give(void *at, size_t size)
{
	size_t piece = ((uintptr_t)at - (uintptr_t)pieces) / PIECE; /* huge if at is below them */

	if (!at)
		return;
	if (piece < PIECES)
		__atomic_store_n(&is_taken[piece], false, __ATOMIC_RELEASE);
	else
		tare_sys_munmap(at, size);
}

/* What other threads had is free. */
void tare_scratch_forked(void)
{
	memset(is_taken, 0, sizeof(is_taken));
}
