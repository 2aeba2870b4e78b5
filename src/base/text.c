/* SPDX-License-Identifier: Apache-2.0 */
/* Makes text from outside fit for a screen, for CSV, for markup and for Markdown. */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* What Tare itself writes outside ASCII, and the one column that stands for it. */
static const struct {
	const char *utf8;
	char ascii;
} plain[] = { { "–", '-' }, { "─", '-' }, { "·", '|' }, { "…", '~' }, { "×", 'x' }, { "▁", '_' }, { "▂", '.' },
	          { "▃", '-' }, { "▄", '=' }, { "▅", '+' }, { "▆", 'x' }, { "▇", '%' }, { "█", '#' } };

/* First and last of what is not plain: it steers, has no width, or changes the direction of what follows. */
static const struct {
	uint32_t from, to;
} not_plain[] = {
	{ 0, 0x1f },          { 0x7f, 0x9f },     { 0xad, 0xad },       { 0x34f, 0x34f },     { 0x61c, 0x61c },
	{ 0x115f, 0x1160 },   { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },   { 0x200b, 0x200f },   { 0x2028, 0x202e },
	{ 0x2060, 0x206f },   { 0x3164, 0x3164 }, { 0xfdd0, 0xfdef },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },
	{ 0xfff0, 0xfffb },   { 0xfffe, 0xffff }, { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
	{ 0xe0000, 0xe0fff },
};

size_t tare_text_decode(const char *p, size_t left, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)p;
	size_t len = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : u[0] < 0xf5 ? 4 : 0;

	if (!len || len > left)
		return 0;
	*code = len == 1 ? u[0] : u[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (u[i] & 0x3fu);
	}
	if (*code < least[len] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return len;
}

bool tare_text_is_plain(uint32_t code)
{
	if (code >= ' ' && code < 0x7f)
		return true;
	for (size_t i = 0; i < sizeof(not_plain) / sizeof(not_plain[0]); i++)
		if (code >= not_plain[i].from && code <= not_plain[i].to)
			return false;
	return true;
}

/* TEXT with `other` for everything that is not plain; if it has several lines, their ends and tabs stay. */
static void add_plain(struct tare_str *out, const char *text, size_t len, bool has_lines, const char *other)
{
	for (size_t at = 0; at < len;) {
		uint32_t code;
		size_t n = tare_text_decode(text + at, len - at, &code);

		if (n && (tare_text_is_plain(code) || (has_lines && (code == '\n' || code == '\t'))))
			tare_str_add_n(out, text + at, n);
		else
			tare_str_add(out, other);
		at += n ? n : 1;
	}
}

void tare_text_add_name(struct tare_str *out, const char *name)
{
	add_plain(out, name, strlen(name), false, "?");
}

void tare_text_add_lines(struct tare_str *out, const char *text, size_t len)
{
	add_plain(out, text, len, true, "?");
}

/* "-1.5e-3", which a spreadsheet may read as what it is. */
static bool is_number(const char *text)
{
	char *end;

	if (!*text || text[strspn(text, "0123456789+-.eE")])
		return false;
	strtod(text, &end);
	return !*end;
}

/* By the first character behind blanks; the last four are the wide forms, which some take for the same. */
static bool is_formula(const char *text)
{
	static const char *const starts[] = { "=",           "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
		                                  "\xef\xbc\xa0" };
	const char *first = text + strspn(text, " ");

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(first, starts[i], strlen(starts[i])))
			return !is_number(text);
	return false;
}

void tare_text_add_csv(struct tare_str *out, const char *text)
{
	TARE_FREED_BY(tare_str_free) struct tare_str cell = { 0 };
	bool is_quoted;

	if (is_formula(text))
		tare_str_add_char(&cell, '\'');
	add_plain(&cell, text, strlen(text), false, replacement);
	is_quoted = strpbrk(tare_str_text(&cell), ",;\"") != NULL;
	if (is_quoted)
		tare_str_add_char(out, '"');
	for (const char *p = tare_str_text(&cell); *p; p++) {
		if (*p == '"')
			tare_str_add_char(out, '"');
		tare_str_add_char(out, *p);
	}
	if (is_quoted)
		tare_str_add_char(out, '"');
}

