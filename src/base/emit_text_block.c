/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between tables on a screen. */
#include "base/emit_table.h"

#include "base/text.h"

#include <string.h>

void tare_text_add_wrapped(struct tare_emit *e, struct tare_str *out, const char *line)
{
	size_t indent = strspn(line, " ");

	if (!e->style.is_screen || tare_str_columns(line) <= (size_t)e->style.width) {
		tare_str_add(out, line);
		return;
	}
	tare_str_add_repeat(out, " ", indent);
	tare_str_add_wrapped(out, line + indent, indent, indent + 2, (size_t)e->style.width);
}

void tare_text_toned(struct tare_emit *e, const char *text, enum tare_text_tone tone)
{
	struct tare_str name = { 0 }, line = { 0 };

	tare_text_add_name(&name, text);
	tare_text_add_wrapped(e, &line, tare_str_text(&name));
	tare_text_tone(e->out, tare_str_text(&line), tone, &e->style);
	tare_str_free(&line);
	tare_str_add_char(e->out, '\n');
	tare_str_free(&name);
}

/* Sentences are read line by line, so on a wide screen they stay narrower than tables. */
static size_t prose_width(const struct tare_emit *e)
{
	return e->style.width < TARE_TEXT_PROSE ? (size_t)e->style.width : TARE_TEXT_PROSE;
}

/* The first line begins at a column where something may stand already. */
static void add_wrapped(struct tare_emit *e, const struct tare_emit_block *block, const char *mark, size_t others,
                        enum tare_text_tone tone)
{
	struct tare_str name = { 0 }, line = { 0 };

	tare_text_add_name(&name, block->text);
	tare_str_add_repeat(&line, " ", block->first);
	tare_str_add(&line, mark);
	tare_str_add_wrapped(&line, tare_str_text(&name), block->first + strlen(mark), others, prose_width(e));
	tare_text_tone(e->out, tare_str_text(&line), tone, &e->style);
	tare_str_add_char(e->out, '\n');
	tare_str_free(&line);
	tare_str_free(&name);
}

static void add_term(struct tare_emit *e, const struct tare_emit_block *block)
{
	struct tare_str name = { 0 };

	tare_text_tone(e->out, block->head, block->tone, &e->style);
	tare_text_add_name(&name, block->text);
	tare_str_add_wrapped(e->out, tare_str_text(&name), block->others, block->others, prose_width(e));
	tare_str_add_char(e->out, '\n');
	tare_str_free(&name);
}

void tare_text_block(struct tare_emit *e, const struct tare_emit_block *block)
{
	switch (block->kind) {
	case TARE_BLOCK_TITLE:
	case TARE_BLOCK_HEADING:
		tare_text_toned(e, block->text, TARE_TONE_STRONG);
		break;
	case TARE_BLOCK_PARAGRAPH:
		add_wrapped(e, block, "", block->others, TARE_TONE_PLAIN);
		break;
	case TARE_BLOCK_TERM:
		add_term(e, block);
		break;
	case TARE_BLOCK_ITEM:
		add_wrapped(e, block, "- ", 2, TARE_TONE_PLAIN);
		break;
	case TARE_BLOCK_ALARM:
		add_wrapped(e, block, "! ", 2, TARE_TONE_ALARM);
		break;
	case TARE_BLOCK_NOTE:
		tare_text_toned(e, block->text, TARE_TONE_PLAIN);
		break;
	case TARE_BLOCK_GAP:
		tare_str_add_char(e->out, '\n');
		break;
	case TARE_BLOCK_PAGE:
	case TARE_BLOCK_NONE:
		break;
	}
}
