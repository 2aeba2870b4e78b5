/* SPDX-License-Identifier: Apache-2.0 */
/* Which frames only pass a call on, by where they are and what they are called. */
#include "view/passing_frame.h"

#include <string.h>

/* A frame is one of these if it has `place` in it, and, unless that is NULL, ends with `function`. */
static const struct {
	const char *place, *function;
} passing[] = {
	{ "<frozen importlib", NULL },
	{ "<frozen runpy>", NULL },
	{ "/importlib/", NULL },
	{ "/runpy.py:", NULL },
	{ "/contextlib.py:", NULL },
	{ "/torch/utils/_contextlib.py:", NULL },
	{ "-packages/", " in _call_impl" },
	{ "-packages/", " in _wrapped_call_impl" },
	{ "-packages/", " in decorate_context" },
	{ "-packages/", " in wrapper" },
	{ "-packages/", " in wrapped" },
	{ "-packages/", " in inner" },
	{ "-packages/", " in _use_grad" },
	{ "-packages/", " in __call__" },
	{ "", " in libtare_recorder.so" },
	{ "", " in libtare_recorder_host.so" },
};

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(text + len - n, end, n);
}

bool tare_frame_passes_on(const char *frame, size_t len)
{
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (memmem(frame, len, passing[i].place, strlen(passing[i].place)) &&
		    (!passing[i].function || ends_with(frame, len, passing[i].function)))
			return true;
	return false;
}
