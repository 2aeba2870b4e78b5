/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the SQLite file of a sweep, and runs statements. */
#include "db/db.h"

#include "base/array.h"
#include "base/file.h"
#include "base/xalloc.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long somebody else's transaction is waited for. */
enum { BUSY_MS = 10000, VALUE_MAX = 64 << 20 };

struct tare_db {
	sqlite3 *handle;
	char *path;
	char **strange; /* names of views and triggers, which nothing is read through */
	size_t strange_nr;
};

struct tare_db_rows {
	struct tare_db *db;
	sqlite3_stmt *statement;
};

#define NO_SPACE "there is no space left on the disk; make room, then try again (a sweep goes on with --resume)"

static const struct {
	int code, error;
	const char *text;
} failures[] = {
	{ SQLITE_BUSY, TARE_E_LIMIT, "is locked by another program; close that and try again" },
	{ SQLITE_LOCKED, TARE_E_LIMIT, "is locked by another program; close that and try again" },
	{ SQLITE_FULL, TARE_E_NO_SPACE, NO_SPACE },
	{ SQLITE_NOTADB, TARE_E_FORMAT, "is no database; name the file that tare sweep wrote" },
	{ SQLITE_CORRUPT, TARE_E_CORRUPT, "is damaged; sqlite3 FILE .recover gets out what can be read" },
	{ SQLITE_READONLY, TARE_E_DENIED, "cannot be written; check its owner and its mode, and those of its folder" },
	{ SQLITE_AUTH, TARE_E_FORMAT, "has a view or a trigger in place of a table; name the file that tare sweep wrote" },
	{ SQLITE_PERM, TARE_E_DENIED, "cannot be opened; check its owner and its mode" },
	{ SQLITE_CANTOPEN, TARE_E_DENIED, "cannot be opened; check that its folder is there and may be written" },
};

static int failed(const struct tare_db *db, int code, struct tare_err *err)
{
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		if ((code & 0xff) == failures[i].code)
			return tare_err_set(err, failures[i].error, "%s: %s", db->path, failures[i].text);
	/* SQLite keeps the cause of an I/O error; a full disk can be one of a journal. */
	if ((code & 0xff) == SQLITE_IOERR && db->handle && sqlite3_system_errno(db->handle) == ENOSPC)
		return tare_err_set(err, TARE_E_NO_SPACE, "%s: " NO_SPACE, db->path);
	return tare_err_set(err, TARE_E_IO, "%s: %s", db->path, db->handle ? sqlite3_errmsg(db->handle) : "no memory");
}

static int one_number(struct tare_db *db, const char *sql, int64_t *out, struct tare_err *err)
{
	struct tare_db_rows *rows = NULL;
	int rc = tare_db_query(db, &rows, err, sql, "");

	if (!rc)
		rc = tare_db_next(rows, err);
	if (rc > 0)
		*out = tare_db_int(rows, 0);
	tare_db_done(rows);
	return rc < 0 ? rc : 0;
}

/*
 * What is read must be tables: a view in place of one may be without end, and a trigger runs what it likes. `through` is
 * the view, the trigger or the WITH of a statement that leads to this. The views that tare sweep makes are for people.
 */
static int allow(void *arg, int action, const char *a, const char *b, const char *schema, const char *through)
{
	const struct tare_db *db = arg;

	(void)a, (void)b, (void)schema;
	if (action == SQLITE_RECURSIVE)
		return SQLITE_DENY;
	for (size_t i = 0; through && i < db->strange_nr; i++)
		if (!strcmp(db->strange[i], through))
			return SQLITE_DENY;
	return SQLITE_OK;
}

static int deny_strange(struct tare_db *db, struct tare_err *err)
{
	struct tare_db_rows *rows = NULL;
	size_t cap = 0;
	int rc = tare_db_query(db, &rows, err, "SELECT name FROM sqlite_master WHERE type IN ('view','trigger')", "");

	while (!rc && (rc = tare_db_next(rows, err)) > 0) {
		TARE_APPEND(db->strange, db->strange_nr, cap) =
			tare_xstrdup(tare_db_text(rows, 0) ? tare_db_text(rows, 0) : "");
		rc = 0;
	}
	tare_db_done(rows);
	sqlite3_set_authorizer(db->handle, allow, db);
	return rc;
}

static int check(struct tare_db *db, struct tare_err *err)
{
	int64_t application = 0, version = 0;
	int rc = one_number(db, "PRAGMA application_id", &application, err);

	if (!rc)
		rc = one_number(db, "PRAGMA user_version", &version, err);
	if (rc)
		return rc;
	if (application != TARE_DB_APPLICATION)
		return tare_err_set(err, TARE_E_FORMAT, "%s: is a database, but not one of tare sweep", db->path);
	if (version > TARE_DB_VERSION)
		return tare_err_set(err, TARE_E_NEWER,
		                    "%s: written by a newer Tare (schema %lld, this one knows %d); open it with that", db->path,
		                    (long long)version, TARE_DB_VERSION);
	return deny_strange(db, err);
}

