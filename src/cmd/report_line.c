/* SPDX-License-Identifier: Apache-2.0 */
/* `tare report --line` and `--annotate`. */
#include "cmd/report.h"

#include "base/file.h"
#include "view/line_parts.h"
#include "view/ledger_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SOURCE_MAX = 64 << 20 };

/* What is shown: a line taken apart, or a file. */
struct shown {
	struct tare_line_choice line;
	const char *file; /* NULL: the line */
	struct tare_str source, note;
	bool has_source;
};

/* The text of a file; a negative code where it cannot be had. */
static int read_source(const char *path, struct tare_str *out, struct stat *about, struct tare_err *err)
{
	int rc = tare_file_read(out, path, SOURCE_MAX, err);

	return !rc && stat(path, about) != 0 ? tare_err_set_errno(err, errno, "%s", path) : rc;
}

/* A relative name is one of where the program ran, which need not be here: so what was asked for is tried, too. */
static void find_source(struct shown *s, const char *asked, const struct tare_recording *recording)
{
	int64_t started = tare_recording_started_realtime_ns(recording);
	struct stat about;
	const char *path = s->file;
	struct tare_err err = { 0 };
	int rc = read_source(path, &s->source, &about, &err);

	if (rc == TARE_E_NOT_FOUND && strcmp(asked, path) != 0)
		rc = read_source(path = asked, &s->source, &about, NULL);
	if (rc) {
		tare_str_addf(&s->note, "%s; only lines with records are shown", err.text);
		return;
	}
	s->has_source = true;
	if (started > 0 && (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec > started)
		tare_str_addf(&s->note, "%s was changed after the recording began: its lines may not be those that ran", path);
}

static int choose(struct shown *s, const struct tare_ledger *const *ledgers, int ledger_nr,
                  const struct tare_recording *recording, const struct tare_report_options *o, struct tare_err *err)
{
	int rc;

	if (o->line)
		return tare_line_find(ledgers, ledger_nr, o->line, &s->line, err);
	rc = tare_annotate_find(ledgers, ledger_nr, o->annotate, &s->file, err);
	if (!rc)
		find_source(s, o->annotate, recording);
	return rc;
}

static void show(struct tare_emit *e, const struct tare_ledger *ledger, const struct shown *s)
{
	tare_emit_str(e, "at", ledger->at);
	if (s->file)
		tare_annotate_show(e, ledger, s->file, s->has_source ? tare_str_text(&s->source) : NULL,
		                   s->note.len ? tare_str_text(&s->note) : NULL);
	else
		tare_line_parts_show(e, ledger, &s->line);
}

/* In JSON the first ledger is the object, and the rest are `also`. */
int tare_report_line(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr,
                     const struct tare_recording *recording, const struct tare_report_options *o, struct tare_err *err)
{
	struct shown s = { 0 };
	int rc = choose(&s, ledgers, ledger_nr, recording, o, err);

	if (!rc) {
		tare_loss_text(e, ledgers[0]);
		tare_emit_uint(e, "tare", 1);
		if (tare_emit_has_members(e))
			tare_loss_json(e, ledgers[0]);
		for (int i = 0; i < ledger_nr; i++) {
			if (i == 1)
				tare_emit_open(e, "also", '[');
			if (i)
				tare_emit_open(e, NULL, '{');
			show(e, ledgers[i], &s);
			if (i)
				tare_emit_close(e);
		}
		if (ledger_nr > 1)
			tare_emit_close(e);
	}
	tare_str_free(&s.source);
	tare_str_free(&s.note);
	return rc;
}
