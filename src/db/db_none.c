/* SPDX-License-Identifier: Apache-2.0 */
/* In place of db.c where the machine that built this had no SQLite: nothing can be opened. */
#include "db/db.h"

#include <math.h>
#include <stddef.h>

static int unsupported(struct tare_err *err)
{
	return tare_err_set(
		err, TARE_E_UNSUPPORTED,
		"this tare was built without SQLite, so it has no sweeps; build it where libsqlite3-dev is "
		"installed");
}

int tare_db_open(struct tare_db **out, const char *path, enum tare_db_mode mode,
		 struct tare_err *err)
{
	(void)out;
	(void)path;
	(void)mode;
	return unsupported(err);
}

void tare_db_close(struct tare_db *db)
{
	(void)db;
}

const char *tare_db_path(const struct tare_db *db)
{
	(void)db;
	return "";
}

int tare_db_do(struct tare_db *db, struct tare_err *err, const char *sql, const char *types, ...)
{
	(void)db;
	(void)sql;
	(void)types;
	return unsupported(err);
}

int tare_db_script(struct tare_db *db, struct tare_err *err, const char *sql)
{
	(void)db;
	(void)sql;
	return unsupported(err);
}

int64_t tare_db_last_id(const struct tare_db *db)
{
	(void)db;
	return 0;
}

int tare_db_query(struct tare_db *db, struct tare_db_rows **out, struct tare_err *err,
		  const char *sql, const char *types, ...)
{
	(void)db;
	(void)sql;
	(void)types;
	*out = NULL;
	return unsupported(err);
}

int tare_db_next(struct tare_db_rows *rows, struct tare_err *err)
{
	(void)rows;
	return unsupported(err);
}

bool tare_db_is_null(const struct tare_db_rows *rows, int column)
{
	(void)rows;
	(void)column;
	return true;
}

int64_t tare_db_int(const struct tare_db_rows *rows, int column)
{
	(void)rows;
	(void)column;
	return 0;
}

double tare_db_real(const struct tare_db_rows *rows, int column)
{
	(void)rows;
	(void)column;
	return NAN;
}

const char *tare_db_text(const struct tare_db_rows *rows, int column)
{
	(void)rows;
	(void)column;
	return NULL;
}

void tare_db_done(struct tare_db_rows *rows)
{
	(void)rows;
}
