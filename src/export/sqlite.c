/* SPDX-License-Identifier: Apache-2.0 */
/* Everything of the model as tables, for questions in SQL. docs/FORMATS.md has the schema; columns are added, never changed. */
#include "base/file.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "db/db.h"
#include "export/course.h"

#include <stdlib.h>

/* "tarE" in the file's header: it is no sweep's. */
static const char schema[] =
	"PRAGMA application_id=0x74617245;"
	"PRAGMA user_version=1;"
	"BEGIN;"
	"CREATE TABLE info (key TEXT PRIMARY KEY, value);"
	"CREATE TABLE devices (id INTEGER PRIMARY KEY, gpu INTEGER, host TEXT, name TEXT, t_ns INTEGER,"
	" total_bytes INTEGER, used_bytes INTEGER, unexplained_bytes INTEGER, used_evidence TEXT,"
	" is_simulated INTEGER);"
	"CREATE TABLE ledger (device INTEGER, path TEXT, label TEXT, account TEXT, pid INTEGER, generation INTEGER,"
	" is_end INTEGER, elastic INTEGER, bytes INTEGER, count INTEGER, evidence TEXT);"
	"CREATE TABLE frames (id INTEGER PRIMARY KEY, text TEXT, function TEXT, file TEXT, line INTEGER, is_row INTEGER);"
	"CREATE TABLE stacks (id INTEGER PRIMARY KEY, device INTEGER, pid INTEGER, bytes INTEGER, count INTEGER,"
	" ever_bytes INTEGER, ever INTEGER, evidence TEXT);"
	"CREATE TABLE stack_frames (stack INTEGER, depth INTEGER, frame INTEGER, PRIMARY KEY (stack, depth)) WITHOUT ROWID;"
	"CREATE TABLE course (device INTEGER, kind TEXT, t_ns INTEGER, key TEXT, label TEXT, bytes INTEGER);"
	"CREATE TABLE phases (name TEXT, begin_ns INTEGER, end_ns INTEGER, count INTEGER, is_mark INTEGER);"
	"CREATE TABLE ooms (device INTEGER, t_ns INTEGER, pid INTEGER, asked_bytes INTEGER, source TEXT, count INTEGER);";

/* What writes stops at the first failure. */
struct writer {
	struct tare_db *db;
	const struct tare_export *x;
	struct tare_arena arena; /* of texts */
	struct tare_err *err;
	int rc;
};

/* What readers take: UTF-8, which a name need not be. */
static const char *text(struct writer *w, const char *any)
{
	struct tare_str clean = { 0 };
	const char *kept;

	if (!any)
		return NULL;
	tare_text_add_name(&clean, any);
	kept = tare_arena_strdup(&w->arena, tare_str_text(&clean));
	tare_str_free(&clean);
	return kept;
}

#define INSERT(W, SQL, TYPES, ...)                                                                                     \
	do {                                                                                                               \
		if (!(W)->rc)                                                                                                  \
			(W)->rc = tare_db_do((W)->db, (W)->err, SQL, TYPES, __VA_ARGS__);                                          \
	} while (0)

/* The CPU is device -1, as it is no row of `devices`. */
static int64_t device_id(const struct tare_export *x, const struct tare_device_ledger *d)
{
	return d ? d - x->ledger->devices : -1;
}

static void add_info(struct writer *w)
{
	INSERT(w, "INSERT INTO info VALUES ('title', ?)", "t", w->x->title);
	INSERT(w, "INSERT INTO info VALUES ('at', ?)", "t", w->x->ledger->at);
	INSERT(w, "INSERT INTO info VALUES ('tare', ?)", "t", TARE_VERSION);
	INSERT(w, "INSERT INTO info VALUES ('began_ns', ?)", "i", w->x->began_ns);
	INSERT(w, "INSERT INTO info VALUES ('notes', ?)", "t", tare_str_text(&w->x->notes));
}

static void add_rows(struct writer *w, const struct tare_device_ledger *d, int64_t id)
{
	for (int i = 0; i < d->row_nr; i++) {
		const struct tare_row *r = &d->rows[i];

		INSERT(w, "INSERT INTO ledger VALUES (?,?,?,?,?,?,?,?,?,?,?)", "itttiiiiiut", id, text(w, r->path),
		       text(w, r->label), tare_accounts[r->account].key, r->pid, r->generation, (int64_t)tare_row_is_end(r),
		       (int64_t)r->elastic, r->bytes, r->count, tare_evidence_name(r->evidence));
	}
}

