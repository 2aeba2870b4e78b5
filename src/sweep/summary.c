/* SPDX-License-Identifier: Apache-2.0 */
/* Folds a sweep's file into a row per cell. */
#include "sweep/summary.h"

#include "base/array.h"
#include "base/bisect.h"
#include "base/json.h"
#include "base/str.h"
#include "db/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const tare_run_status_texts[TARE_RUN_STATUS_NR] = {
#define X(KEY, NAME, TEXT) TEXT,
	TARE_RUN_STATUS_MAP(X)
#undef X
};

static const char *const status_names[TARE_RUN_STATUS_NR] = {
#define X(KEY, NAME, TEXT) NAME,
	TARE_RUN_STATUS_MAP(X)
#undef X
};

struct loader {
	struct tare_db *db;
	struct tare_summary *s;
	struct tare_err *err;
};

static const char *keep(struct loader *l, const char *text)
{
	return text ? tare_arena_strdup(&l->s->memory, text) : NULL;
}

static const char *keep_some(struct loader *l, const char *text)
{
	return keep(l, text ? text : "");
}

/* Calls `row` for every row of a query; `row` may not fail. */
static int each(struct loader *l, const char *sql, void (*row)(struct loader *l, const struct tare_db_rows *rows))
{
	struct tare_db_rows *rows;
	int rc = tare_db_query(l->db, &rows, l->err, sql, "");

	while (!rc && (rc = tare_db_next(rows, l->err)) > 0) {
		row(l, rows);
		rc = 0;
	}
	tare_db_done(rows);
	return rc;
}

/* Cells are in the order of their numbers. */
static struct tare_summary_cell *cell_of(struct loader *l, int64_t id)
{
	size_t low = 0;

	TARE_BISECT(low, l->s->cell_nr, i, l->s->cells[i].cell < id);
	return low < l->s->cell_nr && l->s->cells[low].cell == id ? &l->s->cells[low] : NULL;
}

/* ---- facts ---- */

static const char *joined(struct loader *l, const char *json)
{
	TARE_FREED_BY(tare_arena_free) struct tare_arena memory = { 0 };
	const struct tare_json_value *list;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	const char *out = NULL;

	if (json && tare_json_parse(&memory, json, strlen(json), &list, NULL) == 0) {
		for (const struct tare_json_value *v = list->first; v; v = v->next)
			if (v->type == TARE_JSON_STRING)
				tare_str_addf(&text, "%s%s", text.len ? " " : "", v->text);
		out = keep(l, tare_str_text(&text));
	}
	return out;
}

static void take_date(struct tare_summary *s, int64_t ns)
{
	time_t at = (time_t)(ns / 1000000000);
	struct tm tm;

	if (localtime_r(&at, &tm))
		strftime(s->date, sizeof(s->date), "%Y-%m-%d", &tm);
}

static void take_fact(struct loader *l, const struct tare_db_rows *row)
{
	const char *key = tare_db_text(row, 0);

	if (!key)
		return;
	if (!strcmp(key, "command"))
		l->s->command = joined(l, tare_db_text(row, 1));
	else if (!strcmp(key, "host"))
		l->s->host = keep(l, tare_db_text(row, 1));
	else if (!strcmp(key, "tare"))
		l->s->tare = keep(l, tare_db_text(row, 1));
	else if (!strcmp(key, "created_ns"))
		take_date(l->s, tare_db_int(row, 1));
	else if (!strcmp(key, "repeat"))
		l->s->repeat = tare_db_int(row, 1);
	else if (!strcmp(key, "timeout_ns"))
		l->s->timeout_ns = tare_db_int(row, 1);
	else if (!strcmp(key, "total"))
		l->s->total = tare_db_real(row, 1);
}

static void take_timed(struct loader *l, const struct tare_db_rows *row)
{
	l->s->timed = keep(l, tare_db_text(row, 0));
}

static void take_param(struct loader *l, const struct tare_db_rows *row)
{
	struct tare_summary *s = l->s;

	TARE_APPEND(s->params, s->param_nr, s->param_cap) = (struct tare_summary_param){
		.name = keep_some(l, tare_db_text(row, 0)),
		.is_numeric = tare_db_int(row, 1),
		.in_command = tare_db_int(row, 2),
	};
}

static void take_work(struct loader *l, const struct tare_db_rows *row)
{
	struct tare_summary *s = l->s;
	const char **works = tare_arena_alloc(&s->memory, (s->work_nr + 1) * sizeof(*works));

	if (s->work_nr)
		memcpy(works, s->works, s->work_nr * sizeof(*works));
	works[s->work_nr++] = keep_some(l, tare_db_text(row, 0));
	s->works = works;
}

/* ---- cells ---- */

