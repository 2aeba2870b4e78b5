/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between tables on a screen. */
#include "base/emit_table.h"

#include "base/text.h"

#include <string.h>

enum { GAP = 2 }; /* between a title and the unit behind it, and in front of what goes on */

void tare_text_add_wrapped(struct tare_emit *e, struct tare_str *out, const char *line)
{
	size_t indent = strspn(line, " ");

	if (tare_str_columns(line) <= (size_t)e->style.width) {
		tare_str_add(out, line);
		return;
	}
	tare_str_add_repeat(out, " ", indent);
	tare_str_add_wrapped(out, line + indent, indent, indent + 2, (size_t)e->style.width);
}

/* How much of a title stands on a line of so many columns: the parts that fit whole, " · " is between them. */
static size_t title_part(const char *title, size_t columns)
{
	static const char dot[] = " · ";
	size_t used = 0, fits = 0;

	if (tare_str_columns(title) <= columns)
		return strlen(title);
	for (const char *p = title; *p && used <= columns; p++) {
		if (!strncmp(p, dot, sizeof(dot) - 1))
			fits = (size_t)(p - title);
		used += ((unsigned char)*p & 0xc0) != 0x80;
	}
	return fits ? fits : strlen(title);
}

void tare_text_add_title(struct tare_emit *e, struct tare_str *out, const char *title, const char *unit, size_t total)
{
	size_t limit = (size_t)e->style.width, unit_columns = *unit ? strlen(unit) + GAP : 0;
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 }, line = { 0 };
	const char *rest;

	tare_text_add_name(&name, title);
	for (rest = tare_str_text(&name); *rest;) {
		size_t len = title_part(rest, limit - unit_columns - line.len), columns;

		tare_str_add_n(&line, rest, len);
		rest += len;
		columns = tare_str_columns(tare_str_text(&line)) + unit_columns;
		if (!*rest && *unit) {
			tare_str_add_repeat(&line, " ", GAP + (columns < total ? total - columns : 0));
			tare_str_add(&line, unit);
		}
		if (columns <= limit) /* though the unit may stand further out, where the table is wider */
			tare_str_add(out, tare_str_text(&line));
		else
			tare_text_add_wrapped(e, out, tare_str_text(&line));
		if (*rest)
			tare_str_add_char(out, '\n');
		tare_str_cut(&line, 0);
		tare_str_add_repeat(&line, " ", GAP);
		rest += strspn(rest, " ");
	}
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
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 }, line = { 0 };

	tare_text_add_name(&name, block->text);
	tare_str_add_repeat(&line, " ", block->first);
	tare_str_add(&line, mark);
	tare_str_add_wrapped(&line, tare_str_text(&name), block->first + strlen(mark), others, prose_width(e));
	tare_text_tone(e->out, tare_str_text(&line), tone, &e->style);
	tare_str_add_char(e->out, '\n');
}

static void add_term(struct tare_emit *e, const struct tare_emit_block *block)
{
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

	tare_text_tone(e->out, block->head, block->tone, &e->style);
	tare_text_add_name(&name, block->text);
	tare_str_add_wrapped(e->out, tare_str_text(&name), block->others, block->others, prose_width(e));
	tare_str_add_char(e->out, '\n');
}

/* A law, a command, a path: whole where no screen ends, for who takes it from there by a program. */
static void add_note(struct tare_emit *e, const char *text)
{
	if (e->style.is_screen) {
		tare_text_toned(e, text, TARE_TONE_PLAIN);
		return;
	}
	tare_text_add_name(e->out, text);
	tare_str_add_char(e->out, '\n');
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
		add_note(e, block->text);
		break;
	case TARE_BLOCK_GAP:
		tare_str_add_char(e->out, '\n');
		break;
	case TARE_BLOCK_PAGE:
	case TARE_BLOCK_NONE:
		break;
	}
}