static void add_devices(struct writer *w)
{
	for (int i = 0; i < w->x->ledger->device_nr; i++) {
		const struct tare_device_ledger *d = &w->x->ledger->devices[i];

		INSERT(w, "INSERT INTO devices VALUES (?,?,?,?,?,?,?,?,?,?)", "iittiuuiti", (int64_t)i, (int64_t)d->index,
		       text(w, d->host), text(w, d->name), d->t_ns, d->total, d->used, d->unexplained,
		       tare_evidence_name(d->used_by), (int64_t)d->simulated);
		add_rows(w, d, i);
	}
}

static void add_stacks(struct writer *w)
{
	const struct tare_export_stacks *s = w->x->stacks;

	for (size_t i = 0; i < s->frame_nr; i++)
		INSERT(w, "INSERT INTO frames VALUES (?,?,?,?,?,?)", "itttui", (int64_t)i, s->frames[i].text,
		       s->frames[i].function, s->frames[i].file[0] ? s->frames[i].file : NULL,
		       s->frames[i].line ? (uint64_t)s->frames[i].line : TARE_DB_UNKNOWN, (int64_t)s->frames[i].is_row);
	for (size_t i = 0; i < s->nr; i++) {
		const struct tare_export_sample *sample = &s->samples[i];

		INSERT(w, "INSERT INTO stacks VALUES (?,?,?,?,?,?,?,?)", "iiuiuiut", (int64_t)i,
		       device_id(w->x, sample->device), sample->pid < 0 ? TARE_DB_UNKNOWN : (uint64_t)sample->pid,
		       sample->bytes, sample->count, sample->ever_bytes, sample->ever, tare_evidence_name(sample->evidence));
		for (uint32_t f = 0; f < sample->frame_nr; f++)
			INSERT(w, "INSERT INTO stack_frames VALUES (?,?,?)", "iii", (int64_t)i, (int64_t)f,
			       (int64_t)sample->frames[f]);
	}
}

static void add_course(struct writer *w, const struct tare_export_course *c)
{
	struct tare_memory_history_point point;

	for (size_t at = 0; tare_export_course_next(c, &at, &point);)
		for (int b = 0; b < c->panel->band_nr; b++)
			INSERT(w, "INSERT INTO course VALUES (?,?,?,?,?,?)", "ititti", (int64_t)c->panel->device, c->by, point.t_ns,
			       text(w, c->panel->bands[b].key), text(w, c->panel->bands[b].label), point.bytes[b]);
}

static void add_time(struct writer *w)
{
	const struct tare_memory_history *h = w->x->by_account;
	struct tare_export_courses courses;

	tare_export_courses_make(&courses, w->x);
	for (size_t i = 0; i < courses.nr; i++)
		add_course(w, &courses.items[i]);
	tare_export_courses_free(&courses);
	for (size_t i = 0; i < h->span_nr; i++)
		INSERT(w, "INSERT INTO phases VALUES (?,?,?,?,?)", "tiiui", text(w, h->spans[i].name), h->spans[i].begin_ns,
		       h->spans[i].end_ns, h->spans[i].count, (int64_t)h->spans[i].is_mark);
	for (int i = 0; i < w->x->ledger->oom_nr; i++) {
		const struct tare_oom *o = &w->x->ledger->ooms[i];

		INSERT(w, "INSERT INTO ooms VALUES (?,?,?,?,?,?)", "iiiutu", (int64_t)o->device, o->t_ns, o->pid, o->asked,
		       text(w, o->source), o->count);
	}
}

static int write_tables(const char *path, const struct tare_export *x, struct tare_err *err)
{
	struct writer w = { .x = x, .err = err };

	w.rc = tare_db_open(&w.db, path, TARE_DB_CREATE, err);
	if (w.rc)
		return w.rc;
	w.rc = tare_db_script(w.db, err, schema);
	add_info(&w);
	add_devices(&w);
	add_stacks(&w);
	add_time(&w);
	if (!w.rc)
		w.rc = tare_db_script(w.db, err, "COMMIT");
	tare_db_close(w.db);
	tare_arena_free(&w.arena);
	return w.rc;
}

int tare_export_sqlite(struct tare_str *out, struct tare_export *x, struct tare_err *err)
{
	char *folder = NULL;
	struct tare_str path = { 0 };
	int rc = tare_temp_folder_make(NULL, "tare-sqlite-XXXXXX", &folder, err);

	if (rc)
		return rc;
	tare_export_note_course(x);
	tare_export_note_stacks(x);
	tare_str_addf(&path, "%s/report.db", folder);
	rc = write_tables(tare_str_text(&path), x, err);
	if (!rc)
		rc = tare_file_read(out, tare_str_text(&path), SIZE_MAX / 2, err);
	tare_str_free(&path);
	tare_temp_folder_remove(folder);
	return rc;
}
