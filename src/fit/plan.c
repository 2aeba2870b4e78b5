/* SPDX-License-Identifier: Apache-2.0 */
/* Judges every configuration by its laws, and puts those that fit in order. */
#include "fit/plan.h"

#include "base/xalloc.h"
#include "fit/unseen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CELLS_MAX = 20000,
	VALUES_MAX = 256, /* values of one parameter */
	BEYOND_MAX = 4,   /* laws are trusted up to so many times the greatest measured value */
	NAMES_MAX = 8,    /* names in the expression */
};

/* What stands for a name of the expression. */
struct worth_name {
	const char *name;
	const struct tare_table *table; /* measured values; NULL: a parameter */
	struct tare_forecast forecast;
};

struct planning {
	const struct tare_plan_ask *ask;
	struct tare_plan *plan;
	struct tare_problem base; /* the cells measured */
	struct tare_forecast memory;
	const struct tare_table *memory_table;
	struct worth_name names[NAMES_MAX];
	size_t name_count;
	size_t row; /* the row of the cell that is being valued */
	bool is_measured;
};

static const char *value_text(struct planning *g, size_t param, double x)
{
	char text[40];

	if (g->base.params[param].is_level)
		return g->base.params[param].levels[(size_t)x];
	snprintf(text, sizeof(text), "%.12g", x);
	return tare_arena_strdup(&g->plan->arena, text);
}

static void add_cell(struct planning *g, const double *x, bool is_measured, double bytes)
{
	struct tare_plan *plan = g->plan;
	struct tare_table *t = &plan->cells;
	struct tare_plan_choice *c = &plan->choices[plan->count];

	for (size_t p = 0; p < g->base.param_count; p++)
		t->cells[t->row_count * t->column_count + p] = value_text(g, p, x[p]);
	*c = (struct tare_plan_choice){
		.is_measured = is_measured, .row = t->row_count++, .beyond = 1, .worth = __builtin_nan("")
	};
	if (is_measured)
		c->bytes = c->low = c->high = bytes * g->ask->unit + g->ask->instead;
	plan->count++;
}

static bool is_measured(const struct planning *g, const double *x)
{
	const struct tare_fit_data *d = &g->base.data;

	for (size_t i = 0; i < d->row_count; i++)
		if (!memcmp(tare_fit_x(d, i), x, d->param_count * sizeof(double)))
			return true;
	return false;
}

static bool is_named(const struct planning *g, size_t param)
{
	for (size_t i = 0; i < tare_expr_name_nr(g->ask->maximize); i++)
		if (!strcmp(tare_expr_name(g->ask->maximize, i), g->base.params[param].name))
			return true;
	return false;
}

/* Parameters in the expression may be chosen; if none is in it, all may. */
static bool is_chosen(const struct planning *g, size_t param)
{
	bool is_any = false;

	for (size_t p = 0; g->ask->maximize && p < g->base.param_count; p++)
		is_any |= is_named(g, p);
	return !is_any || is_named(g, param);
}

static bool is_whole(double v)
{
	return v >= 1 && v < 1e15 && v == (double)(uint64_t)v;
}

/*
 * The greatest step that all measured values are multiples of; 0: the values are not whole numbers.
 */
static double common_step(const struct tare_fit_param *param)
{
	uint64_t step = 0;

	for (size_t i = 0; i < param->level_count; i++) {
		uint64_t a = (uint64_t)param->values[i];

		if (!is_whole(param->values[i]))
			return 0;
		while (step) {
			uint64_t rest = a % step;

			a = step;
			step = rest;
		}
		step = a;
	}
	return (double)step;
}

