/* SPDX-License-Identifier: Apache-2.0 */
/* A frame as a text, taken apart into what other programs have fields for. */
#include "export/frame.h"

#include "base/array.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Where the last " in " behind a line's number begins; NULL: it is no line of a file. */
static const char *find_in(const char *text)
{
	const char *found = NULL;

	for (const char *at = strstr(text, " in "); at; at = strstr(at + 1, " in "))
		if (at > text && at[-1] >= '0' && at[-1] <= '9')
			found = at;
	return found;
}

/* "step+0x4f in solver": what is in front of the plus is the function. */
static void take_module(struct tare_export_stacks *s, struct tare_export_frame *f)
{
	const char *plus = strstr(f->text, "+0x"), *in = plus ? strstr(plus, " in ") : NULL;

	if (!in || plus == f->text)
		return;
	f->function = tare_arena_strndup(&s->arena, f->text, (size_t)(plus - f->text));
	f->module = in + strlen(" in ");
}

/* "FILE:LINE in FUNCTION" */
static void take_apart(struct tare_export_stacks *s, struct tare_export_frame *f)
{
	const char *in = find_in(f->text), *colon = in;
	unsigned long line;

	while (in && colon > f->text && colon[-1] >= '0' && colon[-1] <= '9')
		colon--;
	if (!in || colon - f->text < 2 || colon[-1] != ':') {
		take_module(s, f);
		return;
	}
	line = strtoul(colon, NULL, 10);
	if (line > INT32_MAX)
		return;
	f->line = (uint32_t)line;
	f->file = tare_arena_strndup(&s->arena, f->text, (size_t)(colon - 1 - f->text));
	f->function = in + strlen(" in ");
}

uint32_t tare_export_frame(struct tare_export_stacks *s, const char *text, size_t len, bool is_row)
{
	char *raw = tare_xstrndup(text, len);
	struct tare_str clean = { 0 };
	uint64_t *number;
	bool is_new;

	tare_str_add_char(&clean, is_row ? 'r' : 'f');
	tare_text_add_name(&clean, raw);
	free(raw);
	number = tare_strmap_put(&s->numbers, tare_str_text(&clean), &is_new);
	if (is_new) {
		struct tare_export_frame *f;

		f = TARE_ADD(s->frames, s->frame_nr, s->frame_cap, (struct tare_export_frame){ .is_row = is_row });
		f->text = tare_arena_strdup(&s->arena, tare_str_text(&clean) + 1);
		f->function = f->text;
		f->file = f->module = "";
		if (!is_row)
			take_apart(s, f);
		*number = s->frame_nr - 1;
	}
	tare_str_free(&clean);
	return (uint32_t)*number;
}
