/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a sweep to its file and reading it. Creating, merging and loading are one transaction each.
 */
#include "sweep/sweep.h"

#include "base/array.h"
#include "base/json.h"
#include "base/str.h"
#include "record/path.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The words as JSON, as the file has them: with --no-paths only the name of the command. */
static char *words_json(const struct tare_sweep *s, const struct tare_sweep_words *words)
{
	bool no_paths = tare_sweep_has_option(s, "--no-paths");
	size_t count = no_paths && words != &s->options && words->count > 0 ? 1 : words->count;
	struct tare_str text = { 0 };
	struct tare_json j = { .out = &text };

	tare_json_open(&j, NULL, '[');
	for (size_t i = 0; i < count; i++)
		tare_json_str(&j, NULL, no_paths ? tare_path_short(words->items[i]) : words->items[i]);
	tare_json_close(&j);
	return tare_str_steal(&text);
}

static char *works_json(const struct tare_sweep *s)
{
	struct tare_str text = { 0 };
	struct tare_json j = { .out = &text };

	tare_json_open(&j, NULL, '{');
	for (size_t i = 0; i < s->work_nr; i++)
		tare_json_str(&j, s->works[i].name, s->works[i].expr);
	tare_json_close(&j);
	return tare_str_steal(&text);
}

/* ---- facts: rows of `sweep` ---- */

static int put_text(struct tare_db *db, const char *key, const char *value, struct tare_err *err)
{
	return tare_db_do(db, err, "INSERT OR REPLACE INTO sweep VALUES(?,?)", "tt", key, value);
}

static int put_int(struct tare_db *db, const char *key, int64_t value, struct tare_err *err)
{
	return tare_db_do(db, err, "INSERT OR REPLACE INTO sweep VALUES(?,?)", "ti", key, value);
}

/* Writes the settings that may change with --resume: those that were not given stay. */
static int put_settings(struct tare_db *db, const struct tare_sweep *s, struct tare_err *err)
{
	TARE_FREED_HERE char *launcher = words_json(s, &s->launcher);
	int rc = 0;

	if (s->repeat)
		rc = put_int(db, "repeat", s->repeat, err);
	if (!rc && s->jobs)
		rc = put_int(db, "jobs", s->jobs, err);
	if (!rc && s->gpus_per_run)
		rc = put_int(db, "gpus_per_run", s->gpus_per_run, err);
	if (!rc && s->timeout_ns)
		rc = put_int(db, "timeout_ns", s->timeout_ns, err);
	if (!rc && !isnan(s->total))
		rc = tare_db_do(db, err, "INSERT OR REPLACE INTO sweep VALUES('total',?)", "d", s->total);
	if (!rc && s->timed)
		rc = put_text(db, "timed", s->timed, err);
	if (!rc && s->launcher.count)
		rc = put_text(db, "launcher", launcher, err);
	return rc;
}

static int put_words(struct tare_db *db, const char *key, const struct tare_sweep *s,
                     const struct tare_sweep_words *words, struct tare_err *err)
{
	TARE_FREED_HERE char *json = words_json(s, words);
	int rc = put_text(db, key, json, err);

	return rc;
}

static int put_facts(struct tare_db *db, const struct tare_sweep *s, struct tare_err *err)
{
	char cwd[PATH_MAX] = "", host[256] = "", *works = works_json(s);
	struct timespec now;
	int rc = put_words(db, "command", s, &s->command, err);

	clock_gettime(CLOCK_REALTIME, &now);
	gethostname(host, sizeof(host) - 1);
	if (!rc)
		rc = put_words(db, "options", s, &s->options, err);
	if (!rc)
		rc = put_text(db, "works", works, err);
	if (!rc && !tare_sweep_has_option(s, "--no-paths"))
		rc = put_text(db, "folder", getcwd(cwd, sizeof(cwd)), err);
	if (!rc)
		rc = put_text(db, "host", host, err);
	if (!rc)
		rc = put_text(db, "tare", TARE_VERSION, err);
	if (!rc)
		rc = put_int(db, "created_ns", (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, err);
	free(works);
	return rc ? rc : put_settings(db, s, err);
}

/* ---- parameters and cells ---- */

static int put_params(struct tare_db *db, const struct tare_sweep *s, struct tare_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < s->grid.param_nr && !rc; i++)
		rc = tare_db_do(db, err, "INSERT INTO params VALUES(?,?,?,?)", "itii", (int64_t)i + 1, s->grid.params[i].name,
		                (int64_t)s->grid.params[i].is_numeric, (int64_t)tare_words_use(s->command.items, &s->grid, i));
	return rc;
}