/* The values to try: those measured; of a whole number that may be chosen also others, up to BEYOND_MAX times. */
static size_t values(const struct planning *g, size_t p, double *out)
{
	const struct tare_fit_param *param = &g->base.params[p];
	size_t count = 0;
	double step;

	for (; count < param->level_count && count < VALUES_MAX; count++)
		out[count] = param->is_level ? (double)count : param->values[count];
	if (param->is_level || param->level_count < 2 || !is_chosen(g, p))
		return count;
	step = common_step(param);
	if (!(step > 0))
		return count;
	while (BEYOND_MAX * param->most / step > VALUES_MAX / 2)
		step *= 2;
	for (double v = step; v <= BEYOND_MAX * param->most && count < VALUES_MAX; v += step) {
		size_t i = 0;

		while (i < param->level_count && param->values[i] != v)
			i++;
		if (v > param->least && i == param->level_count)
			out[count++] = v;
	}
	return count;
}

static void combine(struct planning *g, size_t p, double *x, size_t beyond)
{
	double all[VALUES_MAX];
	size_t count;

	if (p == g->base.param_count) {
		if (!is_measured(g, x) && g->plan->count < CELLS_MAX)
			add_cell(g, x, false, 0);
		return;
	}
	count = values(g, p, all);
	for (size_t i = 0; i < count && g->plan->count < CELLS_MAX; i++) {
		const struct tare_fit_param *param = &g->base.params[p];
		size_t out = !param->is_level && all[i] > param->most;

		if (beyond + out > 1)
			continue; /* beyond the measured values in one parameter at a time */
		x[p] = all[i];
		combine(g, p + 1, x, beyond + out);
	}
}

static int resolve(struct planning *g, struct tare_err *err)
{
	const struct tare_expr *e = g->ask->maximize;

	for (size_t i = 0; e && i < tare_expr_name_nr(e); i++) {
		const char *name = tare_expr_name(e, i);
		struct worth_name *n = &g->names[g->name_count];
		struct tare_problem_ask ask = g->ask->fit;
		const char *params[TARE_FIT_PARAMS_MAX];
		int rc;

		if (g->name_count == NAMES_MAX)
			return tare_err_set(err, TARE_E_USAGE, "--maximize: more than %d names", NAMES_MAX);
		*n = (struct worth_name){ .name = name };
		if (tare_table_column(&g->plan->cells, name) != TARE_TABLE_NONE) {
			g->name_count++;
			continue;
		}
		for (size_t p = 0; p < g->base.param_count; p++)
			params[p] = g->base.params[p].name;
		ask.target = name;
		ask.params = params;
		ask.param_count = g->base.param_count;
		if (g->ask->table) {
			n->table = g->ask->table;
			rc = tare_forecast_of_table(&n->forecast, n->table, &ask, err);
		} else {
			struct tare_series *s = tare_series_find(g->ask->list, name);

			n->table = s ? &s->table : NULL;
			rc = tare_forecast_of_series(&n->forecast, g->ask->list, name, &ask, err);
		}
		if (rc) {
			tare_err_prefix(err, "--maximize");
			return rc;
		}
		g->name_count++;
	}
	return 0;
}

/* The mean of what was measured in the cell that is being valued. */
static bool measured_value(const struct planning *g, const struct worth_name *n, double *value)
{
	const struct tare_problem *p = &n->forecast.parts[0].problem;
	double x[TARE_FIT_PARAMS_MAX];

	if (!g->is_measured || n->forecast.count != 1 || !tare_problem_cell(p, &g->plan->cells, g->row, x, NULL))
		return false;
	for (size_t i = 0; i < p->data.row_count; i++)
		if (!memcmp(tare_fit_x(&p->data, i), x, p->param_count * sizeof(double))) {
			*value = p->data.y[i];
			return true;
		}
	return false;
}

static int lookup(void *arg, const char *name, double *value, struct tare_err *err)
{
	struct planning *g = arg;
	struct tare_prediction got;

	for (size_t i = 0; i < g->name_count; i++) {
		const struct worth_name *n = &g->names[i];
		size_t column;

		if (strcmp(n->name, name))
			continue;
		if (n->table) {
			if (measured_value(g, n, value))
				return 0;
			if (!tare_forecast_at(&n->forecast, &g->plan->cells, g->row, &got, NULL, NULL))
				break;
			*value = got.value;
			return 0;
		}
		column = tare_table_column(&g->plan->cells, name);
		if (tare_table_number(tare_table_cell(&g->plan->cells, g->row, column), value))
			return 0;
	}
	return tare_err_set(err, TARE_E_RANGE, "\"%s\" is no number there", name);
}

