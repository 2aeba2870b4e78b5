/* SPDX-License-Identifier: Apache-2.0 */
/* Parses tables of texts, and reads numbers from them. */
#include "fit/table.h"

#include "base/array.h"
#include "base/file.h"
#include "base/hint.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS_MAX = 1000, COLUMNS_TOLD = 8, TABLE_MAX_BYTES = 256 << 20 };

#define GREATEST 1e100 /* above it, the square of a relative error could become 0 */

struct reading {
	const char *name;
	const char *at, *end;
	char separator;
	size_t line;
	struct tare_arena *arena;
	const char **cells; /* cells of the line read last */
	size_t count, cap;
	struct tare_str cell;
};

static bool is_line_end(const struct reading *r)
{
	return r->at == r->end || *r->at == '\n' || *r->at == '\r';
}

static void end_line(struct reading *r)
{
	if (r->at < r->end && *r->at == '\r')
		r->at++;
	if (r->at < r->end && *r->at == '\n')
		r->at++;
	r->line++;
}

static int quoted(struct reading *r, struct tare_err *err)
{
	size_t line = r->line;

	for (r->at++; r->at < r->end; r->at++) {
		if (*r->at == '"') {
			if (++r->at == r->end || *r->at != '"')
				return 0;
		} else if (*r->at == '\n') {
			r->line++;
		}
		tare_str_add_char(&r->cell, *r->at);
	}
	return tare_err_set(err, TARE_E_FORMAT, "%s, line %zu: a quote is never closed", r->name, line);
}

/* One cell, without blanks around it; r->at is then at the separator or the end of the line. */
static int cell(struct reading *r, struct tare_err *err)
{
	size_t from = 0, to;
	bool is_quoted = false;
	const char *text;

	tare_str_cut(&r->cell, 0);
	while (!is_line_end(r) && *r->at == ' ')
		r->at++;
	if (!is_line_end(r) && *r->at == '"') {
		int rc = quoted(r, err);

		if (rc)
			return rc;
		is_quoted = true;
	}
	while (!is_line_end(r) && *r->at != r->separator) {
		if (!*r->at)
			return tare_err_set(err, TARE_E_FORMAT, "%s, line %zu: not a table of text", r->name, r->line);
		if (!is_quoted)
			tare_str_add_char(&r->cell, *r->at);
		r->at++;
	}
	text = tare_str_text(&r->cell);
	to = r->cell.len;
	while (!is_quoted && to > from && (text[to - 1] == ' ' || text[to - 1] == '\t'))
		to--;
	TARE_APPEND(r->cells, r->count, r->cap) = to > from ? tare_arena_strndup(r->arena, text, to) : NULL;
	return 0;
}

/* 1: a line with cells; 0: no more. */
static int read_line(struct reading *r, struct tare_err *err)
{
	while (r->at < r->end && (is_line_end(r) || *r->at == '#')) {
		while (!is_line_end(r))
			r->at++;
		end_line(r);
	}
	if (r->at == r->end)
		return 0;
	r->count = 0;
	for (;;) {
		int rc = cell(r, err);

		if (rc)
			return rc;
		if (is_line_end(r))
			break;
		r->at++;
		if (r->count > COLUMNS_MAX)
			return tare_err_set(err, TARE_E_FORMAT, "%s, line %zu: more than %d columns", r->name, r->line,
			                    COLUMNS_MAX);
	}
	end_line(r);
	return 1;
}

static char find_separator(const struct reading *r)
{
	static const char candidates[] = { ',', ';', '\t' };
	size_t most = 0;
	char best = ',';

	for (size_t c = 0; c < sizeof(candidates); c++) {
		size_t n = 0;
		bool is_quoted = false;

		for (const char *p = r->at; p < r->end && *p != '\n'; p++) {
			is_quoted ^= *p == '"';
			n += !is_quoted && *p == candidates[c];
		}
		if (n > most) {
			most = n;
			best = candidates[c];
		}
	}
	return best;
}

static int head(struct reading *r, struct tare_table *t, struct tare_err *err)
{
	int rc;

	/* Remarks before the head: the head says the separator. */
	while (r->at < r->end && (is_line_end(r) || *r->at == '#')) {
		while (!is_line_end(r))
			r->at++;
		end_line(r);
	}
	r->separator = find_separator(r);
	rc = read_line(r, err);
	if (rc < 0)
		return rc;
	if (!rc)
		return tare_err_set(err, TARE_E_EMPTY, "%s is empty: a table starts with a line of column names", r->name);
	t->column_count = r->count;
	t->columns = tare_arena_alloc(r->arena, r->count * sizeof(*t->columns));
	for (size_t c = 0; c < r->count; c++) {
		t->columns[c] = r->cells[c] ? r->cells[c] : "";
		for (size_t b = 0; b < c; b++)
			if (*t->columns[c] && !strcmp(t->columns[b], t->columns[c]))
				return tare_err_set(err, TARE_E_FORMAT, "%s has two columns \"%s\"; rename one of them", r->name,
				                    t->columns[c]);
	}
	return 0;
}