static int put_cell(struct tare_db *db, const struct tare_sweep *s, size_t c, const char *label, struct tare_err *err)
{
	int rc = tare_db_do(db, err, "INSERT INTO cells(label) VALUES(?)", "t", label);
	int64_t cell = tare_db_last_id(db);

	for (size_t i = 0; i < s->grid.param_nr && !rc; i++) {
		double number = NAN;

		tare_grid_is_number(s->grid.cells[c][i], &number);
		rc = tare_db_do(db, err, "INSERT INTO cell_params VALUES(?,?,?,?)", "iitd", cell, (int64_t)i + 1,
		                s->grid.cells[c][i], number);
	}
	for (size_t i = 0; i < s->work_nr && !rc; i++) {
		double amount = 0;

		rc = tare_sweep_work_amount(s, i, c, &amount, err);
		if (!rc)
			rc = tare_db_do(db, err, "INSERT INTO works VALUES(?,?,?,?)", "iitd", cell, (int64_t)i, s->works[i].name,
			                amount);
	}
	return rc;
}

static int has_cell(struct tare_db *db, const char *label, struct tare_err *err)
{
	struct tare_db_rows *rows;
	int rc = tare_db_query(db, &rows, err, "SELECT 1 FROM cells WHERE label=?", "t", label);

	if (!rc)
		rc = tare_db_next(rows, err);
	tare_db_done(rows);
	return rc;
}

static int put_cells(struct tare_db *db, const struct tare_sweep *s, struct tare_err *err)
{
	int rc = 0;

	for (size_t c = 0; c < s->grid.cell_nr && rc >= 0; c++) {
		TARE_FREED_HERE char *label = tare_grid_label(&s->grid, c);

		rc = has_cell(db, label, err);
		if (!rc)
			rc = put_cell(db, s, c, label, err);
	}
	return rc < 0 ? rc : 0;
}

/* Makes the view `results`, with a column for every parameter. */
static int put_view(struct tare_db *db, const struct tare_sweep *s, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str sql = { 0 };

	tare_str_add(&sql, "CREATE VIEW results AS SELECT cell,repeat");
	for (size_t i = 0; i < s->grid.param_nr; i++)
		tare_str_addf(
			&sql,
			",(SELECT CASE WHEN number IS NULL THEN text ELSE CAST(text AS NUMERIC) END FROM cell_params p WHERE p.cell=runs.cell AND p.param=%zu) "
			"AS \"%s\"",
			i + 1, s->grid.params[i].name);
	tare_str_add(&sql, ",status,ns/1e9 AS seconds,peak,need,elastic,refused,retries,driver_ns/1e9 AS driver_seconds "
	                   "FROM runs ORDER BY cell,repeat");
	return tare_db_do(db, err, tare_str_text(&sql), "");
}

static int end_transaction(struct tare_db *db, int rc, struct tare_err *err)
{
	if (!rc)
		rc = tare_db_do(db, err, "COMMIT", "");
	if (rc)
		tare_db_do(db, NULL, "ROLLBACK", "");
	return rc;
}

int tare_sweep_create(struct tare_db *db, const struct tare_sweep *s, struct tare_err *err)
{
	int rc = tare_db_do(db, err, "BEGIN IMMEDIATE", "");

	if (rc)
		return rc;
	rc = tare_db_script(db, err, tare_sweep_schema);
	if (!rc)
		rc = put_facts(db, s, err);
	if (!rc)
		rc = put_params(db, s, err);
	if (!rc)
		rc = put_cells(db, s, err);
	if (!rc)
		rc = put_view(db, s, err);
	return end_transaction(db, rc, err);
}

/* ---- out of the file ---- */

static int load_words(const struct tare_json_value *list, struct tare_sweep_words *out, struct tare_arena *memory)
{
	for (const struct tare_json_value *v = list->first; v; v = v->next)
		if (v->type == TARE_JSON_STRING)
			tare_sweep_words_add(out, v->text, memory);
	return 0;
}