static void take_cell(struct loader *l, const struct tare_db_rows *row)
{
	struct tare_summary *s = l->s;
	struct tare_summary_cell *c;

	c = &TARE_APPEND(s->cells, s->cell_nr, s->cell_cap);
	*c = (struct tare_summary_cell){
		.cell = tare_db_int(row, 0),
		.label = keep_some(l, tare_db_text(row, 1)),
		.seconds = NAN,
		.sd = NAN,
		.whole = NAN,
		.driver_seconds = NAN,
		.retry_seconds = NAN,
		.rate = NAN,
		.speedup = NAN,
		.hours = NAN,
		.peak = -1,
		.need = -1,
		.resident = -1,
		.elastic = -1,
		.oom_bytes = -1,
		.left = -1,
		.unexplained = 0,
	};
	c->values = tare_arena_alloc(&s->memory, (s->param_nr + 1) * sizeof(char *));
	for (size_t i = 0; i < s->param_nr; i++)
		c->values[i] = "";
	c->amounts = tare_arena_alloc(&s->memory, (s->work_nr + 1) * sizeof(double));
	for (size_t i = 0; i < s->work_nr; i++)
		c->amounts[i] = NAN;
}

static void take_value(struct loader *l, const struct tare_db_rows *row)
{
	struct tare_summary_cell *c = cell_of(l, tare_db_int(row, 0));
	int64_t param = tare_db_int(row, 1);

	if (c && param > 0 && param <= (int64_t)l->s->param_nr && tare_db_text(row, 2))
		c->values[param - 1] = keep(l, tare_db_text(row, 2));
}

static void take_amount(struct loader *l, const struct tare_db_rows *row)
{
	struct tare_summary_cell *c = cell_of(l, tare_db_int(row, 0));
	int64_t position = tare_db_int(row, 1);

	if (c && position >= 0 && position < (int64_t)l->s->work_nr)
		c->amounts[position] = tare_db_real(row, 2);
}

/* ---- runs ---- */

static enum tare_run_status status_of(const char *name)
{
	for (int i = 0; i < TARE_RUN_STATUS_NR; i++)
		if (name && !strcmp(name, status_names[i]))
			return (enum tare_run_status)i;
	return TARE_RUN_OPEN;
}

static int64_t larger(int64_t have, const struct tare_db_rows *row, int column)
{
	return tare_db_is_null(row, column) || tare_db_int(row, column) < have ? have : tare_db_int(row, column);
}

/*
 * Takes runs that have ended, however they did: what was measured of a run that failed is true too.
 */
static void take_run(struct loader *l, const struct tare_db_rows *row)
{
	struct tare_summary_cell *c = cell_of(l, tare_db_int(row, 0));
	enum tare_run_status status = status_of(tare_db_text(row, 1));

	if (!c)
		return;
	c->runs++;
	c->ended[status]++;
	if (status == TARE_RUN_OPEN)
		return;
	c->peak = larger(c->peak, row, 2);
	c->need = larger(c->need, row, 3);
	c->elastic = larger(c->elastic, row, 4);
	c->refused = larger(c->refused, row, 5);
	c->retries = larger(c->retries, row, 6);
	if (status == TARE_RUN_OOM) {
		c->oom = keep(l, tare_db_text(row, 7));
		c->oom_bytes = larger(c->oom_bytes, row, 8);
		c->is_host_oom = c->oom && !strcmp(c->oom, "host");
	}
	if (status != TARE_RUN_OK)
		c->exit_code = (int)tare_db_int(row, 9);
	if (llabs(tare_db_int(row, 10)) > llabs(c->unexplained))
		c->unexplained = tare_db_int(row, 10);
	if (tare_db_text(row, 11))
		c->note = keep(l, tare_db_text(row, 11));
}

/*
 * Takes the times of runs that were ok; if no run of a cell was, the driver's times of those that failed.
 */
static void take_times(struct loader *l, const struct tare_db_rows *row)
{
	struct tare_summary_cell *c = cell_of(l, tare_db_int(row, 0));
	int64_t ok = c ? c->ended[TARE_RUN_OK] : 0, n = tare_db_int(row, 1);
	double mean = tare_db_real(row, 2), squares = tare_db_real(row, 3);

	if (!c)
		return;
	c->driver_seconds = tare_db_real(row, 4);
	c->retry_seconds = tare_db_real(row, 5);
	if (!ok)
		return;
	c->whole = tare_db_real(row, 6);
	c->seconds = mean;
	if (n > 1)
		c->sd = sqrt(fmax(0, squares) / (double)(n - 1));
}

/*
 * Takes the accounts of the one run with the largest peak: accounts of several runs have no common sum.
 */
