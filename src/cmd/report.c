/* SPDX-License-Identifier: Apache-2.0 */
/* `tare report`: opens recordings, and prints what was asked for. */
#include "cmd/report.h"

#include "base/print.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/report_check.h"
#include "cmd/report_file.h"
#include "cmd/report_page.h"
#include "db/db.h"
#include "view/by.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tare_opt opts[] = {
	TARE_OPT(tare_report_given, at, "at", 0, LIST, "INSTANT",
	         "peak, peak:tensors, peak:host, end, oom[#N], snapshot:N, seconds since the start (12.5, "
	         "1500ms), or phase:NAME[#N][:begin|peak|end]; again for more columns"),
	TARE_OPT(tare_report_given, by, "by", 'b', CHOICE, TARE_BY_NAMES, "group the rows another way"),
	TARE_OPT(tare_report_given, cost, "cost", 0, CHOICE, "bytes|time",
	         "what to show: memory, or where the program waited for the driver"),
	TARE_FORMAT_OPTS_OF(tare_report_given, format, TARE_REPORT_FORMATS,
	                    "how to print it: for people, as data (docs/JSON.md), or, with -o, as a file that another "
	                    "program opens (docs/FORMATS.md)"),
	TARE_OPT(tare_report_given, output, "output", 'o', STRING, "FILE",
	         "with --format: write it into FILE, which is overwritten (- is stdout)"),
	TARE_OPT(tare_report_given, sort, "sort", 's', STRING, "COLUMN",
	         "order rows by this column, by its name in the table or in JSON; -COLUMN: in reverse"),
	TARE_OPT(tare_report_given, pid, "pid", 'p', INT, "PID",
	         "only this process in detail; the others become one row each"),
	TARE_OPT(tare_report_given, graphs, "graphs", 0, INT, "N",
	         "with --by serving, of a server that is still capturing CUDA graphs: how many it captures in all"),
	TARE_OPT(tare_report_given, line, "line", 0, STRING, "FILE:N",
	         "with --parts: the source line to take apart; the end of the file's name is enough"),
	TARE_OPT(tare_report_given, parts, "parts", 0, FLAG, NULL,
	         "show what that line holds of every GPU, and what it made resident on the host, by what it is for"),
	TARE_OPT(tare_report_given, annotate, "annotate", 0, STRING, "FILE",
	         "show a source file, with what each line holds beside it; the end of its name is enough"),
	TARE_OPT(tare_report_given, job, "job", 0, STRING, "JOB",
	         "of several recordings, those of this job (torchrun's, MPI's or Slurm's name for it)"),
	TARE_OPT(tare_report_given, md, "md", 0, FLAG, NULL, "print Markdown: short for --format markdown"),
	TARE_OPT(
		tare_report_given, html, "html", 0, STRING, "FILE",
		"write a page to look at, which needs no other file and no network; with --by, --at, --pid, --cost or --sort: tables"),
	TARE_OPT(tare_report_given, confidential, "confidential", 0, FLAG, NULL,
	         "with --html: without the names of programs, files, lines, modules and owners; figures stay"),
	TARE_OPT(tare_report_given, no_source, "no-source", 0, FLAG, NULL,
	         "with --html: without the lines of the program's source that are on this machine"),
	TARE_OPT(tare_report_given, source, "source", 0, FLAG, NULL,
	         "with --html: with those lines even if the recording was made on another machine"),
	TARE_OPT(tare_report_given, baseline, "baseline", 0, STRING, "CELL",
	         "of a sweep: compare speeds with this configuration, such as 'batch=2' (the first that worked)"),
	TARE_OPT(tare_report_given, timed, "timed", 0, STRING, "PHASE",
	         "of a sweep: compare the time of this phase, not that of the whole run"),
	TARE_OPT(tare_report_given, claims, "claim", 0, LIST, "NAME=SIZE",
	         "of a sweep: show a claimed size beside the measured one; NAME is an account, ACCOUNT/OWNER or total"),
	TARE_OPT(tare_report_given, svg, "svg", 0, STRING, "FILE",
	         "instead of text, write a picture of memory over time (- is stdout)"),
	TARE_OPT_END,
};

