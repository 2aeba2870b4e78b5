/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grid is a product of factors. A factor is a table: some parameters, and rows with a value for
 * each. `--grid` and every member of a JSON object have one parameter, a JSON array several.
 */
#include "sweep/grid.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_BYTES = 16 << 20 };

struct factor {
	size_t first, param_nr; /* which of the grid's parameters are in the factor */
	const char ***rows;
	size_t row_nr, row_cap;
};

struct parse {
	struct tare_grid *grid;
	struct factor *factors;
	size_t factor_nr, factor_cap, param_cap;
	const char *where; /* "--grid batch=1,2" */
	struct tare_err *err;
};

/* Variables of the environment by which programs are found and loaded. */
static const char *const taken_names[] = { "PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH" };

static int fail(struct parse *p, const char *what, const char *name)
{
	return tare_err_set(p->err, TARE_E_USAGE, "%.200s: %s%.100s", p->where, what, name);
}

static bool is_name(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}

static int add_param(struct parse *p, const char *name)
{
	struct tare_grid *g = p->grid;

	if (!is_name(name))
		return fail(p, "the name of a parameter has letters, digits and _, and this is none: ", name);
	if (tare_grid_find(g, name, strlen(name)) >= 0)
		return fail(p, "this parameter has its values already: ", name);
	for (size_t i = 0; i < sizeof(taken_names) / sizeof(taken_names[0]); i++)
		if (!strcmp(name, taken_names[i]))
			return fail(p, "parameters are environment variables too, and programs need this one: ", name);
	if (!strncmp(name, "TARE_", 5))
		return fail(p, "names that begin with TARE_ are Tare's own: ", name);
	if (g->param_nr == TARE_GRID_PARAMS)
		return fail(p, "a grid has at most 64 parameters; this is one more: ", name);
	TARE_APPEND(g->params, g->param_nr, p->param_cap) = (struct tare_grid_param){
		.name = tare_arena_strdup(&g->memory, name),
		.is_numeric = true,
	};
	return 0;
}

static struct factor *add_factor(struct parse *p)
{
	struct factor *f;

	f = &TARE_APPEND(p->factors, p->factor_nr, p->factor_cap);
	*f = (struct factor){ .first = p->grid->param_nr };
	return f;
}

static const char **add_row(struct parse *p, struct factor *f)
{
	return TARE_APPEND(f->rows, f->row_nr, f->row_cap) =
	           tare_arena_alloc(&p->grid->memory, f->param_nr * sizeof(char *));
}

/* Refuses a row that the factor has already: it would be measured twice under one name. */
static int check_row(struct parse *p, const struct factor *f)
{
	const char **last = f->rows[f->row_nr - 1];

	if (f->row_nr > 10000)
		return fail(p, "these are more than 10,000 values", "");
	for (size_t i = 0; i + 1 < f->row_nr; i++) {
		size_t same = 0;

		while (same < f->param_nr && !strcmp(f->rows[i][same], last[same]))
			same++;
		if (same == f->param_nr)
			return fail(p, "this value is there twice: ", last[0]);
	}
	return 0;
}

static int add_value(struct parse *p, struct factor *f, const char *text, size_t len)
{
	while (len && isspace((unsigned char)*text))
		text++, len--;
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (!len)
		return fail(p, "a value is empty; an empty text is written with --grid-json", "");
	add_row(p, f)[0] = tare_arena_strndup(&p->grid->memory, text, len);
	return check_row(p, f);
}

static int parse_grid(struct parse *p, const char *text)
{
	const char *equals = strchr(text, '=');
	struct factor *f = add_factor(p);
	const char *at;
	char *name;
	int rc;

	if (!equals)
		return fail(p, "a grid is NAME=VALUE,VALUE…", "");
	name = tare_xstrndup(text, (size_t)(equals - text));
	rc = add_param(p, name);
	free(name);
	f->param_nr = 1;
	for (at = equals + 1; !rc; at++) {
		size_t len = strcspn(at, ",");

		rc = add_value(p, f, at, len);
		at += len;
		if (!*at)
			break;
	}
	return rc;
}

/* ---- JSON ---- */

