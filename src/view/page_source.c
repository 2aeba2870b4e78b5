/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source text on a page: of each line that has memory of its own with those around it, of other frames that line alone. The page says
 * what it lacks, and why. What a file is called comes from the recording, which may be somebody else's: only what is called as
 * source is, by a whole path, is looked at.
 */
#include "view/page.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/emit.h"
#include "base/map.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	AROUND = 4,       /* lines before and after one that has memory */
	FILES_MAX = 400,  /* that are read */
	SHOWN_MAX = 64,   /* whose lines have memory of their own */
	LINE_MAX = 200,   /* bytes of a line */
	TEXT_MAX = 600000 /* bytes of all */
};

static const char *const endings[] = {
	"py",  "pyx", "pxd", "pxi", "c",   "cc", "cpp", "cxx", "cu",   "cuh", "h",  "hh",
	"hpp", "hxx", "inl", "ipp", "tcc", "rs", "go",  "jl",  "java", "kt",  "f",  "f90",
	"f95", "for", "m",   "mm",  "zig", "cs", "d",   "lua", "rb",   "js",  "ts", "swift",
};

struct file {
	const char *path;
	uint32_t *wanted; /* lines, in order once all are known */
	size_t nr, cap;
	bool has_own; /* one of them has memory of its own */
};

struct files {
	struct tare_strmap numbers; /* of a path: 1 + place in `items` */
	struct file *items;
	size_t nr, cap, left; /* what of TEXT_MAX is left */
	struct tare_arena arena;
};

static bool is_source(const char *path, size_t len)
{
	const char *dot = memrchr(path, '.', len);

	if (*path != '/' || !dot)
		return false;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strlen(endings[i]) == (size_t)(path + len - dot - 1) && !strncmp(dot + 1, endings[i], strlen(endings[i])))
			return true;
	return false;
}

bool tare_page_is_source(const char *path)
{
	return is_source(path, strlen(path));
}

/* "/home/me/train.py:87 in forward": the length of the file's name, and the line; 0: it is no line of source. */
static size_t parse(const char *text, uint32_t *line)
{
	for (const char *at = text; (at = strchr(at, ':')); at++) {
		unsigned long number;
		char *end;

		if (!isdigit((unsigned char)at[1]))
			continue;
		number = strtoul(at + 1, &end, 10);
		if ((*end && strncmp(end, " in ", 4) != 0) || !number || number > 10000000 ||
		    !is_source(text, (size_t)(at - text)))
			continue;
		*line = (uint32_t)number;
		return (size_t)(at - text);
	}
	return 0;
}

static void want(struct files *all, const char *text, bool is_own)
{
	uint32_t line = 0, last, first;
	size_t len = parse(text, &line);
	uint64_t *number;
	struct file *f;
	bool is_new;

	if (!len || (all->nr >= FILES_MAX && !is_own))
		return;
	number = tare_strmap_put(&all->numbers, tare_arena_strndup(&all->arena, text, len), &is_new);
	if (is_new) {
		TARE_APPEND(all->items, all->nr, all->cap) =
			(struct file){ .path = tare_arena_strndup(&all->arena, text, len) };
		*number = all->nr;
	}
	f = &all->items[*number - 1];
	f->has_own |= is_own;
	first = !is_own ? line : line > AROUND ? line - AROUND : 1;
	last = is_own ? line + AROUND : line;
	for (uint32_t i = first; i <= last; i++) {
		TARE_APPEND(f->wanted, f->nr, f->cap) = i;
	}
}

TARE_SCALAR_COMPARATOR(compare, uint32_t)

/* Puts the lines in order, each once. */
static void settle(struct file *f)
{
	size_t kept = 0;

	TARE_SORT(f->wanted, f->nr, compare);
	for (size_t i = 0; i < f->nr; i++)
		if (!kept || f->wanted[kept - 1] != f->wanted[i])
			f->wanted[kept++] = f->wanted[i];
	f->nr = kept;
}

/* No character is cut in two. */
static size_t cut(const char *text, size_t len)
{
	if (len <= LINE_MAX)
		return len;
	for (len = LINE_MAX; len && ((unsigned char)text[len] & 0xc0) == 0x80;)
		len--;
	return len;
}

/* [[first line, text, text …], …] of what the file has of them. Returns how many were written. */
static size_t add_lines(struct tare_emit *e, struct files *all, const struct file *f, const struct tare_str *source)
{
	const char *p = tare_str_text(source), *end = p + source->len;
	size_t at = 0;
	bool is_open = false;

	for (uint32_t line = 1; p < end && at < f->nr && all->left; line++) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((newline ? newline : end) - p);

		if (line != f->wanted[at] && is_open) {
			tare_emit_close(e);
			is_open = false;
		}
		if (line == f->wanted[at]) {
			struct tare_str text = { 0 };
			size_t shown = len && p[len - 1] == '\r' ? len - 1 : len;

			if (!is_open) {
				tare_emit_open(e, NULL, '[');
				tare_emit_uint(e, NULL, line);
			}
			is_open = true;
			shown = cut(p, shown);
			tare_str_add_n(&text, p, shown);
			tare_emit_str(e, NULL, tare_str_text(&text));
			tare_str_free(&text);
			all->left -= shown + 8 < all->left ? shown + 8 : all->left;
			at++;
		}
		p += len + 1;
	}
	if (is_open)
		tare_emit_close(e);
	return at;
}

static const char *why_not(const struct tare_page_source *s)
{
	if (s->why.len)
		return tare_str_text(&s->why);
	return s->text.len && memchr(tare_str_text(&s->text), 0, s->text.len) ? "it is no text" : NULL;
}

static void add_file(struct tare_emit *e, struct files *all, struct file *f, const struct tare_page *p)
{
	struct tare_page_source s = { 0 };
	const char *why = NULL;
	size_t written = 0;

	settle(f);
	p->read_source(p->of_source, f->path, &s);
	why = why_not(&s);
	if (!why || f->has_own) {
		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "file", f->path);
		tare_emit_flag(e, "own", f->has_own);
		tare_emit_flag(e, "changed", s.is_newer);
		tare_emit_str(e, "leads_to", s.leads_to.len ? tare_str_text(&s.leads_to) : NULL);
		tare_emit_open(e, "lines", '[');
		if (!why)
			written = add_lines(e, all, f, &s.text);
		tare_emit_close(e);
		if (!why && f->has_own && !written)
			why = all->left ? "it has no such lines" : "the page has no room for more";
		tare_emit_str(e, "missing", why);
		tare_emit_close(e);
	}
	tare_str_free(&s.text);
	tare_str_free(&s.why);
	tare_str_free(&s.leads_to);
}

void tare_page_sources(struct tare_emit *e, const struct tare_page *p, const char *const *lines, size_t line_nr,
                       const char *const *frames, size_t frame_nr)
{
	struct files all = { .left = TEXT_MAX };
	size_t own = 0;

	for (size_t i = 0; p->read_source && i < line_nr && all.nr < SHOWN_MAX; i++)
		want(&all, lines[i], true);
	own = all.nr;
	for (size_t i = 0; p->read_source && i < frame_nr; i++)
		want(&all, frames[i], false);
	tare_emit_open(e, "sources", '[');
	for (size_t i = 0; i < all.nr && (all.left || i < own); i++)
		add_file(e, &all, &all.items[i], p);
	tare_emit_close(e);
	tare_emit_str(e, "source_why", p->read_source ? NULL : p->source_why);
	for (size_t i = 0; i < all.nr; i++)
		free(all.items[i].wanted);
	free(all.items);
	tare_strmap_free(&all.numbers);
	tare_arena_free(&all.arena);
}