static int body(struct reading *r, struct tare_table *t, struct tare_err *err)
{
	const char **cells = NULL;
	size_t cap = 0, used = 0;
	int rc;

	while ((rc = read_line(r, err)) > 0) {
		if (r->count > t->column_count) {
			rc = tare_err_set(err, TARE_E_FORMAT, "%s, line %zu: %zu cells, but the head names %zu columns", r->name,
			                  r->line - 1, r->count, t->column_count);
			break;
		}
		cells = tare_array_reserve(cells, &cap, used + t->column_count, sizeof(*cells));
		for (size_t c = 0; c < t->column_count; c++)
			cells[used++] = c < r->count ? r->cells[c] : NULL;
		t->row_count++;
	}
	if (!rc) {
		t->cells = tare_arena_alloc(r->arena, (used + 1) * sizeof(*cells));
		if (used)
			memcpy(t->cells, cells, used * sizeof(*cells));
	}
	free(cells);
	return rc;
}

int tare_table_parse(const char *name, const char *text, size_t len, struct tare_arena *arena, struct tare_table *out,
                     struct tare_err *err)
{
	struct reading r = { .name = name, .at = text, .end = text + len, .line = 1, .arena = arena };
	struct tare_table t = { 0 };
	int rc;

	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		r.at += 3;
	rc = head(&r, &t, err);
	if (!rc)
		rc = body(&r, &t, err);
	free(r.cells);
	tare_str_free(&r.cell);
	if (!rc)
		*out = t;
	return rc;
}

int tare_table_read(const char *path, struct tare_arena *arena, struct tare_table *out, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	int rc = tare_file_read_input(&text, path, TABLE_MAX_BYTES, err);

	if (!rc)
		rc = tare_table_parse(strcmp(path, "-") ? path : "standard input", tare_str_text(&text), text.len, arena, out,
		                      err);
	return rc;
}

size_t tare_table_column(const struct tare_table *t, const char *name)
{
	for (size_t c = 0; c < t->column_count; c++)
		if (!strcmp(t->columns[c], name))
			return c;
	return TARE_TABLE_NONE;
}

/* "; it has batch, layers and 12 more" */
static void add_columns(struct tare_str *out, const struct tare_table *t)
{
	tare_str_add(out, "; it has ");
	for (size_t c = 0; c < t->column_count && c < COLUMNS_TOLD; c++)
		tare_str_addf(out, "%s%s", c ? ", " : "", t->columns[c]);
	if (t->column_count > COLUMNS_TOLD)
		tare_str_addf(out, " and %zu more", t->column_count - COLUMNS_TOLD);
}

int tare_table_no_column(const struct tare_table *t, const char *name, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str columns = { 0 }, hint = { 0 };

	for (size_t c = 0; c < t->column_count; c++)
		tare_str_addf(&columns, "%s|", t->columns[c]);
	if (!tare_hint_word(&hint, name, tare_str_text(&columns)))
		add_columns(&hint, t);
	tare_err_set(err, TARE_E_USAGE, "the table has no column \"%s\"%s", name, tare_str_text(&hint));
	return TARE_E_USAGE;
}

bool tare_table_number(const char *text, double *out)
{
	char *end;
	double v;

	if (!text || !*text || text[strspn(text, "+-.0123456789eE")])
		return false; /* neither hex, nan nor inf */
	v = strtod(text, &end);
	if (*end || !(v >= -GREATEST && v <= GREATEST))
		return false;
	*out = v;
	return true;
}

bool tare_table_is_missing(const char *text)
{
	static const char *const words[] = { "nan", "inf", "infinity", "na", "n/a", "null" };
	double v;
	char *end;

	if (!text)
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(text + (*text == '+' || *text == '-'), words[i]))
			return true;
	v = strtod(text, &end);
	return end > text && !*end && !(v >= -GREATEST && v <= GREATEST);
}

static bool is_same(const char *cell, const char *value)
{
	double a, b;

	if (!cell)
		return !*value;
	if (!strcmp(cell, value))
		return true;
	return tare_table_number(cell, &a) && tare_table_number(value, &b) && a == b;
}

void tare_table_where(struct tare_table *t, size_t column, const char *value)
{
	size_t kept = 0;

	for (size_t r = 0; r < t->row_count; r++) {
		if (!is_same(tare_table_cell(t, r, column), value))
			continue;
		memmove(t->cells + kept++ * t->column_count, t->cells + r * t->column_count,
		        t->column_count * sizeof(*t->cells));
	}
	t->row_count = kept;
}