/* The parameter that is more than was measured: there is one at most. */
static size_t beyond_param(const struct planning *g, size_t row)
{
	double x[TARE_FIT_PARAMS_MAX];
	size_t p = 0;

	if (!tare_problem_cell(&g->base, &g->plan->cells, row, x, NULL))
		return 0;
	while (p + 1 < g->base.param_count && (g->base.params[p].is_level || x[p] <= g->base.params[p].most))
		p++;
	return p;
}

static void value_all(struct planning *g)
{
	for (size_t i = 0; i < g->plan->count; i++) {
		struct tare_plan_choice *c = &g->plan->choices[i];
		struct tare_prediction got;

		if (!c->is_measured && tare_forecast_at(&g->memory, &g->plan->cells, c->row, &got, NULL, NULL)) {
			c->bytes = got.value * g->ask->unit + g->ask->instead;
			c->low = got.low * g->ask->unit + g->ask->instead;
			c->high = got.high * g->ask->unit + g->ask->instead;
			c->beyond = got.beyond;
			c->beyond_param = beyond_param(g, c->row);
		}
		g->row = c->row;
		g->is_measured = c->is_measured;
		c->worth = c->bytes;
		if (g->ask->maximize && tare_expr_eval(g->ask->maximize, lookup, g, &c->worth, NULL) != 0)
			c->worth = __builtin_nan("");
	}
}

static int check_worth(const struct planning *g, struct tare_err *err)
{
	for (size_t i = 0; i < g->plan->count; i++)
		if (g->plan->choices[i].worth == g->plan->choices[i].worth)
			return 0;
	return tare_err_set(err, TARE_E_USAGE,
	                    "plan: --maximize is a number in none of %zu cells; is there a division by 0?", g->plan->count);
}

/*
 * A cell that ran out of memory on a card with no less room than this one does not fit, whatever a law says.
 */
static void mark_failed(struct planning *g)
{
	const struct tare_table *failed = g->ask->failed;

	for (size_t r = 0; failed && r < failed->row_count; r++) {
		double x[TARE_FIT_PARAMS_MAX], y[TARE_FIT_PARAMS_MAX], room;

		if (!tare_problem_cell(&g->base, failed, r, x, NULL) ||
		    !tare_table_number(tare_table_cell(failed, r, tare_table_column(failed, "room")), &room) ||
		    room < g->ask->room)
			continue;
		for (size_t i = 0; i < g->plan->count; i++)
			if (!g->plan->choices[i].is_measured &&
			    tare_problem_cell(&g->base, &g->plan->cells, g->plan->choices[i].row, y, NULL) &&
			    !memcmp(x, y, g->base.param_count * sizeof(double)))
				g->plan->choices[i].is_failed = true;
	}
}

static bool is_better(const struct tare_plan_choice *a, const struct tare_plan_choice *b)
{
	if (a->worth != b->worth)
		return a->worth > b->worth;
	return a->is_measured != b->is_measured ? a->is_measured : a->bytes < b->bytes;
}

static void choose(struct tare_plan *plan)
{
	plan->best = plan->first = -1;
	for (size_t i = 0; i < plan->count; i++) {
		const struct tare_plan_choice *c = &plan->choices[i];

		if (!c->is_failed && c->worth == c->worth && c->high <= plan->has_room_for &&
		    (plan->best < 0 || is_better(c, &plan->choices[plan->best])))
			plan->best = (ptrdiff_t)i;
	}
	for (int any = 0; any < 2 && plan->first < 0; any++)
		for (size_t i = 0; i < plan->count; i++) {
			const struct tare_plan_choice *c = &plan->choices[i];
			bool is_worth = any || plan->best < 0 || c->worth > plan->choices[plan->best].worth;

			if ((c->high > plan->has_room_for || c->is_failed) && is_worth &&
			    (plan->first < 0 || c->bytes < plan->choices[plan->first].bytes))
				plan->first = (ptrdiff_t)i;
		}
}