static int load_works(const struct tare_json_value *object, struct tare_sweep *s)
{
	for (const struct tare_json_value *v = object->first; v; v = v->next) {
		if (v->type != TARE_JSON_STRING)
			continue;
		TARE_APPEND(s->works, s->work_nr, s->work_cap) =
			(struct tare_sweep_work){ tare_arena_strdup(&s->memory, v->key), tare_arena_strdup(&s->memory, v->text) };
	}
	return 0;
}

static int load_json(struct tare_sweep *s, const char *key, const char *text, struct tare_err *err)
{
	struct tare_sweep_words *words = !strcmp(key, "command")   ? &s->command
	                                 : !strcmp(key, "options") ? &s->options
	                                                           : &s->launcher;
	const struct tare_json_value *v;
	TARE_FREED_BY(tare_arena_free) struct tare_arena memory = { 0 };
	int rc = text ? tare_json_parse(&memory, text, strlen(text), &v, err) : TARE_E_CORRUPT;

	if (rc)
		rc = tare_err_set(err, TARE_E_CORRUPT, "the sweep's %s cannot be read", key);
	else
		rc = !strcmp(key, "works") ? load_works(v, s) : load_words(v, words, &s->memory);
	return rc;
}

static int load_fact(struct tare_sweep *s, const struct tare_db_rows *row, struct tare_err *err)
{
	const char *key = tare_db_text(row, 0);

	if (!key)
		return 0;
	if (!strcmp(key, "repeat"))
		s->repeat = tare_db_int(row, 1);
	else if (!strcmp(key, "jobs"))
		s->jobs = tare_db_int(row, 1);
	else if (!strcmp(key, "gpus_per_run"))
		s->gpus_per_run = tare_db_int(row, 1);
	else if (!strcmp(key, "timeout_ns"))
		s->timeout_ns = tare_db_int(row, 1);
	else if (!strcmp(key, "total"))
		s->total = tare_db_real(row, 1);
	else if (!strcmp(key, "command") || !strcmp(key, "options") || !strcmp(key, "works") || !strcmp(key, "launcher"))
		return load_json(s, key, tare_db_text(row, 1), err);
	return 0;
}

static int load_facts(struct tare_db *db, struct tare_sweep *s, struct tare_err *err)
{
	struct tare_db_rows *rows;
	int rc = tare_db_query(db, &rows, err, "SELECT key,value FROM sweep", "");

	while (!rc && (rc = tare_db_next(rows, err)) > 0)
		rc = load_fact(s, rows, err);
	tare_db_done(rows);
	return rc;
}

static int load_params(struct tare_db *db, struct tare_grid *g, struct tare_err *err)
{
	struct tare_db_rows *rows;
	size_t cap = 0;
	int rc = tare_db_query(db, &rows, err, "SELECT name,is_numeric FROM params ORDER BY param", "");

	while (!rc && (rc = tare_db_next(rows, err)) > 0) {
		const char *name = tare_db_text(rows, 0);

		TARE_APPEND(g->params, g->param_nr, cap) = (struct tare_grid_param){
			.name = tare_arena_strdup(&g->memory, name ? name : ""),
			.is_numeric = tare_db_int(rows, 1),
		};
		rc = 0;
	}
	tare_db_done(rows);
	return rc;
}

static int load_cells(struct tare_db *db, struct tare_grid *g, struct tare_err *err)
{
	struct tare_db_rows *rows = NULL;
	int64_t count = 0;
	int rc = tare_db_query(db, &rows, err, "SELECT coalesce(max(cell),0) FROM cells", "");

	if (!rc && (rc = tare_db_next(rows, err)) > 0)
		count = tare_db_int(rows, 0), rc = 0;
	tare_db_done(rows);
	if (rc || count < 0 || count > 100 * TARE_GRID_CELLS)
		return rc ? rc : tare_err_set(err, TARE_E_CORRUPT, "%s: its cells cannot be read", tare_db_path(db));
	g->cell_nr = (size_t)count;
	g->cells = tare_arena_alloc(&g->memory, (g->cell_nr + 1) * sizeof(*g->cells));
	for (size_t c = 0; c < g->cell_nr; c++) {
		g->cells[c] = tare_arena_alloc(&g->memory, (g->param_nr + 1) * sizeof(char *));
		for (size_t i = 0; i < g->param_nr; i++)
			g->cells[c][i] = "";
	}
	rc = tare_db_query(db, &rows, err, "SELECT cell,param,text FROM cell_params", "");
	while (!rc && (rc = tare_db_next(rows, err)) > 0) {
		int64_t cell = tare_db_int(rows, 0), param = tare_db_int(rows, 1);
		const char *text = tare_db_text(rows, 2);

		if (cell > 0 && cell <= count && param > 0 && param <= (int64_t)g->param_nr && text)
			g->cells[cell - 1][param - 1] = tare_arena_strdup(&g->memory, text);
		rc = 0;
	}
	tare_db_done(rows);
	return rc;
}

