/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what `tare fit` and `tare plan` fit: a table, a sweep's file or a recording. */
#include "cmd/fit.h"

#include "base/str.h"
#include "db/db.h"
#include "fit/data.h"
#include "ledger/build.h"
#include "trace/recording.h"
#include "view/phase.h"

#include <string.h>
#include <sys/stat.h>

enum { PHASE_PARAMS_MAX = 12 };

static void set_params(struct tare_series_list *list, struct tare_series *s, const char *path)
{
	struct tare_phase_param params[PHASE_PARAMS_MAX];
	size_t count;

	for (const char *at = path; at; at = strchr(at, '/')) { /* those of the phases around it too */
		TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

		at += *at == '/';
		tare_str_add_n(&name, at, strcspn(at, "/"));
		count = tare_phase_params(tare_str_text(&name), params, PHASE_PARAMS_MAX);
		for (size_t i = 0; i < count && i < PHASE_PARAMS_MAX; i++) {
			char *key = tare_arena_strndup(&list->arena, params[i].key, params[i].key_len);

			if (strcmp(key, s->name))
				tare_series_set(list, s, key, tare_arena_strndup(&list->arena, params[i].value, params[i].value_len));
		}
	}
}

static void add_change(struct tare_series_list *list, const struct tare_phase_row *row, const char *account,
                       double bytes)
{
	struct tare_str name = { 0 };
	struct tare_series *s;

	tare_str_addf(&name, "%s%s%s", tare_series_phase_name(list, row->path), account ? ": " : "",
	              account ? account : "");
	s = tare_series_get(list, TARE_SERIES_CHANGE, tare_str_text(&name));
	tare_str_free(&name);
	tare_series_row(list, s);
	set_params(list, s, row->path);
	tare_series_set_number(list, s, s->name, bytes / (double)(row->repeats ? row->repeats : 1));
}

static bool has_params(const struct tare_phase_row *row)
{
	return row->kind != TARE_PHASE_MOMENT && tare_phase_params(row->path, NULL, 0) > 0;
}

/* Has any phase of this name changed the account? Those that did not are 0 then. */
static bool is_changed(struct tare_series_list *list, const struct tare_ledger *l, const char *name, int account)
{
	for (int i = 0; i < l->phase_nr; i++)
		for (int k = 0; k < l->phases[i].device_nr && has_params(&l->phases[i]); k++)
			for (int p = 0; p < l->phases[i].devices[k].part_nr; p++)
				if ((int)l->phases[i].devices[k].parts[p].account == account &&
				    !strcmp(tare_series_phase_name(list, l->phases[i].path), name))
					return true;
	return false;
}

static void add_phase(struct tare_series_list *list, const struct tare_ledger *l, const struct tare_phase_row *row)
{
	const char *name = tare_series_phase_name(list, row->path);
	double change = 0, rise = 0, parts[TARE_ACCOUNT_NR] = { 0 };

	for (int k = 0; k < row->device_nr; k++) {
		const struct tare_phase_on_device *d = &row->devices[k];

		if (d->index < 0 && l->opened_gpu) /* the CPU's tensors are no part of a GPU */
			continue;
		change += (double)d->change;
		rise += (double)(d->peak - d->used_before);
		for (int p = 0; p < d->part_nr; p++)
			parts[d->parts[p].account] += (double)d->parts[p].bytes;
	}
	add_change(list, row, NULL, change);
	if (!strcmp(row->source, "print"))
		return;            /* a program printed that, and nothing of what it is made of (tare import) */
	if (row->repeats == 1) /* of several, the peak is of one and the begin of another */
		add_change(list, row, "most above its begin", rise);
	for (int a = 0; a < TARE_ACCOUNT_NR; a++)
		if (is_changed(list, l, name, a))
			add_change(list, row, tare_accounts[a].key, parts[a]);
}

static int read_recording(const char *path, struct tare_series_list *list, struct tare_err *err)
{
	static const struct tare_instant end = { .moment = TARE_MOMENT_END, .text = "end" };
	struct tare_recording *recording;
	struct tare_ledger ledger;
	bool is_simulated;
	int rc = tare_recording_open(&recording, path, err);

	if (rc)
		return rc;
	tare_ledger_of_recording(recording, NULL, &end, 1, &ledger);
	for (int i = 0; i < ledger.phase_nr; i++)
		if (has_params(&ledger.phases[i]) && ledger.phases[i].device_nr)
			add_phase(list, &ledger, &ledger.phases[i]);
	is_simulated = tare_recording_is_simulated(recording);
	tare_ledger_free(&ledger);
	tare_recording_close(recording);
	list->is_simulated = is_simulated;
	if (!list->count)
		return tare_err_set(err, TARE_E_EMPTY,
		                    "%s: no phase has parameters in its name (name=value, docs/PHASES.md), so one "
		                    "recording has nothing to fit; tare sweep measures several",
		                    path);
	return 0;
}

/* As Tare writes figures of a simulated GPU into a table: that column is no parameter. */
static bool take_simulated(struct tare_table *t)
{
	size_t column = tare_table_column(t, "simulated");
	bool is_simulated = false;
	double v;

	for (size_t r = 0; column != TARE_TABLE_NONE && r < t->row_count; r++) {
		const char *text = tare_table_cell(t, r, column);

		is_simulated |= text && (!strcmp(text, "true") || (tare_table_number(text, &v) && v > 0));
	}
	if (is_simulated)
		t->columns[column] = "";
	return is_simulated;
}

int tare_fit_source_open(struct tare_fit_source *out, const char *path, struct tare_err *err)
{
	struct stat st;
	struct tare_db *db;
	int rc;

	memset(out, 0, sizeof(*out));
	if (strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode)) {
		rc = read_recording(path, &out->list, err);
	} else if (strcmp(path, "-") && tare_db_is(path)) {
		rc = tare_db_open(&db, path, TARE_DB_READ, err);
		if (!rc) {
			rc = tare_series_of_db(db, &out->list, err);
			if (!rc)
				rc = tare_series_failed_of_db(db, &out->failed, err);
			tare_db_close(db);
		}
	} else {
		out->is_table = true;
		rc = tare_table_read(path, &out->arena, &out->table, err);
		out->is_simulated = !rc && take_simulated(&out->table);
	}
	out->is_simulated |= out->list.is_simulated;
	if (rc)
		tare_fit_source_close(out);
	return rc;
}

int tare_fit_split_params(const char *text, struct tare_arena *arena, const char **names, size_t *count,
                          struct tare_err *err)
{
	*count = 0;
	for (const char *at = text; at;) {
		size_t len = strcspn(at, ",");

		if (!len || *count == TARE_FIT_PARAMS_MAX)
			return tare_err_set(err, TARE_E_USAGE, "--params takes up to %d names with commas between: a,b",
			                    TARE_FIT_PARAMS_MAX);
		names[(*count)++] = tare_arena_strndup(arena, at, len);
		at = at[len] ? at + len + 1 : NULL;
	}
	return 0;
}
