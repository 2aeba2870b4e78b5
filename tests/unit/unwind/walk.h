/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TESTS_UNWIND_WALK_H
#define TARE_TESTS_UNWIND_WALK_H

#include <stdint.h>
#include <unwind.h>

enum { DEPTH = 512 };

struct walk {
	uintptr_t pc[DEPTH];
	int count;
};

/* For _Unwind_Backtrace(): what the compiler's runtime finds. */
static inline _Unwind_Reason_Code walk_note(struct _Unwind_Context *context, void *arg)
{
	struct walk *w = arg;

	if (w->count == DEPTH)
		return _URC_END_OF_STACK;
	w->pc[w->count++] = (uintptr_t)_Unwind_GetIP(context);
	return _URC_NO_REASON;
}

#endif
