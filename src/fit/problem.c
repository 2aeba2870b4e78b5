/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a table into a problem: which columns are parameters, which cells repeat each other. */
#include "fit/problem.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/map.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "fit/fit_report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void __attribute__((format(printf, 2, 3))) problem_note(struct tare_problem *p, const char *fmt, ...)
{
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(&s, fmt, ap);
	va_end(ap);
	TARE_APPEND(p->notes, p->note_count, p->note_cap) = tare_arena_strdup(p->arena, tare_str_text(&s));
}

void tare_problem_free(struct tare_problem *p)
{
	free(p->notes);
	p->notes = NULL;
}

struct column {
	size_t filled, numbers;
	size_t values; /* different values, as far as they were counted */
	bool is_flag;  /* the only values are 0 and 1 */
};

/* What a column has in rows that have a number for the target: only those count. */
static struct column look(const struct tare_table *t, size_t target, size_t column)
{
	struct column c = { .is_flag = true };
	TARE_FREED_BY(tare_strmap_free) struct tare_strmap seen = { 0 };

	for (size_t r = 0; r < t->row_count; r++) {
		const char *text = tare_table_cell(t, r, column);
		double v;

		if (tare_table_is_missing(text) || !tare_table_number(tare_table_cell(t, r, target), &v))
			continue;
		c.filled++;
		if (seen.count <= TARE_FIT_LEVELS_MAX)
			tare_strmap_put(&seen, text, NULL);
		if (!tare_table_number(text, &v)) {
			c.is_flag = false;
			continue;
		}
		c.numbers++;
		c.is_flag = c.is_flag && (v == 0 || v == 1);
	}
	c.values = seen.count;
	return c;
}

static int add_param(struct tare_problem *p, const struct tare_table *t, size_t column, const struct column *c,
                     struct tare_err *err)
{
	if (p->param_count == TARE_FIT_PARAMS_MAX)
		return tare_err_set(err, TARE_E_USAGE, "more than %d parameters; name the ones that count with --params",
		                    TARE_FIT_PARAMS_MAX);
	p->columns[p->param_count] = column;
	p->params[p->param_count++] = (struct tare_fit_param){
		.name = t->columns[column],
		.is_level = c->numbers < c->filled || (c->is_flag && c->values > 1),
	};
	return 0;
}

static int named_params(struct tare_problem *p, const struct tare_table *t, size_t target,
                        const struct tare_problem_ask *ask, struct tare_err *err)
{
	for (size_t i = 0; i < ask->param_count; i++) {
		size_t column = tare_table_column(t, ask->params[i]);
		struct column c;
		int rc;

		if (column == TARE_TABLE_NONE)
			return tare_table_no_column(t, ask->params[i], err);
		if (column == target)
			return tare_err_set(err, TARE_E_USAGE, "\"%s\" is the target and cannot be a parameter too",
			                    ask->params[i]);
		for (size_t j = 0; j < p->param_count; j++)
			if (p->columns[j] == column)
				return tare_err_set(err, TARE_E_USAGE, "the parameter \"%s\" is named twice", ask->params[i]);
		c = look(t, target, column);
		if (c.values > TARE_FIT_LEVELS_MAX && c.numbers < c.filled)
			return tare_err_set(err, TARE_E_USAGE,
			                    "column \"%s\" has more than %d different words: it can be no "
			                    "parameter",
			                    ask->params[i], TARE_FIT_LEVELS_MAX);
		rc = add_param(p, t, column, &c, err);
		if (rc)
			return rc;
	}
	return 0;
}

static bool may_be_param(const struct tare_problem *p, const struct column *c)
{
	return c->filled && c->filled * 2 >= p->data.row_count;
}

static int all_params(struct tare_problem *p, const struct tare_table *t, size_t target,
                      const struct tare_problem_ask *ask, struct tare_err *err)
{
	const char *lacking = NULL; /* a column that the cells do not have */

	for (size_t column = 0; column < t->column_count; column++) {
		struct column c;
		int rc;

		if (column == target || !*t->columns[column])
			continue;
		c = look(t, target, column);
		if (!may_be_param(p, &c))
			continue;
		if (ask->cells && tare_table_column(ask->cells, t->columns[column]) == TARE_TABLE_NONE) {
			lacking = t->columns[column];
			if (c.values > 1 && !p->lacking)
				p->lacking = lacking;
			continue;
		}
		if (c.values > TARE_FIT_LEVELS_MAX && c.numbers < c.filled) {
			problem_note(p, "column \"%s\" has too many different words to be a parameter", t->columns[column]);
			continue;
		}
		rc = add_param(p, t, column, &c, err);
		if (rc)
			return rc;
	}
	if (lacking && !p->param_count)
		return tare_err_set(err, TARE_E_USAGE, "the cells to predict have no column that the runs have, such as \"%s\"",
		                    lacking);
	return 0;
}

