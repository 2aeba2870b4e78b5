/* SPDX-License-Identifier: Apache-2.0 */
/* The values that wait on the stack of a pickle, and errors with their byte. */
#include "snapshot/pickle.h"

#include "base/array.h"

#include <stdarg.h>
#include <stdio.h>

int tare_pickle_fail(struct tare_snapshot *s, int code, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return tare_err_set(s->err, code, "byte %llu: %s", (unsigned long long)s->op_at, text);
}

/* Where the stack has no room, or is full. */
int tare_pickle_push_more(struct tare_snapshot *s, struct tare_pickle_value value)
{
	if (s->stack_count >= TARE_PICKLE_VALUES)
		return tare_pickle_fail(s, TARE_E_LIMIT, "more than %u values wait for their place", TARE_PICKLE_VALUES);
	if (s->stack_count == s->stack_cap)
		TARE_APPEND(s->stack, s->stack_count, s->stack_cap) = value;
	return 0;
}

int tare_pickle_too_short(struct tare_snapshot *s)
{
	if (s->in.failure)
		return tare_err_set_errno(s->err, s->in.failure, "byte %llu: reading failed",
		                          (unsigned long long)tare_input_offset(&s->in));
	return tare_pickle_fail(s, TARE_E_TRUNCATED,
	                        "the file ends in the middle of this; was it cut off when it was copied?");
}
