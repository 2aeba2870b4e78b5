/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the tables of quantities from a sweep's file. */
#include "fit/series.h"

#include "base/str.h"
#include "db/db.h"

#include <string.h>

#define MIB 1048576.0

struct reading {
	struct tare_db *db;
	struct tare_series_list *list;
	struct tare_err *err;
};

/* Calls `each` for every row of a query; an error of `each` ends the query. */
static int query(struct reading *r, const char *sql, int64_t value,
                 int (*each)(struct reading *r, struct tare_db_rows *rows))
{
	struct tare_db_rows *rows = NULL;
	int rc = tare_db_query(r->db, &rows, r->err, sql, strchr(sql, '?') ? "i" : "", value);

	while (!rc && (rc = tare_db_next(rows, r->err)) > 0)
		rc = each(r, rows);
	tare_db_done(rows);
	return rc;
}

/* Writes the parameters of a run's cell into the last row of the series. */
static int set_params(struct reading *r, struct tare_series *s, int64_t run)
{
	struct tare_db_rows *rows = NULL;
	int rc = tare_db_query(r->db, &rows, r->err,
	                       "SELECT name, text FROM runs JOIN cell_params USING(cell) JOIN params USING(param)"
	                       " WHERE run=? ORDER BY param",
	                       "i", run);

	while (!rc && (rc = tare_db_next(rows, r->err)) > 0) {
		tare_series_set(r->list, s, tare_db_name(rows, 0), tare_db_name(rows, 1));
		rc = 0;
	}
	tare_db_done(rows);
	return rc;
}

static int set_phase_params(struct reading *r, struct tare_series *s, int64_t run, int64_t phase)
{
	struct tare_db_rows *rows = NULL;
	int rc = tare_db_query(r->db, &rows, r->err, "SELECT name, text FROM phase_params WHERE run=? AND phase=?", "ii",
	                       run, phase);

	while (!rc && (rc = tare_db_next(rows, r->err)) > 0) {
		if (strcmp(tare_db_name(rows, 0), s->name))
			tare_series_set(r->list, s, tare_db_name(rows, 0), tare_db_name(rows, 1));
		rc = 0;
	}
	tare_db_done(rows);
	return rc;
}

static int add(struct reading *r, enum tare_series_kind kind, const char *name, int64_t run, double v)
{
	struct tare_series *s = tare_series_get(r->list, kind, name);
	int rc;

	tare_series_row(r->list, s);
	rc = set_params(r, s, run);
	tare_series_set_number(r->list, s, name, v);
	return rc;
}

/* run, need, peak, ns */
static int each_run(struct reading *r, struct tare_db_rows *rows)
{
	int64_t run = tare_db_int(rows, 0);
	int rc = 0;

	if (!tare_db_is_null(rows, 1) && tare_db_int(rows, 1) >= 0)
		rc = add(r, TARE_SERIES_NEED, "need", run, tare_db_real(rows, 1));
	if (!rc && !tare_db_is_null(rows, 2) && tare_db_int(rows, 2) >= 0)
		rc = add(r, TARE_SERIES_PEAK, "peak", run, tare_db_real(rows, 2));
	if (!rc && !tare_db_is_null(rows, 3))
		rc = add(r, TARE_SERIES_SECONDS, "seconds", run, tare_db_real(rows, 3) / 1e9);
	return rc;
}

/* run, resident */
static int each_resident(struct reading *r, struct tare_db_rows *rows)
{
	return add(r, TARE_SERIES_PEAK, TARE_SERIES_RESIDENT, tare_db_int(rows, 0), tare_db_real(rows, 1));
}

/* run, phase, path, depth, need */
static int each_phase(struct reading *r, struct tare_db_rows *rows)
{
	struct tare_series *s;
	struct tare_str name = { 0 };
	int rc;

	tare_str_addf(&name, "phase %s", tare_series_phase_name(r->list, tare_db_name(rows, 2)));
	s = tare_series_get(r->list, TARE_SERIES_PHASE, tare_str_text(&name));
	tare_str_free(&name);
	s->is_outer = tare_db_int(rows, 3) == 0;
	tare_series_row(r->list, s);
	rc = set_params(r, s, tare_db_int(rows, 0));
	if (!rc)
		rc = set_phase_params(r, s, tare_db_int(rows, 0), tare_db_int(rows, 1));
	tare_series_set_number(r->list, s, s->name, tare_db_real(rows, 4));
	return rc;
}

/* run, phase, path, count, account ("": all of them), bytes */
static int each_change(struct reading *r, struct tare_db_rows *rows)
{
	const char *account = tare_db_name(rows, 4);
	int64_t repeats = tare_db_int(rows, 3);
	struct tare_series *s;
	struct tare_str name = { 0 };
	int rc;

	tare_str_addf(&name, "%s%s%s", tare_series_phase_name(r->list, tare_db_name(rows, 2)), *account ? ": " : "",
	              account);
	s = tare_series_get(r->list, TARE_SERIES_CHANGE, tare_str_text(&name));
	tare_str_free(&name);
	tare_series_row(r->list, s);
	rc = set_params(r, s, tare_db_int(rows, 0));
	if (!rc)
		rc = set_phase_params(r, s, tare_db_int(rows, 0), tare_db_int(rows, 1));
	tare_series_set_number(r->list, s, s->name, tare_db_real(rows, 5) / (double)(repeats > 0 ? repeats : 1));
	return rc;
}