static void level(struct tare_problem *p, struct tare_fit_param *param, const char *text)
{
	for (size_t l = 0; l < param->level_count; l++)
		if (!strcmp(param->levels[l], text))
			return;
	if (!param->levels)
		param->levels = tare_arena_alloc(p->arena, TARE_FIT_LEVELS_MAX * sizeof(*param->levels));
	if (param->level_count < TARE_FIT_LEVELS_MAX)
		param->levels[param->level_count++] = text;
}

/*
 * The value of one parameter of a cell. False: the value is missing, or not of the parameter's kind.
 */
static bool value(const struct tare_fit_param *param, const char *text, double *x)
{
	if (tare_table_is_missing(text))
		return false;
	if (!param->is_level)
		return tare_table_number(text, x);
	for (size_t l = 0; l < param->level_count; l++) {
		double a, b;

		if (!strcmp(param->levels[l], text) ||
		    (tare_table_number(text, &a) && tare_table_number(param->levels[l], &b) && a == b)) {
			*x = (double)l;
			return true;
		}
	}
	return false;
}

bool tare_problem_cell(const struct tare_problem *p, const struct tare_table *t, size_t row, double *x,
                       const char **why)
{
	for (size_t i = 0; i < p->param_count; i++) {
		size_t column = tare_table_column(t, p->params[i].name);
		const char *text = column == TARE_TABLE_NONE ? NULL : tare_table_cell(t, row, column);

		if (value(&p->params[i], text, &x[i]))
			continue;
		if (why) {
			TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };

			if (!text)
				tare_str_addf(&s, "no %s", p->params[i].name);
			else if (p->params[i].is_level)
				tare_str_addf(&s, "%s = %s was never measured", p->params[i].name, text);
			else
				tare_str_addf(&s, "%s = %s is no number", p->params[i].name, text);
			*why = tare_arena_strdup(p->arena, tare_str_text(&s));
		}
		return false;
	}
	return true;
}

TARE_SCALAR_COMPARATOR(by_value, double)

/* Lists the different values of a number, at most TARE_FIT_LEVELS_MAX. */
static void describe(struct tare_problem *p, size_t i)
{
	struct tare_fit_param *param = &p->params[i];
	struct tare_fit_data *d = &p->data;
	TARE_FREED_HERE double *all = tare_xcalloc(d->row_count + 1, sizeof(*all));
	size_t n = 0;

	for (size_t r = 0; r < d->row_count; r++)
		all[r] = tare_fit_x(d, r)[i];
	TARE_SORT(all, d->row_count, by_value);
	for (size_t r = 0; r < d->row_count; r++)
		if (!r || all[r] != all[r - 1])
			all[n++] = all[r];
	param->least = n ? all[0] : 0;
	param->most = n ? all[n - 1] : 0;
	param->level_count = n < TARE_FIT_LEVELS_MAX ? n : TARE_FIT_LEVELS_MAX;
	param->values = tare_arena_alloc(p->arena, (param->level_count + 1) * sizeof(double));
	memcpy(param->values, all, param->level_count * sizeof(double));
	if (n > param->level_count) /* the list keeps the greatest value */
		param->values[param->level_count - 1] = param->most;
}

struct sample {
	const double *x;
	size_t param_count;
	double y;
};

static int by_params(const void *a, const void *b)
{
	const struct sample *s = a, *t = b;

	for (size_t i = 0; i < s->param_count; i++)
		if (s->x[i] != t->x[i])
			return s->x[i] < t->x[i] ? -1 : 1;
	return s->y < t->y ? -1 : s->y > t->y;
}

static bool is_same_cell(const struct sample *a, const struct sample *b)
{
	for (size_t i = 0; i < a->param_count; i++)
		if (a->x[i] != b->x[i])
			return false;
	return true;
}

/* What repeats, sorted, say together: of memory the middle one, because one that went astray draws a mean. */
static double together(const struct tare_problem *p, const struct sample *repeats, size_t count)
{
	double sum = 0;

	if (p->is_bytes)
		return (repeats[(count - 1) / 2].y + repeats[count / 2].y) / 2;
	for (size_t i = 0; i < count; i++)
		sum += repeats[i].y / (double)count;
	return sum;
}

static bool is_apart(const struct sample *repeats, size_t count)
{
	double middle = repeats[count / 2].y, far = repeats[count - 1].y - middle;

	if (middle - repeats[0].y > far)
		far = middle - repeats[0].y;
	return far > TARE_PROBLEM_ASTRAY * fabs(middle);
}

/* Cells in the order of their parameters, and those whose repeats do not agree. */
static void cells(struct tare_problem *p, const struct sample *all, size_t count)
{
	struct tare_fit_data *d = &p->data;
	size_t n = p->param_count, next;

	for (size_t r = 0; r < count; r = next) {
		for (next = r + 1; next < count && is_same_cell(&all[r], &all[next]);)
			next++;
		memcpy(d->x + d->row_count * n, all[r].x, n * sizeof(double));
		d->weight[d->row_count] = (double)(next - r);
		d->y[d->row_count++] = together(p, all + r, next - r);
		if (next - r > 1 && is_apart(all + r, next - r) && !p->astray++) {
			p->astray_cell = d->row_count - 1;
			p->astray_least = all[r].y;
			p->astray_most = all[next - 1].y;
		}
	}
}