static int open_handle(struct tare_db *db, enum tare_db_mode mode, struct tare_err *err)
{
	int flags = mode == TARE_DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	int code;

	if (mode == TARE_DB_CREATE)
		flags |= SQLITE_OPEN_CREATE;
	code = sqlite3_open_v2(db->path, &db->handle, flags, NULL);
	if (code)
		return failed(db, code, err);
	sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_busy_timeout(db->handle, getenv("TARE_TEST_DB_BUSY_MS") ? atoi(getenv("TARE_TEST_DB_BUSY_MS")) : BUSY_MS);
	if (mode == TARE_DB_READ)
		return 0;
	/*
	 * A rollback journal and not a write-ahead log: that one needs memory shared between programs, which
	 * the file systems of clusters do not have. Writes are rare: a few per run.
	 */
	return tare_db_script(db, err, "PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA; PRAGMA foreign_keys=ON;");
}

int tare_db_open(struct tare_db **out, const char *path, enum tare_db_mode mode, struct tare_err *err)
{
	struct tare_db *db;
	int fd, rc;

	if (mode == TARE_DB_CREATE && access(path, F_OK) == 0)
		return tare_err_set(err, TARE_E_EXISTS, "%s: is there already", path);
	if (mode != TARE_DB_CREATE && access(path, F_OK) != 0)
		return errno == ENOENT || errno == ENOTDIR
		           ? tare_err_set(err, TARE_E_NOT_FOUND, "%s: there is no such file", path)
		           : tare_err_set_errno(err, errno, "%s: cannot be opened", path);
	if (mode != TARE_DB_CREATE && (fd = tare_file_open(path, err)) < 0)
		return fd;
	if (mode != TARE_DB_CREATE)
		close(fd);
	db = tare_xcalloc(1, sizeof(*db));
	db->path = tare_xstrdup(path);
	rc = open_handle(db, mode, err);
	if (!rc && mode != TARE_DB_CREATE)
		rc = check(db, err);
	if (rc)
		tare_db_close(db);
	else
		*out = db;
	return rc;
}

void tare_db_close(struct tare_db *db)
{
	if (!db)
		return;
	sqlite3_close(db->handle);
	for (size_t i = 0; i < db->strange_nr; i++)
		free(db->strange[i]);
	free(db->strange);
	free(db->path);
	free(db);
}

const char *tare_db_path(const struct tare_db *db)
{
	return db->path;
}

int tare_db_script(struct tare_db *db, struct tare_err *err, const char *sql)
{
	int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

	return code ? failed(db, code, err) : 0;
}

int64_t tare_db_last_id(const struct tare_db *db)
{
	return sqlite3_last_insert_rowid(db->handle);
}

static int bind_u64(sqlite3_stmt *s, int at, uint64_t v)
{
	return v == TARE_DB_UNKNOWN ? sqlite3_bind_null(s, at) : sqlite3_bind_int64(s, at, (int64_t)v);
}

static int bind_double(sqlite3_stmt *s, int at, double v)
{
	return isnan(v) ? sqlite3_bind_null(s, at) : sqlite3_bind_double(s, at, v);
}

static int prepare(struct tare_db *db, struct tare_db_rows *rows, struct tare_err *err, const char *sql,
                   const char *types, va_list values)
{
	int code = sqlite3_prepare_v2(db->handle, sql, -1, &rows->statement, NULL);

	rows->db = db;
	for (int i = 0; !code && types[i]; i++)
		switch (types[i]) {
		case 'i':
			code = sqlite3_bind_int64(rows->statement, i + 1, va_arg(values, int64_t));
			break;
		case 'u':
			code = bind_u64(rows->statement, i + 1, va_arg(values, uint64_t));
			break;
		case 'd':
			code = bind_double(rows->statement, i + 1, va_arg(values, double));
			break;
		default:
			code = sqlite3_bind_text(rows->statement, i + 1, va_arg(values, const char *), -1, SQLITE_STATIC);
			break;
		}
	return code ? failed(db, code, err) : 0;
}

int tare_db_do(struct tare_db *db, struct tare_err *err, const char *sql, const char *types, ...)
{
	struct tare_db_rows rows = { 0 };
	va_list values;
	int rc;

	va_start(values, types);
	rc = prepare(db, &rows, err, sql, types, values);
	va_end(values);
	while (!rc && (rc = tare_db_next(&rows, err)) > 0)
		rc = 0;
	sqlite3_finalize(rows.statement);
	return rc;
}

int tare_db_query(struct tare_db *db, struct tare_db_rows **out, struct tare_err *err, const char *sql,
                  const char *types, ...)
{
	struct tare_db_rows *rows = tare_xcalloc(1, sizeof(*rows));
	va_list values;
	int rc;

	va_start(values, types);
	rc = prepare(db, rows, err, sql, types, values);
	va_end(values);
	if (rc)
		tare_db_done(rows);
	*out = rc ? NULL : rows;
	return rc;
}

int tare_db_next(struct tare_db_rows *rows, struct tare_err *err)
{
	int code = sqlite3_step(rows->statement);

	return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : failed(rows->db, code, err);
}

bool tare_db_is_null(const struct tare_db_rows *rows, int column)
{
	return sqlite3_column_type(rows->statement, column) == SQLITE_NULL;
}

int64_t tare_db_int(const struct tare_db_rows *rows, int column)
{
	return sqlite3_column_int64(rows->statement, column);
}

double tare_db_real(const struct tare_db_rows *rows, int column)
{
	return tare_db_is_null(rows, column) ? NAN : sqlite3_column_double(rows->statement, column);
}

const char *tare_db_text(const struct tare_db_rows *rows, int column)
{
	return (const char *)sqlite3_column_text(rows->statement, column);
}

void tare_db_done(struct tare_db_rows *rows)
{
	if (!rows)
		return;
	sqlite3_finalize(rows->statement);
	free(rows);
}
