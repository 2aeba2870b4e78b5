/* SPDX-License-Identifier: Apache-2.0 */
/* `tare calibrate --libraries`: records workspaces of cuDNN, compares them with a table, and writes one. */
#include "cmd/calibrate_libraries.h"

#include "base/file.h"
#include "base/self_path.h"
#include "base/simulated.h"
#include "calibrate/libraries.h"
#include "cmd/cmd.h"
#include "cmd/output.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_LIMIT ((size_t)256 << 20)

/* A table that comes with Tare, beside what was recorded now. */
struct row {
	const char *card;
	struct tare_str cudnn;
	uint64_t asked, known, equal;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, card, "card", "TABLE OF", TEXT), TARE_COLUMN(row, cudnn, "cudnn", "cuDNN", TEXT),
	TARE_COLUMN(row, asked, "asked", "asked", COUNT), TARE_COLUMN(row, known, "known", "in it", COUNT),
	TARE_COLUMN(row, equal, "equal", "equal", COUNT),
};

/* "9.19.0" of 91900, "8.9.7" of 8907. */
static void add_version(struct tare_str *out, uint64_t version)
{
	uint64_t whole = version >= 90000 ? 10000 : 1000;

	tare_str_addf(out, "%" PRIu64 ".%" PRIu64 ".%" PRIu64, version / whole, version % whole / 100, version % 100);
}

static void compare(struct row *row, const struct sim_conv_table *ours, const struct sim_conv_table *other)
{
	size_t at = 0;

	row->asked = ours->count;
	for (size_t i = 0; i < ours->count; i++) {
		while (at < other->count && other->hashes[at] < ours->hashes[i])
			at++;
		if (at == other->count || other->hashes[at] != ours->hashes[i])
			continue;
		row->known++;
		row->equal += other->bytes[at] == ours->bytes[i];
	}
}

static void add_rows(struct tare_emit *e, const struct sim_conv_table *ours)
{
	TARE_FREED_BY(sim_conv_tables_end) struct sim_conv_tables shipped = { 0 };
	char folder[PATH_MAX], path[PATH_MAX + 32];

	if (tare_self_path(TARE_SELF_SIM_DIR, folder, sizeof(folder)) == 0) {
		snprintf(path, sizeof(path), "%s/tables", folder);
		sim_conv_tables_open(&shipped, path);
	}
	for (size_t i = 0; i < shipped.count; i++) {
		struct row row = { .card = shipped.tables[i].card };

		add_version(&row.cudnn, shipped.tables[i].cudnn);
		compare(&row, ours, &shipped.tables[i]);
		tare_emit_add(e, &row);
		tare_str_free(&row.cudnn);
	}
}

static void add_notes(struct tare_emit *e, const struct tare_libraries *l)
{
	tare_emit_note(e, "%zu of %zu convolutions answered in %.1f s by %s", l->table.count, l->asked, (double)l->ns / 1e9,
	               l->cudnn);
	if (l->refused)
		tare_emit_note(e, "cuDNN has no plan for %zu", l->refused);
	if (l->not_understood)
		tare_emit_note(e, "%zu lines are no convolutions", l->not_understood);
	if (l->lost)
		tare_emit_note(e, "! %zu were not answered: %s", l->lost, l->how);
}

static void show(struct tare_str *out, const struct tare_calibrate_libraries *o, const struct tare_libraries *l)
{
	TARE_FREED_BY(tare_str_free) struct tare_str version = { 0 }, title = { 0 };
	struct tare_emit e;

	add_version(&version, l->table.cudnn);
	tare_str_addf(&title, "%s%s, cuDNN %s", l->table.card, tare_simulated_mark(o->sim), tare_str_text(&version));
	tare_emit_begin(&e, o->format, out);
	e.style = tare_terminal_style(stdout);
	tare_emit_uint(&e, "tare", 1);
	tare_emit_str(&e, "card", l->table.card);
	tare_emit_flag(&e, "simulated", o->sim != NULL);
	tare_emit_str(&e, "cudnn", tare_str_text(&version));
	tare_emit_str(&e, "library", l->cudnn);
	tare_emit_int(&e, "duration_ns", l->ns);
	tare_emit_uint(&e, "asked", l->asked);
	tare_emit_uint(&e, "answered", l->table.count);
	tare_emit_uint(&e, "refused", l->refused);
	tare_emit_uint(&e, "lost", l->lost);
	tare_emit_uint(&e, "not_understood", l->not_understood);
	tare_emit_table(&e, "tables", tare_str_text(&title), TARE_COLUMNS(columns));
	add_rows(&e, &l->table);
	tare_emit_table_end(&e);
	add_notes(&e, l);
	tare_emit_end(&e);
}

static int write_table(const char *path, const struct tare_libraries *l, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str bytes = { 0 };
	size_t size = 0;
	unsigned char *packed = sim_conv_table_pack(&l->table, &size);
	int rc;

	if (!packed)
		return tare_err_set_errno(err, ENOMEM, "%s: the table cannot be written", path);
	tare_str_add_n(&bytes, (const char *)packed, size);
	free(packed);
	rc = tare_file_write_bytes(path, &bytes, 0666);
	return rc ? tare_err_set_errno(err, -rc, "%s: the table cannot be written", path) : 0;
}

int tare_calibrate_libraries(const struct tare_calibrate_libraries *o, int *code, struct tare_err *err)
{
	struct tare_libraries_options how = { .device = (int)o->device, .cudnn = o->cudnn, .sim = o->sim };
	TARE_FREED_BY(tare_str_free) struct tare_str keys = { 0 }, out = { 0 };
	struct tare_libraries l = { 0 };
	int rc;

	if (o->sim && o->output)
		return tare_err_set(err, TARE_E_USAGE,
		                    "calibrate: --libraries writes what a card says; a simulated one "
		                    "(--sim) only says what it knows");
	rc = tare_file_read_input(&keys, o->keys, KEYS_LIMIT, err);
	if (rc == 0)
		rc = tare_libraries_record(&how, &keys, &l, err);
	if (rc)
		return tare_err_prefix(err, "--libraries"), rc;
	show(&out, o, &l);
	*code = l.lost ? TARE_EXIT_FAILED : TARE_EXIT_OK;
	if (o->output)
		rc = write_table(o->output, &l, err);
	rc = rc ? rc : tare_cmd_write_file("-", &out, err);
	tare_libraries_free(&l);
	return rc;
}