/* Rows with the same parameters are repeats: one cell. */
static void rows(struct tare_problem *p, const struct tare_table *t, size_t target)
{
	struct tare_fit_data *d = &p->data;
	size_t n = p->param_count, count = 0;
	double *x = tare_xcalloc(t->row_count * n + 1, sizeof(double)), *at = x;
	TARE_FREED_HERE struct sample *all = tare_xcalloc(t->row_count + 1, sizeof(*all));

	for (size_t r = 0; r < t->row_count; r++) {
		size_t i;

		if (!tare_table_number(tare_table_cell(t, r, target), &all[count].y))
			continue;
		for (i = 0; i < n && value(&p->params[i], tare_table_cell(t, r, p->columns[i]), &at[i]);)
			i++;
		if (i < n)
			continue;
		all[count].x = at;
		all[count++].param_count = n;
		at += n;
	}
	TARE_SORT(all, count, by_params);
	d->x = tare_arena_alloc(p->arena, (count * n + 1) * sizeof(double));
	d->y = tare_arena_alloc(p->arena, (count + 1) * sizeof(double));
	d->weight = tare_arena_alloc(p->arena, (count + 1) * sizeof(double));
	d->row_count = 0;
	cells(p, all, count);
	free(x);
}

static int no_number(const struct tare_table *t, size_t target, struct tare_err *err)
{
	const char *name = t->columns[target];

	if (!t->row_count)
		return tare_err_set(err, TARE_E_EMPTY, "the table has no row, so nothing is known of \"%s\"", name);
	for (size_t r = 0; r < t->row_count; r++)
		if (!tare_table_is_missing(tare_table_cell(t, r, target)))
			return tare_err_set(err, TARE_E_EMPTY,
			                    "column \"%s\" holds no number: the first is \"%.40s\"; write numbers "
			                    "alone, without a unit, with a point",
			                    name, tare_table_cell(t, r, target));
	return tare_err_set(err, TARE_E_EMPTY, "column \"%s\" holds no number: it is empty", name);
}

/* What a table says of a size; of a sweep and a recording, sizes are right, and changes may be negative. */
static int check_sizes(const struct tare_table *t, const struct tare_problem_ask *ask, size_t target,
                       struct tare_err *err)
{
	double v;

	for (size_t r = 0; r < t->row_count && !ask->is_bytes && tare_unit_is_size(ask->target); r++)
		if (tare_table_number(tare_table_cell(t, r, target), &v) && v < 0)
			return tare_err_set(err, TARE_E_RANGE,
			                    "\"%s\" is %s in row %zu, and no size is below 0: mend or remove the row; "
			                    "if it is a difference, call the column so (\"change\", \"diff\")",
			                    ask->target, tare_table_cell(t, r, target), r + 1);
	return 0;
}

int tare_problem_make(const struct tare_table *t, const struct tare_problem_ask *ask, struct tare_arena *arena,
                      struct tare_problem *out, struct tare_err *err)
{
	struct tare_problem p = { .arena = arena, .target = ask->target, .is_bytes = ask->is_bytes };
	size_t target = tare_table_column(t, ask->target), used = 0;
	int rc;

	p.params = tare_arena_alloc(arena, TARE_FIT_PARAMS_MAX * sizeof(*p.params));
	if (target == TARE_TABLE_NONE)
		return tare_table_no_column(t, ask->target, err);
	for (size_t r = 0; r < t->row_count; r++) {
		double v;

		p.data.row_count += tare_table_number(tare_table_cell(t, r, target), &v);
	}
	if (!p.data.row_count)
		return no_number(t, target, err);
	rc = check_sizes(t, ask, target, err);
	if (rc)
		return rc;
	rc = ask->params ? named_params(&p, t, target, ask, err) : all_params(&p, t, target, ask, err);
	if (rc)
		goto fail;
	for (size_t i = 0; i < p.param_count; i++)
		for (size_t r = 0; r < t->row_count && p.params[i].is_level; r++) {
			const char *text = tare_table_cell(t, r, p.columns[i]);
			double v;

			if (!tare_table_is_missing(text) && tare_table_number(tare_table_cell(t, r, target), &v))
				level(&p, &p.params[i], text);
		}
	p.data.row_count = 0;
	p.data.param_count = p.param_count;
	p.data.params = p.params;
	rows(&p, t, target);
	if (!p.data.row_count) {
		rc = tare_err_set(err, TARE_E_EMPTY, "no row has \"%s\" and all its parameters; name fewer with --params",
		                  ask->target);
		goto fail;
	}
	for (size_t i = 0; i < p.data.row_count; i++)
		used += (size_t)p.data.weight[i];
	p.left_out = t->row_count - used;
	tare_fit_data_scale(&p.data, arena);
	for (size_t i = 0; i < p.param_count; i++)
		if (!p.params[i].is_level)
			describe(&p, i);
	*out = p;
	return 0;
fail:
	tare_problem_free(&p);
	return rc;
}