int tare_sweep_load(struct tare_db *db, struct tare_sweep *out, struct tare_err *err)
{
	int rc;

	*out = (struct tare_sweep){ .total = NAN };
	out->path = tare_arena_strdup(&out->memory, tare_db_path(db));
	rc = load_facts(db, out, err);
	if (!rc)
		rc = load_params(db, &out->grid, err);
	if (!rc)
		rc = load_cells(db, &out->grid, err);
	return rc;
}

/* ---- going on ---- */

static bool is_same(const struct tare_sweep *a, const struct tare_sweep_words *words_a, const struct tare_sweep *b,
                    const struct tare_sweep_words *words_b)
{
	char *json_a = words_json(a, words_a), *json_b = words_json(b, words_b);
	bool is = strcmp(json_a, json_b) == 0;

	free(json_a);
	free(json_b);
	return is;
}

static int check_same(const struct tare_sweep *have, const struct tare_sweep *want, struct tare_err *err)
{
	if (!is_same(have, &have->command, want, &want->command) || !is_same(have, &have->options, want, &want->options))
		return tare_err_set(err, TARE_E_USAGE,
		                    "%s: holds a sweep of another command or of other options; go on with --resume and no "
		                    "command, or name another file",
		                    have->path);
	for (size_t i = 0; i < have->grid.param_nr || i < want->grid.param_nr; i++)
		if (have->grid.param_nr != want->grid.param_nr ||
		    strcmp(have->grid.params[i].name, want->grid.params[i].name) != 0)
			return tare_err_set(err, TARE_E_USAGE,
			                    "%s: holds a sweep of other parameters; more values can be added, but no "
			                    "parameters",
			                    have->path);
	for (size_t i = 0; i < have->work_nr || i < want->work_nr; i++)
		if (have->work_nr != want->work_nr || strcmp(have->works[i].expr, want->works[i].expr) != 0 ||
		    strcmp(have->works[i].name, want->works[i].name) != 0)
			return tare_err_set(err, TARE_E_USAGE, "%s: was begun with another --work", have->path);
	return 0;
}

/* With --no-paths the file has not the words of the command, so they must be given again. */
static int check_told(const struct tare_sweep *have, const struct tare_sweep *want, struct tare_err *err)
{
	if (!tare_sweep_has_option(have, "--no-paths") ||
	    (want->command.count && (want->launcher.count || !have->launcher.count)))
		return 0;
	return tare_err_set(err, TARE_E_USAGE,
	                    "%s: was begun with --no-paths, so its command is not in it; give --resume the command, the "
	                    "grid and the options again",
	                    have->path);
}

int tare_sweep_merge(struct tare_db *db, const struct tare_sweep *s, struct tare_err *err)
{
	struct tare_sweep have;
	int rc = tare_sweep_load(db, &have, err);

	if (!rc)
		rc = check_told(&have, s, err);
	if (!rc && s->grid.cell_nr)
		rc = check_same(&have, s, err);
	tare_sweep_free(&have);
	if (!rc)
		rc = tare_db_do(db, err, "BEGIN IMMEDIATE", "");
	if (rc)
		return rc;
	rc = put_settings(db, s, err);
	if (!rc && s->grid.cell_nr)
		rc = put_cells(db, s, err);
	for (size_t i = 0; i < s->grid.param_nr && !rc; i++)
		if (!s->grid.params[i].is_numeric)
			rc = tare_db_do(db, err, "UPDATE params SET is_numeric=0 WHERE param=?", "i", (int64_t)i + 1);
	return end_transaction(db, rc, err);
}
