/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the time of a run that counts for rates. */
#include "db/db.h"

#include "base/str.h"

#include <string.h>

enum { NAMES_LENGTH = 200 };

#define IS_IT "(p.path=t.phase OR p.name=t.phase OR substr(p.name,1,length(t.phase)+1)=t.phase||' ')"

/* A phase inside one of the same name is in its time already. */
static const char view[] =
	"CREATE TEMP VIEW run_times AS SELECT run,ns AS whole_ns,CASE WHEN (SELECT phase FROM timed) IS NULL THEN ns ELSE"
	" (SELECT max(of_pid) FROM (SELECT sum(p.ns) AS of_pid FROM phases p, timed t WHERE p.run=runs.run AND " IS_IT
	" AND p.depth=(SELECT min(p.depth) FROM phases p, timed t WHERE p.run=runs.run AND " IS_IT
	") GROUP BY p.pid)) END AS ns FROM runs";

/* A name without its key=value. */
static size_t length_of(const char *name)
{
	const char *equals = strchr(name, '=');

	while (equals && equals > name && *equals != ' ')
		equals--;
	return equals && equals > name ? (size_t)(equals - name) : strlen(name);
}

static void add_name(struct tare_str *names, const char *name)
{
	size_t at = names->len;

	tare_str_addf(names, "%s'%.*s'", at ? ", " : "", (int)length_of(name), name);
	if (at && strstr(tare_str_text(names), tare_str_text(names) + at + 2) < tare_str_text(names) + at)
		tare_str_cut(names, at);
}

static int say_names(struct tare_db *db, const char *phase, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str names = { 0 };
	struct tare_db_rows *rows;
	int rc = tare_db_query(db, &rows, err,
	                       "SELECT name FROM phases WHERE kind<>'mark' GROUP BY name ORDER BY sum(ns) DESC", "");

	while (!rc && (rc = tare_db_next(rows, err)) > 0) {
		rc = 0;
		if (names.len < NAMES_LENGTH)
			add_name(&names, tare_db_name(rows, 0));
	}
	tare_db_done(rows);
	if (!rc)
		rc = tare_err_set(err, TARE_E_USAGE, "--timed %s: no run has such a phase; there %s%s", phase,
		                  names.len ? "are " : "is none", tare_str_text(&names));
	return rc;
}

/* A sweep that has only begun has no phases yet. */
static int check(struct tare_db *db, struct tare_err *err)
{
	struct tare_db_rows *rows;
	int rc =
		tare_db_query(db, &rows, err,
	                  "SELECT phase FROM timed WHERE phase IS NOT NULL AND EXISTS(SELECT 1 FROM runs WHERE status='ok')"
	                  " AND NOT EXISTS(SELECT 1 FROM run_times WHERE ns IS NOT NULL)",
	                  "");

	if (!rc)
		rc = tare_db_next(rows, err);
	if (rc > 0)
		rc = say_names(db, tare_db_name(rows, 0), err);
	tare_db_done(rows);
	return rc;
}

int tare_db_time_by(struct tare_db *db, const char *phase, struct tare_err *err)
{
	int rc = tare_db_script(db, err, "DROP VIEW IF EXISTS temp.run_times; DROP TABLE IF EXISTS temp.timed");

	if (!rc)
		rc = tare_db_do(
			db, err,
			"CREATE TEMP TABLE timed AS SELECT coalesce(?,(SELECT value FROM sweep WHERE key='timed')) AS phase", "t",
			phase);
	if (!rc)
		rc = tare_db_script(db, err, view);
	return rc ? rc : check(db, err);
}
