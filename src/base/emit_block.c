/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between tables for people: headings, paragraphs, lists, notes. */
#include "base/emit_table.h"

#include <stdarg.h>

static void add(struct tare_emit *e, const struct tare_emit_block *block)
{
	const struct tare_renderer *renderer = tare_emit_renderer(e);

	if (renderer->block)
		renderer->block(e, block);
}

#define BLOCK(NAME, KIND)                                                                                              \
	void tare_emit_##NAME(struct tare_emit *e, const char *fmt, ...)                                                   \
	{                                                                                                                  \
		struct tare_str text = { 0 };                                                                                  \
		va_list ap;                                                                                                    \
                                                                                                                       \
		if (!tare_emit_is_for_people(e))                                                                               \
			return;                                                                                                    \
		va_start(ap, fmt);                                                                                             \
		tare_str_vaddf(&text, fmt, ap);                                                                                \
		va_end(ap);                                                                                                    \
		add(e, &(struct tare_emit_block){ TARE_BLOCK_##KIND, tare_str_text(&text), 0, 0, NULL, 0 });                   \
		tare_str_free(&text);                                                                                          \
	}
BLOCK(page, PAGE)
BLOCK(title, TITLE)
BLOCK(heading, HEADING)
BLOCK(paragraph, PARAGRAPH)
BLOCK(item, ITEM)
BLOCK(alarm, ALARM)
BLOCK(note, NOTE)

void tare_emit_indented(struct tare_emit *e, size_t first, size_t others, const char *text)
{
	add(e, &(struct tare_emit_block){ TARE_BLOCK_PARAGRAPH, text, first, others, NULL, 0 });
}

void tare_emit_term(struct tare_emit *e, enum tare_text_tone tone, const char *head, const char *text)
{
	add(e, &(struct tare_emit_block){ TARE_BLOCK_TERM, text, 0, tare_str_columns(head), head, tone });
}

void tare_emit_gap(struct tare_emit *e)
{
	add(e, &(struct tare_emit_block){ TARE_BLOCK_GAP, "", 0, 0, NULL, 0 });
}