static void take_part(struct loader *l, const struct tare_db_rows *row)
{
	struct tare_summary_cell *c = cell_of(l, tare_db_int(row, 0));

	if (!c)
		return;
	TARE_APPEND(c->parts, c->part_nr, c->part_cap) = (struct tare_summary_part){
		.account = keep_some(l, tare_db_text(row, 1)),
		.part = keep_some(l, tare_db_text(row, 2)),
		.bytes = tare_db_int(row, 3),
		.is_elastic = tare_db_int(row, 4),
	};
}

static void take_left(struct loader *l, const struct tare_db_rows *row)
{
	struct tare_summary_cell *c = cell_of(l, tare_db_int(row, 0));

	if (c && !tare_db_is_null(row, 1))
		c->left = tare_db_int(row, 1);
}

static void take_resident(struct loader *l, const struct tare_db_rows *row)
{
	struct tare_summary_cell *c = cell_of(l, tare_db_int(row, 0));

	if (c)
		c->resident = larger(c->resident, row, 1);
}

/* Of machines with other sizes nothing can be said of all. */
static void take_memory(struct loader *l, const struct tare_db_rows *row)
{
	struct tare_summary *s = l->s;

	s->memory_bytes = s->is_cpu || tare_db_is_null(row, 0) ? -1 : tare_db_int(row, 0);
	s->is_cpu = true;
}

static void take_gpu(struct loader *l, const struct tare_db_rows *row)
{
	l->s->gpu = l->s->gpu ? "" : keep(l, tare_db_text(row, 0));
	l->s->gpu_bytes = tare_db_is_null(row, 1) ? -1 : tare_db_int(row, 1);
	l->s->card_bytes = tare_db_is_null(row, 2) ? -1 : tare_db_int(row, 2);
}

static void take_simulated(struct loader *l, const struct tare_db_rows *row)
{
	l->s->is_simulated = tare_db_int(row, 0) > 0;
}

static int load(struct loader *l)
{
	/* Only devices that runs work on count: on others there is only what cuInit took. */
	static const struct {
		const char *sql;
		void (*row)(struct loader *l, const struct tare_db_rows *rows);
	} queries[] = {
		{ "SELECT key,value FROM sweep", take_fact },
		{ "SELECT phase FROM timed", take_timed },
		{ "SELECT name,is_numeric,in_command FROM params ORDER BY param", take_param },
		{ "SELECT name FROM works WHERE cell=(SELECT min(cell) FROM works) ORDER BY position", take_work },
		{ "SELECT cell,label FROM cells ORDER BY cell", take_cell },
		{ "SELECT cell,param,text FROM cell_params", take_value },
		{ "SELECT cell,position,amount FROM works", take_amount },
		{ "SELECT cell,status,peak,need,elastic,refused,retries,oom,oom_bytes,exit_code,unexplained,note FROM runs "
		  "ORDER BY cell,repeat",
		  take_run },
		/* The mean first: a sum of squares of large times would lose their differences. */
		{ "WITH t AS (SELECT cell,status='ok' AS ok,run_times.ns/1e9 AS s,whole_ns/1e9 AS whole,driver_ns/1e9 AS d,"
		  "retry_ns/1e9 AS r FROM runs JOIN run_times USING(run) WHERE status NOT IN ('running','interrupted')),"
		  "m AS (SELECT cell,ok,count(s) AS n,avg(s) AS mean,avg(d) AS d,avg(r) AS r,avg(whole) AS whole FROM t "
		  "GROUP BY cell,ok) "
		  "SELECT cell,n,mean,(SELECT sum((s-mean)*(s-mean)) FROM t WHERE t.cell=m.cell AND t.ok=m.ok),d,r,whole FROM m "
		  "WHERE ok OR NOT EXISTS(SELECT 1 FROM m AS o WHERE o.cell=m.cell AND o.ok)",
		  take_times },
		{ "WITH top AS (SELECT cell,run,max(peak) FROM runs WHERE peak IS NOT NULL GROUP BY cell) "
		  "SELECT cell,account,part,sum(bytes) AS b,elastic FROM top JOIN accounts USING(run) "
		  "WHERE account<>'other' AND bytes<>0 GROUP BY cell,account,part,elastic ORDER BY cell,b DESC",
		  take_part },
		{ "SELECT cell,min(CASE WHEN card_total IS NULL THEN total-coalesce(reserved,0)-coalesce(other,0) ELSE "
		  "card_total END-own) FROM runs JOIN devices USING(run) WHERE own>0 AND device>=0 AND status='ok' GROUP BY cell",
		  take_left },
		{ "SELECT DISTINCT name,total,card_total FROM devices WHERE own>0 AND device>=0", take_gpu },
		{ "SELECT count(*) FROM devices WHERE simulated", take_simulated },
		/* Of runs that opened no GPU. */
		{ "SELECT cell,max(peak_used) FROM runs JOIN devices USING(run) WHERE device=-1 GROUP BY cell", take_resident },
		{ "SELECT cell,min(total-peak_used) FROM runs JOIN devices USING(run) WHERE device=-1 AND status='ok' "
		  "GROUP BY cell",
		  take_left },
		{ "SELECT DISTINCT total FROM devices WHERE device=-1 AND NOT EXISTS(SELECT 1 FROM devices WHERE own>0 AND "
		  "device>=0)",
		  take_memory },
	};
	int rc = 0;

	l->s->gpu_bytes = l->s->card_bytes = l->s->memory_bytes = -1;
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]) && !rc; i++)
		rc = each(l, queries[i].sql, queries[i].row);
	if (l->s->gpu && !*l->s->gpu)
		l->s->gpu = NULL;
	return rc;
}

