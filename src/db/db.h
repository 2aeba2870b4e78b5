/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_DB_DB_H
#define TARE_DB_DB_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct tare_db;
struct tare_db_rows;

/* The SQLite file of a sweep: opening it, and statements with their values. docs/SWEEP.md has the schema. */
enum tare_db_mode {
	TARE_DB_READ,
	TARE_DB_WRITE,
	TARE_DB_CREATE, /* must not exist */
};

/* "TARE" in the file's header, and the newest schema that this program knows. */
enum { TARE_DB_APPLICATION = 0x54415245, TARE_DB_VERSION = 1 };

/* Is it an SQLite file at all? For commands that take recordings too. */
bool tare_db_is(const char *path);

/* Fails with NOT_FOUND, EXISTS, FORMAT (not a sweep's), NEWER, DENIED, or as a statement does. */
int tare_db_open(struct tare_db **out, const char *path, enum tare_db_mode mode, struct tare_err *err);
void tare_db_close(struct tare_db *db); /* NULL is fine */
const char *tare_db_path(const struct tare_db *db);

/*
 * Statements. `types` has a letter for each ?: i int64_t, u uint64_t (TARE_DB_UNKNOWN: null), d double (NaN:
 * null), t const char * (NULL: null). A text is kept by reference: it must live until the statement is done.
 * They fail with IO, NO_SPACE, CORRUPT, DENIED, or LIMIT: another program has locked the file.
 */
#define TARE_DB_UNKNOWN UINT64_MAX

int tare_db_do(struct tare_db *db, struct tare_err *err, const char *sql, const char *types, ...);
int tare_db_script(struct tare_db *db, struct tare_err *err, const char *sql); /* several, no values */
int64_t tare_db_last_id(const struct tare_db *db);

/*
 *     struct tare_db_rows *rows;
 *     int rc = tare_db_query(db, &rows, &err, "SELECT name FROM params WHERE position < ?", "i", (int64_t)3);
 *
 *     while (!rc && (rc = tare_db_next(rows, &err)) > 0)
 *             puts(tare_db_text(rows, 0)), rc = 0;
 *     tare_db_done(rows);
 */
int tare_db_query(struct tare_db *db, struct tare_db_rows **out, struct tare_err *err, const char *sql,
                  const char *types, ...);
int tare_db_next(struct tare_db_rows *rows, struct tare_err *err); /* 1: a row, 0: no more, or an error */
bool tare_db_is_null(const struct tare_db_rows *rows, int column);
int64_t tare_db_int(const struct tare_db_rows *rows, int column);
double tare_db_real(const struct tare_db_rows *rows, int column);      /* NaN: null */
const char *tare_db_text(const struct tare_db_rows *rows, int column); /* NULL: null; until the next row */
/* What should never be null, and in a damaged file is: then "". */
static inline const char *tare_db_name(const struct tare_db_rows *rows, int column)
{
	const char *text = tare_db_text(rows, column);

	return text ? text : "";
}
void tare_db_done(struct tare_db_rows *rows); /* NULL is fine */

/*
 * timed.c: what of a run's time counts, all of it or that of one phase of its program. Makes the view run_times(run, whole_ns, ns), for this connection only: `ns` is how long the run was in the
 * phase, all its repeats together (of several processes the longest), or `whole_ns` where no phase is meant.
 * `phase`: its name, with or without the key=value behind it, or its path; NULL: as the sweep was told.
 * TARE_E_USAGE where runs were measured and none has such a phase.
 */
int tare_db_time_by(struct tare_db *db, const char *phase, struct tare_err *err);

#endif