/* What phases with parameters in their names changed, in all and per account; others on the GPU apart. */
static int changes(struct reading *r)
{
	int rc = query(r,
	               "SELECT run, phase, path, count, '', (SELECT TOTAL(bytes) FROM phase_changes c WHERE c.run=runs.run"
	               " AND c.phase=phases.phase AND account<>'other') FROM runs JOIN phases USING(run)"
	               " WHERE status='ok' AND kind<>'mark' AND (run, phase) IN (SELECT run, phase FROM phase_params)"
	               " ORDER BY run, phase",
	               0, each_change);

	if (!rc) /* where a phase did not change an account, the row has 0 */
		rc = query(r,
		           "WITH own AS (SELECT run, phase, path, count FROM runs JOIN phases USING(run)"
		           " WHERE status='ok' AND kind<>'mark'"
		           " AND (run, phase) IN (SELECT run, phase FROM phase_params)),"
		           " sums AS (SELECT run, phase, account, SUM(bytes) AS bytes FROM phase_changes"
		           " JOIN own USING(run, phase) GROUP BY run, phase, account),"
		           " names AS (SELECT account FROM sums GROUP BY account HAVING MAX(ABS(bytes))>=?)"
		           " SELECT own.run, own.phase, path, count, names.account, COALESCE(sums.bytes, 0)"
		           " FROM own JOIN names LEFT JOIN sums ON sums.run=own.run AND sums.phase=own.phase"
		           " AND sums.account=names.account WHERE names.account<>'other'"
		           " ORDER BY names.account, own.run, own.phase",
		           (int64_t)MIB, each_change);
	tare_series_drop_small(r->list, TARE_SERIES_CHANGE, MIB);
	return rc;
}

/* run, account, part, bytes */
static int each_account(struct reading *r, struct tare_db_rows *rows)
{
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

	tare_str_add(&name, tare_db_name(rows, 1));
	if (*tare_db_name(rows, 2))
		tare_str_addf(&name, "/%s", tare_db_name(rows, 2));
	return add(r, TARE_SERIES_ACCOUNT, tare_str_text(&name), tare_db_int(rows, 0), tare_db_real(rows, 3));
}

static int each_simulated(struct reading *r, struct tare_db_rows *rows)
{
	r->list->is_simulated = tare_db_int(rows, 0) > 0;
	return 0;
}

int tare_series_of_db(struct tare_db *db, struct tare_series_list *out, struct tare_err *err)
{
	struct reading r = { db, out, err };
	int rc = tare_db_time_by(db, NULL, err);

	if (!rc)
		rc = query(&r, "SELECT count(*) FROM devices WHERE simulated", 0, each_simulated);
	if (!rc)
		rc = query(&r,
		           "SELECT run, need, CASE WHEN run IN (SELECT run FROM devices WHERE device=-1) THEN NULL"
		           " ELSE peak END, run_times.ns FROM runs JOIN run_times USING(run) WHERE status='ok'"
		           " ORDER BY run",
		           0, each_run);

	if (!rc) /* of runs that opened no GPU, where need and peak are the same */
		rc = query(&r,
		           "SELECT run, peak_used FROM devices JOIN runs USING(run) WHERE device=-1 AND status='ok'"
		           " AND peak_used IS NOT NULL ORDER BY run",
		           0, each_resident);
	if (!rc)
		rc = query(&r,
		           "SELECT run, phase, path, depth, MAX(phase_devices.need) FROM runs JOIN phases USING(run)"
		           " JOIN phase_devices USING(run, phase) WHERE status='ok' AND kind<>'mark'"
		           " AND phase_devices.need IS NOT NULL GROUP BY run, phase ORDER BY run, phase",
		           0, each_phase);
	if (!rc) /* of the GPU with most in use; where a run did not have an account, the row has 0 */
		rc = query(&r,
		           "WITH most AS (SELECT run, device, MAX(own) FROM devices JOIN runs USING(run)"
		           " WHERE status='ok' GROUP BY run),"
		           " sums AS (SELECT run, account, part, SUM(bytes*(1-elastic)) AS bytes FROM accounts"
		           " JOIN most USING(run, device) GROUP BY run, account, part),"
		           " names AS (SELECT account, part FROM sums GROUP BY account, part HAVING MAX(bytes)>=?)"
		           " SELECT most.run, names.account, names.part, COALESCE(sums.bytes, 0) FROM most JOIN names"
		           " LEFT JOIN sums ON sums.run=most.run AND sums.account=names.account"
		           " AND sums.part=names.part WHERE names.account<>'other'"
		           " ORDER BY names.account, names.part, most.run",
		           (int64_t)MIB, each_account);
	if (!rc)
		rc = changes(&r);
	if (!rc && !out->count)
		rc = tare_err_set(err, TARE_E_EMPTY, "%s: no run ended well, so there is nothing to fit", tare_db_path(db));
	return rc;
}

/* run, memory of the card */
static int each_failed(struct reading *r, struct tare_db_rows *rows)
{
	if (tare_db_is_null(rows, 1))
		return 0;
	return add(r, TARE_SERIES_PEAK, "room", tare_db_int(rows, 0), tare_db_real(rows, 1));
}

int tare_series_failed_of_db(struct tare_db *db, struct tare_series_list *out, struct tare_err *err)
{
	struct reading r = { db, out, err };

	return query(&r,
	             "SELECT run, MAX(COALESCE(card_total, total)) FROM runs JOIN devices USING(run)"
	             " WHERE status='oom' GROUP BY run ORDER BY run",
	             0, each_failed);
}
