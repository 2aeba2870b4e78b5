/* SPDX-License-Identifier: Apache-2.0 */
/* tare predict --grid: the command with all combinations of values, on each card. */
#include "cmd/predict.h"

#include "base/str.h"

#include <string.h>

enum { NAMES_MAX = 8, CELLS_MAX = 4096 };

struct axis {
	const char *name;
	const char **texts;
	size_t count;
};

static int bad_axis(const char *text, struct tare_err *err)
{
	return tare_err_set(err, TARE_E_USAGE,
	                    "predict: --grid %s: it takes a name and its values with commas between, as batch=1,8,64",
	                    text);
}

static int parse_axis(const char *text, char *const *argv, struct tare_arena *memory, struct axis *out,
                      struct tare_err *err)
{
	char *name = tare_arena_strdup(memory, text), *values = strchr(name, '='), *value;

	if (!values || values == name)
		return bad_axis(text, err);
	*values++ = '\0';
	*out = (struct axis){ name, tare_arena_alloc(memory, (strlen(values) + 1) * sizeof(char *)), 0 };
	while ((value = strsep(&values, ","))) {
		if (!*value)
			return bad_axis(text, err);
		out->texts[out->count++] = value;
	}
	if (!tare_predict_has(argv, name))
		return tare_err_set(err, TARE_E_USAGE, "predict: --grid %s: {%s} is not in the command", text, name);
	return 0;
}

static int parse_axes(const struct tare_operands *grid, char *const *argv, struct tare_arena *memory, struct axis *axes,
                      size_t *cells, struct tare_err *err)
{
	int rc = 0;

	if (grid->count > NAMES_MAX)
		return tare_err_set(err, TARE_E_USAGE, "predict: --grid takes %d names at most", NAMES_MAX);
	for (size_t i = 0; i < grid->count && !rc; i++) {
		rc = parse_axis(grid->items[i], argv, memory, &axes[i], err);
		for (size_t k = 0; k < i && !rc; k++)
			if (!strcmp(axes[k].name, axes[i].name))
				rc = tare_err_set(err, TARE_E_USAGE, "predict: --grid %s is given twice: give all its values at once",
				                  axes[i].name);
		if (!rc && *cells * axes[i].count > CELLS_MAX)
			rc =
				tare_err_set(err, TARE_E_USAGE, "predict: --grid has more than %d cells, and each is a run", CELLS_MAX);
		*cells *= rc ? 1 : axes[i].count;
	}
	return rc;
}

/* The values of a cell; the last name changes first. */
static struct tare_predict_value *values_of(const struct axis *axes, size_t n, size_t cell, struct tare_arena *memory)
{
	struct tare_predict_value *values = tare_arena_alloc(memory, n * sizeof(*values));

	for (size_t i = n; i-- > 0; cell /= axes[i].count)
		values[i] = (struct tare_predict_value){ axes[i].name, axes[i].texts[cell % axes[i].count] };
	return values;
}

int tare_predict_grid(const struct tare_predict_options *o, const struct tare_operands *grid, const char *const *names,
                      size_t *n, struct tare_arena *memory, struct tare_predict_card **cells, struct tare_err *err)
{
	struct axis axes[NAMES_MAX];
	size_t cards = *n, count = cards;
	int rc = parse_axes(grid, o->argv, memory, axes, &count, err);

	if (rc)
		return rc;
	*n = count;
	*cells = tare_arena_alloc(memory, count * sizeof(**cells));
	for (size_t i = 0; i < count && !rc; i++) {
		struct tare_predict_options filled = *o;

		filled.what = values_of(axes, grid->count, i / cards, memory);
		filled.what_nr = grid->count;
		filled.argv = tare_predict_fill(o->argv, filled.what, grid->count, memory);
		rc = tare_predict_run(&filled, names[i % cards], memory, &(*cells)[i], err);
		(*cells)[i].values = filled.what;
		(*cells)[i].value_nr = grid->count;
	}
	return rc;
}

/* ---- the table ---- */
struct row {
	const char *values, *card, *fits, *where;
	int64_t need, spare;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, values, "values", "VALUES", TEXT),
	TARE_COLUMN(row, card, "name", "CARD", TEXT),
	TARE_COLUMN(row, fits, "fits", "FITS", TEXT),
	TARE_COLUMN(row, need, "need_bytes", "NEED", BYTES, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, spare, "spare_bytes", "TO SPARE", BYTES, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, where, "out_of_memory", "RUNS OUT AT", TEXT, .is_blank = true, .is_whole = true),
};

static const char *fit_of(const struct tare_predict_card *c)
{
	if (c->has_failed)
		return "not known";
	if (tare_predict_is_close(c))
		return c->fits ? "probably" : "probably not";
	return c->fits ? "yes" : "no";
}

static void print_rows(struct tare_emit *e, const struct tare_predict_card *cells, size_t n)
{
	tare_emit_table(e, "cells", NULL, TARE_COLUMNS(columns));
	for (size_t i = 0; i < n; i++) {
		const struct tare_predict_card *c = &cells[i];
		TARE_FREED_BY(tare_str_free) struct tare_str values = { 0 };
		struct row row = { .card = c->name,
			               .fits = fit_of(c),
			               .need = c->need,
			               .spare = c->fits ? c->room - c->need : -1,
			               .where = c->is_out_of_memory ? (c->line ? c->line : "not known") : NULL };

		for (size_t k = 0; k < c->value_nr; k++)
			tare_str_addf(&values, "%s%s=%s", k ? " " : "", c->values[k].name, c->values[k].text);
		row.values = tare_str_text(&values);
		tare_emit_add(e, &row);
	}
	tare_emit_table_end(e);
}

void tare_predict_grid_print(struct tare_emit *e, const struct tare_predict_card *cells, size_t n,
                             const struct tare_predict_prices *prices)
{
	int failed = 0;

	tare_emit_number(e, "tare", 1);
	if (tare_emit_has_members(e)) {
		tare_emit_open(e, "cells", '[');
		for (size_t i = 0; i < n; i++)
			tare_predict_card_json(e, &cells[i]);
		tare_emit_close(e);
		return;
	}
	print_rows(e, cells, n);
	for (size_t i = 0; i < n; i++)
		failed += cells[i].has_failed;
	if (failed)
		tare_emit_note(e, "in %d of the cells the program failed for another reason than memory", failed);
	(void)prices;
}
