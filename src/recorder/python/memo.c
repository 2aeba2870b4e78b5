/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/python/memo.h"

#include <stddef.h>

#include "recorder/recorder.h"

/*
 * Not thread-local, for that would be taken from the stack of every thread of the program. A thread
 * is known by where its thread-local variables are: another can only be there when it has ended.
 */
enum { MEMOS = 128 };
static struct tare_python_memo memos[MEMOS];

TARE_COLD static struct tare_python_memo *claim(void)
{
	size_t i;

	for (i = 0; i < MEMOS; i++) {
		const void *owner = __atomic_load_n(&memos[i].owner, __ATOMIC_RELAXED);

		if (owner == &tare_thread ||
		    (!owner &&
		     __atomic_compare_exchange_n(&memos[i].owner, &owner, &tare_thread, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED)))
			return &memos[i];
	}
	tare_thread.has_no_memo = true;
	return NULL;
}

TARE_HOT struct tare_python_memo *tare_python_memo(void)
{
	if (unlikely(!tare_thread.memo) && !tare_thread.has_no_memo)
		tare_thread.memo = claim();
	return tare_thread.memo;
}
