/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what a sweep was asked to do. */
#include "sweep/sweep.h"

#include "base/array.h"
#include "base/expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tare_sweep_words_add(struct tare_sweep_words *words, const char *word, struct tare_arena *memory)
{
	words->items = tare_array_reserve(words->items, &words->cap, words->count + 2, sizeof(*words->items));
	words->items[words->count++] = tare_arena_strdup(memory, word);
	words->items[words->count] = NULL;
}

bool tare_sweep_has_option(const struct tare_sweep *s, const char *option)
{
	for (size_t i = 0; i < s->options.count; i++)
		if (!strcmp(s->options.items[i], option))
			return true;
	return false;
}

/* A name is told by the '=' behind it: an expression has no '='. */
int tare_sweep_add_work(struct tare_sweep *s, const char *text, struct tare_err *err)
{
	const char *equals = strchr(text, '=');
	const char *name = equals ? tare_arena_strndup(&s->memory, text, (size_t)(equals - text)) : "work";
	const char *expr = equals ? equals + 1 : text;
	struct tare_expr *parsed;
	int rc = tare_expr_parse(&parsed, expr, err);

	if (rc) {
		tare_err_prefix(err, "--work");
		return rc;
	}
	tare_expr_free(parsed);
	if (!*name)
		return tare_err_set(err, TARE_E_USAGE, "--work %s: there is no name before the =", text);
	for (size_t i = 0; i < s->work_nr; i++)
		if (!strcmp(s->works[i].name, name))
			return tare_err_set(err, TARE_E_USAGE, "--work %s: the unit %s is there already", text, name);
	TARE_APPEND(s->works, s->work_nr, s->work_cap) =
		(struct tare_sweep_work){ name, tare_arena_strdup(&s->memory, expr) };
	return 0;
}

struct lookup {
	const struct tare_grid *grid;
	size_t cell;
};

static int look_up(void *arg, const char *name, double *value, struct tare_err *err)
{
	const struct lookup *l = arg;
	int param = tare_grid_find(l->grid, name, strlen(name));

	if (param < 0)
		return tare_err_set(err, TARE_E_USAGE, "no parameter is called %s", name);
	if (!tare_grid_is_number(l->grid->cells[l->cell][param], value))
		return tare_err_set(err, TARE_E_USAGE, "%s is %s in one of the cells, which is no number", name,
		                    l->grid->cells[l->cell][param]);
	return 0;
}

int tare_sweep_work_amount(const struct tare_sweep *s, size_t work, size_t cell, double *amount, struct tare_err *err)
{
	struct lookup l = { &s->grid, cell };
	struct tare_expr *e;
	int rc = tare_expr_parse(&e, s->works[work].expr, err);

	if (!rc) {
		rc = tare_expr_eval(e, look_up, &l, amount, err);
		tare_expr_free(e);
	}
	if (!rc && *amount <= 0)
		rc = tare_err_set(err, TARE_E_USAGE, "%s is %g in one of the cells, and work is more than 0",
		                  s->works[work].name, *amount);
	if (rc) {
		tare_err_prefix(err, "--work %s", s->works[work].expr);
		if (err)
			rc = err->code = TARE_E_USAGE;
	}
	return rc;
}

static int check_words(const struct tare_sweep *s, struct tare_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < s->command.count && !rc; i++) {
		char *word = NULL;

		rc = tare_words_fill(&word, s->command.items[i], &s->grid, 0, err);
		free(word);
	}
	return rc;
}

int tare_sweep_check(const struct tare_sweep *s, struct tare_err *err)
{
	int rc = check_words(s, err);

	for (size_t i = 0; i < s->work_nr && !rc; i++)
		for (size_t c = 0; c < s->grid.cell_nr && !rc; c++) {
			double amount;

			rc = tare_sweep_work_amount(s, i, c, &amount, err);
		}
	if (!rc && !isnan(s->total) && !s->work_nr)
		rc = tare_err_set(err, TARE_E_USAGE,
		                  "--total counts units of work; say with --work how many of them a run does");
	return rc;
}