/* The number as a text, as short as it was written. */
static void number_text(const struct tare_json_value *v, char *out, size_t size)
{
	if (v->is_integer && v->is_negative)
		snprintf(out, size, "%lld", (long long)v->i);
	else if (v->is_integer)
		snprintf(out, size, "%llu", (unsigned long long)v->u);
	else
		for (int digits = 1; digits <= 17; digits++) {
			snprintf(out, size, "%.*g", digits, v->number);
			if (strtod(out, NULL) == v->number)
				return;
		}
}

static int json_text(struct parse *p, const struct tare_json_value *v, const char **out)
{
	struct tare_arena *memory = &p->grid->memory;
	char number[64];

	switch (v->type) {
	case TARE_JSON_STRING:
		if (strlen(v->text) != v->text_len)
			return fail(p, "a value has a NUL in it", "");
		*out = tare_arena_strdup(memory, v->text);
		return 0;
	case TARE_JSON_BOOL:
		*out = v->is_true ? "true" : "false";
		return 0;
	case TARE_JSON_NUMBER:
		number_text(v, number, sizeof(number));
		*out = tare_arena_strdup(memory, number);
		return 0;
	default:
		return fail(p, "a value is a text, a number, true or false", "");
	}
}

static int parse_member(struct parse *p, const struct tare_json_value *member)
{
	struct factor *f = add_factor(p);
	int rc = add_param(p, member->key);

	f->param_nr = 1;
	if (!rc && (member->type != TARE_JSON_ARRAY || !member->count))
		rc = fail(p, "the values of a parameter are a list that is not empty: ", member->key);
	for (const struct tare_json_value *v = member->first; v && !rc; v = v->next) {
		rc = json_text(p, v, &add_row(p, f)[0]);
		if (!rc)
			rc = check_row(p, f);
	}
	return rc;
}

static int parse_cell(struct parse *p, struct factor *f, const struct tare_json_value *cell)
{
	const char **row = add_row(p, f);
	int rc = 0;

	if (cell->type != TARE_JSON_OBJECT)
		return fail(p, "a cell is an object with a value for every parameter", "");
	for (const struct tare_json_value *v = cell->first; v && !rc; v = v->next) {
		int at = tare_grid_find(p->grid, v->key, strlen(v->key));

		if (at < (int)f->first)
			return fail(p, "not every cell has this parameter: ", v->key);
		rc = json_text(p, v, &row[(size_t)at - f->first]);
	}
	for (size_t i = 0; i < f->param_nr && !rc; i++)
		if (!row[i])
			rc = fail(p, "not every cell has this parameter: ", p->grid->params[f->first + i].name);
	return rc ? rc : check_row(p, f);
}

static int parse_cells(struct parse *p, const struct tare_json_value *list)
{
	struct factor *f = add_factor(p);
	int rc = 0;

	if (!list->count || list->first->type != TARE_JSON_OBJECT || !list->first->count)
		return fail(p, "a list of cells has objects with at least one parameter", "");
	for (const struct tare_json_value *v = list->first->first; v && !rc; v = v->next)
		rc = add_param(p, v->key);
	f->param_nr = p->grid->param_nr - f->first;
	for (const struct tare_json_value *v = list->first; v && !rc; v = v->next)
		rc = parse_cell(p, f, v);
	return rc;
}

static int read_file(struct parse *p, const char *path, struct tare_str *out)
{
	struct tare_err why = { 0 };

	if (!tare_file_read_input(out, path, FILE_MAX_BYTES, &why))
		return 0;
	return tare_err_set(p->err, TARE_E_USAGE, "--grid-json: is no JSON, and no file that can be read: %s", why.text);
}

static int parse_text(struct parse *p, const struct tare_str *content)
{
	TARE_FREED_BY(tare_arena_free) struct tare_arena memory = { 0 };
	const struct tare_json_value *v;
	struct tare_err why = { 0 };
	int rc = 0;

	if (tare_json_parse(&memory, tare_str_text(content), content->len, &v, &why) != 0)
		rc = fail(p, "", why.text);
	else if (v->type == TARE_JSON_ARRAY)
		rc = parse_cells(p, v);
	else if (v->type != TARE_JSON_OBJECT || !v->count)
		rc = fail(p, "expected an object that is not empty, or a list of objects", "");
	else
		for (const struct tare_json_value *m = v->first; m && !rc; m = m->next)
			rc = parse_member(p, m);
	return rc;
}