const struct tare_command tare_command_report = {
	.name = "report",
	.synopsis = "show the ledger of a recording, or the results of a sweep",
	.operands = "[REC…|DB]",
	.description =
		"Shows what the memory of every GPU, and PyTorch's tensors on the CPU, were for: at its peak and at the end, "
		"or at the instants given with --at. Each row says where its number comes from: exact is the size that the "
		"driver or an allocator returned, weighed is the change of the driver's own counter around one call, inferred "
		"follows from a rule. What no row explains is always shown, as unexplained. Live tensors of PyTorch are split "
		"by what they are for. Where steps of training are recognised, the first step is shown beside the median of "
		"the others, and the peak of tensors as a multiple of the parameters.\n\n"
		"REC is a folder NAME.tare, or a folder of such folders; without it, the newest NAME.tare here. Several "
		"recordings are the ranks of one job: they make one ledger, in which every GPU and every process stands once; "
		"--by rank shows the ranks side by side, and which of them failed first. A recording may still be written to. "
		"Rows marked ~ are elastic: taken because the card had room.\n\n"
		"DB is the file of tare sweep: its configurations with their times, memory and speeds, which of them work, "
		"what their memory is for, and whether memory slowed them.\n\n"
		"--svg draws memory over time into FILE, which is overwritten: a panel per GPU and one for tensors on the "
		"CPU, stacked by account, with elastic memory hatched (with --by category, and always where no GPU was used, "
		"tensors are stacked by what they are for; the heap of tare run --host is stacked by line, unless --by account "
		"was given), with the peak, phases and where memory ran out. Recordings that "
		"are not of one job stand under one another, to the same scale.\n\n"
		"--html writes a page to look at in a browser, offline: the worst moment and what to do, memory over time "
		"with a range and a cursor, who asked for it, PyTorch's pool, the ledger with its evidence. Its figures are "
		"those of --json.\n\n"
		"The exit code is 0, 2 for a mistake on the command line, 125 if the recording cannot be read.",
	.examples = "tare report\n"
				"tare report train.tare\n"
				"tare report train.tare --at peak --by owner\n"
				"tare report train.tare --at 2s --at 30s\n"
				"tare report train.tare --by line --line train.py:87 --parts\n"
				"tare report train.tare --by line --annotate train.py --at peak\n"
				"tare report train.tare --by phase\n"
				"tare report server.tare --by serving --graphs 35\n"
				"tare report train.tare --by line --sort count --csv\n"
				"tare report train.tare --at 'phase:force_graph max_iter=800:peak'\n"
				"tare report train.tare --cost time\n"
				"tare report train.tare --json\n"
				"tare report train.tare --html train.html\n"
				"tare report train.tare --format pprof -o train.pb.gz\n"
				"tare report job17/ --by rank\n"
				"tare report roll.db --html roll.html\n"
				"tare report train.tare --svg train.svg\n"
				"tare report sgd.tare adam.tare --by category --svg both.svg",
	.progress = "reading",
	TARE_OPTIONS(opts, struct tare_report_given, .by = -1, .pid = -1, .format = TARE_FORMAT_DEFAULTS),
	.max_operands = SIZE_MAX,
	.run = tare_cmd_report,
};

/* What is read is what was there when it was opened, and the reader should know. */
static void say_if_open(const struct tare_recording *recording, const char *path)
{
	char text[TARE_UNITS_TEXT_MAX];

	if (tare_recording_is_open(recording))
		tare_say("%s is still being written, or what wrote it was killed: this is what "
		         "had happened by %s",
		         path, tare_units_duration(text, tare_recording_last_ns(recording)));
}

/* Besides those of tables: what goes to a file, and what has an option of its own. */
static int choose_format(const struct tare_report_given *o, enum tare_emit_format *out, struct tare_err *err)
{
	if (tare_report_file_format(o->format.name) >= 0)
		*out = TARE_EMIT_TEXT; /* it is no table */
	if (!o->md && !o->html)
		return 0;
	if (*out != TARE_EMIT_TEXT || o->format.name >= 0 || (o->md && o->html))
		return tare_err_set(err, TARE_E_USAGE, "report: --format, --json, --csv, --md and --html exclude each other");
	*out = o->md ? TARE_EMIT_MARKDOWN : TARE_EMIT_HTML;
	return 0;
}