/* ---- what follows ---- */

/* "batch=2" names the cells whose label has these words. */
static bool is_named(const struct tare_summary_cell *c, const char *name)
{
	if (!strcmp(c->label, name))
		return true;
	while (*name) {
		size_t len = strcspn(name, " ");
		bool is_there = false;

		for (const char *at = c->label; *at && !is_there; at += strcspn(at, " "), at += *at == ' ')
			is_there = !strncmp(at, name, len) && (at[len] == ' ' || !at[len]);
		if (!is_there)
			return false;
		name += len;
		name += *name == ' ';
	}
	return true;
}

static int find_baseline(struct tare_summary *s, const char *name, struct tare_err *err)
{
	size_t found = s->cell_nr, n = 0;

	for (size_t i = 0; i < s->cell_nr; i++) {
		bool is_it = name ? is_named(&s->cells[i], name) : s->cells[i].ended[TARE_RUN_OK] > 0;

		if (!is_it)
			continue;
		if (found == s->cell_nr)
			found = i;
		n++;
	}
	if (name && n != 1)
		return tare_err_set(err, TARE_E_USAGE, "--baseline %s: %s; the first cell is %s", name,
		                    n ? "names several cells" : "names no cell", s->cell_nr ? s->cells[0].label : "none");
	s->baseline = found == s->cell_nr ? 0 : found;
	return 0;
}

static void derive(struct tare_summary *s)
{
	double base;

	for (size_t i = 0; i < s->cell_nr; i++) {
		struct tare_summary_cell *c = &s->cells[i];

		if (isnan(c->seconds) || !(c->seconds > 0))
			continue;
		c->rate = (s->work_nr ? c->amounts[0] : 1) / c->seconds;
		if (s->work_nr && !isnan(s->total))
			c->hours = (c->whole - c->seconds + s->total / c->rate) / 3600;
	}
	base = s->cell_nr ? s->cells[s->baseline].rate : NAN;
	s->best = s->soonest = s->cell_nr;
	for (size_t i = 0; i < s->cell_nr; i++) {
		struct tare_summary_cell *c = &s->cells[i];

		c->speedup = c->rate / base;
		/* A cell of which some runs failed is not recommended. */
		if (isnan(c->rate) || c->ended[TARE_RUN_OK] != c->runs)
			continue;
		if (s->best == s->cell_nr || c->rate > s->cells[s->best].rate)
			s->best = i;
		if (!isnan(c->hours) && (s->soonest == s->cell_nr || c->hours < s->cells[s->soonest].hours))
			s->soonest = i;
	}
}

bool tare_summary_differs(const struct tare_summary *s, size_t a, size_t b)
{
	const struct tare_summary_cell *x = &s->cells[a], *y = &s->cells[b];
	double scatter = hypot(x->rate * x->sd / x->seconds / sqrt(x->ended[TARE_RUN_OK]),
	                       y->rate * y->sd / y->seconds / sqrt(y->ended[TARE_RUN_OK]));

	return fabs(x->rate - y->rate) > 2 * scatter; /* false if the scatter is NaN: not known */
}

int tare_summary_load(struct tare_db *db, const char *baseline, const char *timed, struct tare_summary *out,
                      struct tare_err *err)
{
	struct loader l = { db, out, err };
	int rc;

	*out = (struct tare_summary){ .total = NAN };
	out->path = tare_arena_strdup(&out->memory, tare_db_path(db));
	rc = tare_db_do(db, err, "BEGIN", ""); /* one state of the file, while a sweep may write */
	if (!rc) {
		rc = tare_db_time_by(db, timed, err);
		if (!rc)
			rc = load(&l);
		tare_db_do(db, NULL, "COMMIT", "");
	}
	if (!rc)
		rc = find_baseline(out, baseline, err);
	if (!rc)
		derive(out);
	if (!rc)
		rc = tare_effect_find(db, out, err);
	if (rc)
		tare_summary_free(out);
	return rc;
}