static int parse_json(struct parse *p, const char *text)
{
	size_t blank = strspn(text, " \t\r\n");
	TARE_FREED_BY(tare_str_free) struct tare_str content = { 0 };
	int rc = 0;

	if (text[blank] == '{' || text[blank] == '[')
		tare_str_add(&content, text);
	else
		rc = read_file(p, text, &content);
	if (!rc)
		rc = parse_text(p, &content);
	return rc;
}

/* ---- the product ---- */

static void fill_cell(const struct parse *p, size_t cell)
{
	struct tare_grid *g = p->grid;
	size_t rest = cell;

	g->cells[cell] = tare_arena_alloc(&g->memory, g->param_nr * sizeof(char *));
	for (size_t i = p->factor_nr; i-- > 0;) {
		const struct factor *f = &p->factors[i];

		memcpy(&g->cells[cell][f->first], f->rows[rest % f->row_nr], f->param_nr * sizeof(char *));
		rest /= f->row_nr;
	}
	for (size_t i = 0; i < g->param_nr; i++)
		if (!tare_grid_is_number(g->cells[cell][i], NULL))
			g->params[i].is_numeric = false;
}

static int cross(struct parse *p)
{
	struct tare_grid *g = p->grid;
	size_t n = 1;

	for (size_t i = 0; i < p->factor_nr; i++) {
		n *= p->factors[i].row_nr;
		if (n > TARE_GRID_CELLS)
			return tare_err_set(p->err, TARE_E_USAGE, "the grid has more than %d cells; leave values out",
			                    TARE_GRID_CELLS);
	}
	g->cells = tare_arena_alloc(&g->memory, n * sizeof(*g->cells));
	g->cell_nr = n;
	for (size_t c = 0; c < n; c++)
		fill_cell(p, c);
	return 0;
}

int tare_grid_parse(struct tare_grid *out, const char *const *grids, size_t grid_nr, const char *const *jsons,
                    size_t json_nr, struct tare_err *err)
{
	struct parse p = { .grid = out, .err = err };
	struct tare_str where = { 0 };
	int rc = 0;

	*out = (struct tare_grid){ 0 };
	for (size_t i = 0; i < grid_nr + json_nr && !rc; i++) {
		tare_str_cut(&where, 0);
		tare_str_addf(&where, "%s %s", i < grid_nr ? "--grid" : "--grid-json",
		              i < grid_nr ? grids[i] : jsons[i - grid_nr]);
		p.where = tare_str_text(&where);
		rc = i < grid_nr ? parse_grid(&p, grids[i]) : parse_json(&p, jsons[i - grid_nr]);
	}
	if (!rc && !p.factor_nr)
		rc = tare_err_set(err, TARE_E_USAGE, "a sweep needs a grid, such as --grid batch=1,2,4");
	if (!rc)
		rc = cross(&p);
	for (size_t i = 0; i < p.factor_nr; i++)
		free(p.factors[i].rows);
	free(p.factors);
	tare_str_free(&where);
	if (rc)
		tare_grid_free(out);
	return rc;
}

int tare_grid_find(const struct tare_grid *grid, const char *name, size_t len)
{
	for (size_t i = 0; i < grid->param_nr; i++)
		if (strlen(grid->params[i].name) == len && !memcmp(grid->params[i].name, name, len))
			return (int)i;
	return -1;
}

char *tare_grid_label(const struct tare_grid *grid, size_t cell)
{
	struct tare_str label = { 0 };

	for (size_t i = 0; i < grid->param_nr; i++)
		tare_str_addf(&label, "%s%s=%s", i ? " " : "", grid->params[i].name, grid->cells[cell][i]);
	return tare_str_steal(&label);
}

bool tare_grid_is_number(const char *text, double *number)
{
	char *end;
	double v;

	if (!strpbrk(text, "0123456789") || strspn(text, "0123456789.+-eE") != strlen(text))
		return false;
	v = strtod(text, &end);
	if (*end || !isfinite(v))
		return false;
	if (number)
		*number = v;
	return true;
}