static void add_unit(struct tare_str *out, uint32_t unit)
{
	tare_str_addf(out, "\\u%04x", (unsigned)unit);
}

static void add_escape(struct tare_str *out, uint32_t code)
{
	static const char from[] = "\"\\\n\t\r\b\f", to[] = "\"\\ntrbf";
	const char *p = code && code < 0x80 ? strchr(from, (int)code) : NULL;

	if (p) {
		tare_str_addf(out, "\\%c", to[p - from]);
	} else if (code < 0x10000) {
		add_unit(out, code);
	} else {
		add_unit(out, 0xd800 + ((code - 0x10000) >> 10));
		add_unit(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
	}
}

void tare_text_add_quoted(struct tare_str *out, const char *text, size_t len)
{
	const char *p = text, *end = p + len;

	tare_str_add_char(out, '"');
	while (p < end) {
		uint32_t code;
		size_t n = tare_text_decode(p, (size_t)(end - p), &code);

		if (n == 0)
			tare_str_add(out, replacement);
		else if (code == '"' || code == '\\' || !tare_text_is_plain(code))
			add_escape(out, code);
		else
			tare_str_add_n(out, p, n);
		p += n ? n : 1;
	}
	tare_str_add_char(out, '"');
}

static const char *entity(uint32_t code)
{
	return code == '<'    ? "&lt;"
	       : code == '>'  ? "&gt;"
	       : code == '&'  ? "&amp;"
	       : code == '"'  ? "&quot;"
	       : code == '\'' ? "&#39;"
	                      : NULL;
}

void tare_text_add_markup(struct tare_str *out, const char *text, size_t columns)
{
	bool is_cut = tare_str_columns(text) > columns;
	size_t left = is_cut && columns ? columns - 1 : columns;

	for (const char *p = text; *p && left; left--) {
		uint32_t code;
		size_t len = tare_text_decode(p, strnlen(p, 4), &code);

		if (!len || !tare_text_is_plain(code))
			tare_str_add_char(out, '?');
		else if (entity(code))
			tare_str_add(out, entity(code));
		else
			tare_str_add_n(out, p, len);
		p += len ? len : 1;
	}
	if (is_cut)
		tare_str_add(out, "…");
}

/* "- x", "+ x", "= x", "1. x" and an indented line are marks where a line begins. */
static size_t add_line_start(struct tare_str *out, const char *line)
{
	size_t blank = strspn(line, " "), digits = strspn(line + blank, "0123456789");
	char mark = line[blank + digits];

	if ((digits && (mark == '.' || mark == ')')) || (!digits && mark && strchr("-+=", mark))) {
		tare_str_add_n(out, line + blank, digits);
		tare_str_add_char(out, '\\');
		return blank + digits;
	}
	return blank;
}

/* What Markdown, or the HTML that may stand in it, would take for something else. */
void tare_text_add_markdown(struct tare_str *out, const char *text, bool is_line)
{
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

	tare_text_add_name(&name, text);
	text = tare_str_text(&name);
	for (text += is_line ? add_line_start(out, text) : 0; *text; text++) {
		if (strchr("<>&", *text)) {
			tare_str_add(out, entity((unsigned char)*text));
			continue;
		}
		if (strchr("\\`*_[]|#~", *text))
			tare_str_add_char(out, '\\');
		tare_str_add_char(out, *text);
	}
}

static char ascii_of(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (strlen(plain[i].utf8) == len && !memcmp(plain[i].utf8, text, len))
			return plain[i].ascii;
	return '?';
}

void tare_text_to_ascii(struct tare_str *s, size_t start)
{
	size_t to = start;

	for (size_t from = start; from < s->len;) {
		size_t len = 1;

		if ((unsigned char)s->data[from] < 0x80) {
			s->data[to++] = s->data[from++];
			continue;
		}
		while (from + len < s->len && ((unsigned char)s->data[from + len] & 0xc0) == 0x80)
			len++;
		s->data[to++] = ascii_of(s->data + from, len);
		from += len;
	}
	tare_str_cut(s, to);
}

const char *tare_text_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
