/* SPDX-License-Identifier: Apache-2.0 */
/* `tare report --format NAME -o FILE`: what a file for another program is made of (src/export). */
#include "cmd/report_file.h"

#include "base/file.h"
#include "base/print.h"
#include "base/text.h"
#include "cmd/report.h"
#include "cmd/output.h"
#include "export/blocks.h"
#include "trace/recording.h"

#include <string.h>
#include <unistd.h>

/* Every name has a bar in front, the first one too many. */
#define TARE_FORMAT(KEY, NAME, RENDERER)                 "|" NAME
#define TARE_EXPORT(KEY, NAME, RENDERER, NEEDS, IS_TEXT) "|" NAME
const char tare_report_formats_with_bar[] =
#include "base/emit_format.def"
#include "export/format.def"
	;

/* What a file is made of, as long as it is written. */
struct source {
	struct tare_recording *recording;
	struct tare_ledger ledgers[2]; /* of the instant, of the end */
	struct tare_export_stacks stacks[2];
	struct tare_memory_history by_account, by_category;
	struct tare_export_blocks blocks;
	struct tare_str title;
	struct tare_export model;
};

int tare_report_file_format(int name)
{
	return name < TARE_EMIT_FORMAT_NR ? -1 : name - TARE_EMIT_FORMAT_NR;
}

static bool has_tensors(const struct tare_memory_history *h)
{
	for (int i = 0; i < h->panel_nr; i++)
		for (int k = 0; k < h->panels[i].band_nr; k++)
			if (!strcmp(h->panels[i].bands[k].key, "tensors"))
				return true;
	return false;
}

static void read_ledgers(struct source *s, struct tare_instant *at, int needs)
{
	struct tare_instant instants[2] = { *at, { .moment = TARE_MOMENT_END, .text = "end" } };
	struct tare_ledger_opts opts = { .without_tensors = true };
	int nr = needs & TARE_EXPORT_END ? 2 : 1;

	if (needs & TARE_EXPORT_TIME)
		opts.history = &s->by_account;
	tare_ledger_of_recording(s->recording, &opts, instants, nr, s->ledgers);
	for (int i = 0; i < nr; i++)
		tare_export_stacks_build(&s->stacks[i], &s->ledgers[i]);
	s->model.ledger = &s->ledgers[0];
	s->model.stacks = &s->stacks[0];
	if (nr == 2) {
		s->model.end_ledger = &s->ledgers[1];
		s->model.end = &s->stacks[1];
	}
}

/* Memory over time once more, with tensors told apart: what they are for is known when all was read. */
static void read_categories(struct source *s)
{
	static const struct tare_instant end = { .moment = TARE_MOMENT_END, .text = "end" };
	const struct tare_ledger_opts opts = { .without_tensors = true,
		                                   .history = &s->by_category,
		                                   .history_by_category = &s->by_account };
	struct tare_ledger ledger;

	tare_ledger_of_recording(s->recording, &opts, &end, 1, &ledger);
	tare_ledger_free(&ledger);
}

static void read_all(struct source *s, struct tare_instant *at, int needs)
{
	read_ledgers(s, at, needs);
	if (needs & TARE_EXPORT_TIME) {
		s->model.by_account = &s->by_account;
		if (has_tensors(&s->by_account)) {
			read_categories(s);
			s->model.by_category = &s->by_category;
		}
	}
	if (needs & TARE_EXPORT_BLOCKS) {
		tare_recording_rewind(s->recording);
		tare_export_blocks_read(&s->blocks, s->recording, &s->ledgers[0]);
		s->model.blocks = &s->blocks;
	}
}

static void discard(struct source *s)
{
	tare_export_blocks_free(&s->blocks);
	for (int i = 0; i < 2; i++) {
		tare_export_stacks_free(&s->stacks[i]);
		tare_ledger_free(&s->ledgers[i]);
	}
	tare_memory_history_free(&s->by_account);
	tare_memory_history_free(&s->by_category);
	tare_str_free(&s->title);
	tare_str_free(&s->model.notes);
	tare_recording_close(s->recording);
}

/* Each line of the notes is a sentence. */
static void say(const char *file, const struct tare_str *notes)
{
	const char *line = tare_str_text(notes), *end;

	for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
		tare_say("%s: %.*s", file, (int)(end - line), line);
}

/* What is no text goes to stdout as it is: to a pipe or a file, as no terminal takes it. */
static int write_it(const char *file, const struct tare_str *text, bool is_text, struct tare_err *err)
{
	bool is_stdout = !strcmp(file, "-");
	int rc;

	if (is_text)
		return tare_cmd_write_file(file, text, err);
	if (is_stdout && isatty(STDOUT_FILENO))
		return tare_err_set(err, TARE_E_USAGE, "report: this format is none for a terminal; say -o FILE");
	rc = tare_file_write_bytes(is_stdout ? "/dev/stdout" : file, text, 0666);
	return rc ? tare_err_set_errno(err, -rc, "%s: cannot be written", is_stdout ? "the output" : file) : 0;
}

static int render(struct source *s, const char *file, const struct tare_export_info *format, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	int rc;

	s->model.title = tare_str_text(&s->title);
	rc = format->render(&text, &s->model, err);
	if (!rc)
		rc = write_it(file, &text, format->is_text, err);
	if (!rc)
		say(file, &s->model.notes);
	return rc;
}

/* As every text of the model, without what is no UTF-8 and without what steers a terminal. */
static void name(struct source *s, const char *const *paths, size_t path_nr)
{
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	tare_report_title(&title, &s->ledgers[0], paths, path_nr);
	tare_text_add_name(&s->title, tare_str_text(&title));
}

int tare_report_file(const char *file, enum tare_export_format format, struct tare_instant *at,
                     const char *const *paths, size_t path_nr, const char *job, struct tare_err *err)
{
	struct source s = { 0 };
	int rc = tare_recording_open_all(&s.recording, paths, path_nr, job, err);

	if (rc)
		return rc;
	rc = tare_report_check_picture(s.recording, err);
	if (!rc)
		rc = tare_instants_settle(s.recording, at, 1, err);
	if (!rc) {
		read_all(&s, at, tare_exports[format].needs);
		s.model.began_ns = tare_recording_started_realtime_ns(s.recording);
		name(&s, paths, path_nr);
		rc = render(&s, file, &tare_exports[format], err);
	}
	discard(&s);
	return rc;
}