static int print(const struct tare_report_given *o, enum tare_emit_format format, struct tare_instant *instants,
                 const struct tare_operands *rest, struct tare_err *err)
{
	struct tare_report_options options = {
		.instants = instants,
		.instant_nr = (int)o->at.count,
		.by = o->by,
		.line = o->line,
		.annotate = o->annotate,
		.is_time = o->cost == TARE_COST_TIME,
		.format = format,
		.sort = o->sort,
		.page = rest->items[0],
		.pid = o->pid,
		.graphs = o->graphs > 0 ? (uint64_t)o->graphs : 0,
		.is_file = o->output && strcmp(o->output, "-") != 0,
	};
	const char *file = o->output ? o->output : o->html;
	struct tare_recording *recording;
	int rc = tare_recording_open_all(&recording, rest->items, rest->count, o->job, err);

	if (rc)
		return rc;
	if (tare_report_is_page(o)) {
		const struct tare_report_page_options page = {
			.is_confidential = o->confidential,
			.without_source = o->no_source,
			.with_any_source = o->source,
		};

		rc = tare_report_page(o->html, recording, rest->items, rest->count, &page, err);
		if (rc == TARE_E_RANGE && !o->confidential && tare_recording_folder_nr(recording) == 1)
			rc = tare_report_print(stdout, o->html, recording, &options, err);
	} else if (tare_report_is_of_each(recording, &options) && !options.is_file) {
		rc = tare_report_print_each(recording, &options, err);
	} else {
		rc = tare_report_print(stdout, file, recording, &options, err);
		if (rc)
			tare_err_prefix(err, "%s", rest->items[0]);
	}
	if (!rc)
		say_if_open(recording, rest->items[0]);
	tare_recording_close(recording);
	return rc;
}

static int print_sweep(const struct tare_report_given *o, enum tare_emit_format format, const char *path,
                       struct tare_err *err)
{
	const struct tare_report_sweep options = {
		.path = path,
		.baseline = o->baseline,
		.timed = o->timed,
		.output = o->output ? o->output : o->html,
		.format = format,
		.claims = &o->claims,
	};

	return tare_report_sweep(&options, err);
}

static int write_file(const struct tare_report_given *o, struct tare_instant *instants,
                      const struct tare_operands *rest, struct tare_err *err)
{
	static const struct tare_instant peak = { .moment = TARE_MOMENT_PEAK, .text = "peak" };

	if (!o->at.count)
		instants[0] = peak;
	return tare_report_file(o->output, (enum tare_export_format)tare_report_file_format(o->format.name), instants,
	                        rest->items, rest->count, o->job, err);
}

int tare_cmd_report(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct tare_report_given *o = options;
	const struct tare_operands *rest = &c->rest;
	struct tare_instant *instants;
	bool is_sweep;
	int rc = choose_format(o, &c->format, err);

	if (!rc)
		rc = tare_report_check(o, err);
	if (!rc)
		rc = tare_newest_add(&c->rest, &c->names, true, "report", err);
	if (rc)
		return rc;
	is_sweep = rest->count == 1 && tare_db_is(rest->items[0]);
	rc = tare_report_check_kind(o, rest->items[0], is_sweep, err);
	instants = tare_xcalloc(o->at.count + 1, sizeof(*instants));
	for (size_t i = 0; !rc && i < o->at.count; i++)
		rc = tare_instant_parse(o->at.items[i], &instants[i], err);
	if (!rc && o->svg)
		rc = tare_report_picture(o->svg, rest->items, rest->count, o->job, o->by, err);
	else if (!rc && tare_report_file_format(o->format.name) >= 0)
		rc = write_file(o, instants, rest, err);
	else if (!rc)
		rc = is_sweep ? print_sweep(o, c->format, rest->items[0], err) : print(o, c->format, instants, rest, err);
	free(instants);
	return rc;
}