static void look_for_unseen(struct planning *g, ptrdiff_t at)
{
	struct tare_plan_choice *c = &g->plan->choices[at < 0 ? 0 : at];
	const char *name = at < 0 ? NULL : tare_unseen_at(&g->memory, &g->plan->cells, c->row);

	if (name)
		c->unseen_phase = tare_arena_strdup(&g->plan->arena, name);
}

static int prepare(struct planning *g, struct tare_err *err)
{
	const struct tare_plan_ask *ask = g->ask;
	struct tare_plan *plan = g->plan;
	struct tare_series *s = ask->list ? tare_series_find(ask->list, ask->fit.target) : NULL;
	double x[TARE_FIT_PARAMS_MAX] = { 0 };
	size_t n;
	int rc;

	g->memory_table = ask->table ? ask->table : s ? &s->table : NULL;
	if (!g->memory_table)
		return tare_err_set(err, TARE_E_USAGE, "nothing that was measured is called \"%s\"", ask->fit.target);
	if (s && s->kind == TARE_SERIES_SECONDS)
		return tare_err_set(err, TARE_E_USAGE, "plan: \"%s\" is no memory; name what is with --target, or leave it out",
		                    ask->fit.target);
	rc = tare_problem_make(g->memory_table, &ask->fit, &plan->arena, &g->base, err);
	if (rc)
		return rc;
	rc = ask->table ? tare_forecast_of_table(&g->memory, ask->table, &ask->fit, err)
	                : tare_forecast_of_series(&g->memory, ask->list, ask->fit.target, &ask->fit, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < g->memory.count; i++)
		if (g->memory.parts[i].fitted.strength > plan->strength)
			plan->strength = g->memory.parts[i].fitted.strength;
	plan->has_no_phases = g->memory.has_no_phases;
	n = g->base.param_count;
	plan->cells.column_count = n;
	plan->cells.columns = tare_arena_alloc(&plan->arena, (n + 1) * sizeof(char *));
	for (size_t p = 0; p < n; p++)
		plan->cells.columns[p] = g->base.params[p].name;
	plan->cells.cells = tare_arena_alloc(&plan->arena, (CELLS_MAX + g->base.data.row_count) * (n + 1) * sizeof(char *));
	plan->choices = tare_xcalloc(CELLS_MAX + g->base.data.row_count, sizeof(*plan->choices));
	for (size_t i = 0; i < g->base.data.row_count; i++)
		add_cell(g, tare_fit_x(&g->base.data, i), true, g->base.data.y[i]);
	if (n)
		combine(g, 0, x, 0);
	return resolve(g, err);
}

int tare_plan_make(const struct tare_plan_ask *ask, struct tare_plan *out, struct tare_err *err)
{
	struct planning *g = tare_xcalloc(1, sizeof(*g));
	int rc;

	memset(out, 0, sizeof(*out));
	out->has_room_for = ask->room;
	g->ask = ask;
	g->plan = out;
	rc = prepare(g, err);
	if (!rc) {
		value_all(g);
		rc = check_worth(g, err);
	}
	if (!rc) {
		mark_failed(g);
		choose(out);
		look_for_unseen(g, out->best);
		look_for_unseen(g, out->first);
	}
	for (size_t i = 0; i < g->name_count; i++)
		if (g->names[i].table)
			tare_forecast_free(&g->names[i].forecast);
	tare_forecast_free(&g->memory);
	tare_problem_free(&g->base);
	free(g);
	if (rc)
		tare_plan_free(out);
	return rc;
}
