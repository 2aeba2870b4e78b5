/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/report_print.h"
#include "view/by.h"

#include <stdio.h>
#include <stdlib.h>

enum { COST_BYTES, COST_TIME };

struct options {
	struct tare_operands at;
	int by, cost;
	bool json, csv;
	int64_t pid;
	const char *job;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, at, "at", 0, LIST, "INSTANT",
		 "peak, peak:tensors, peak:host, end, oom[#N], snapshot:N, seconds since the start (12.5, "
		 "1500ms), or phase:NAME[#N][:begin|peak|end]; again for more columns"),
	TARE_OPT(options, by, "by", 'b', CHOICE, TARE_BY_NAMES, "group the rows another way"),
	TARE_OPT(options, cost, "cost", 0, CHOICE, "bytes|time",
		 "what to show: memory, or where the program waited for the driver"),
	TARE_OPT(options, json, "json", 0, FLAG, NULL, "print JSON, as docs/JSON.md describes it"),
	TARE_OPT(options, csv, "csv", 0, FLAG, NULL, "print CSV, sizes in bytes"),
	TARE_OPT(options, pid, "pid", 'p', INT, "PID",
		 "only this process in detail; the others become one row each"),
	TARE_OPT(options, job, "job", 0, STRING, "JOB",
		 "of several recordings, those of this job (torchrun's, MPI's or Slurm's name for it)"),
	TARE_OPT_END,
};

const struct tare_command tare_command_report = {
	.name = "report",
	.synopsis = "show the ledger of a recording",
	.operands = "REC…",
	.description =
		"Shows what the memory of every GPU was used for: at its peak and at the end, or at the "
		"instants given with --at. Each row says where its number comes from: exact is the size "
		"that the driver or an allocator returned, weighed is the change of the driver's own "
		"counter around one call, inferred follows from a rule. What is left over is called "
		"unexplained and is always shown.\n\n"
		"REC is a folder NAME.tare, or a folder of such folders. Several are the ranks of one job: "
		"they are one ledger, in which every GPU and every process stands once, and --by rank "
		"shows them side by side and which of them failed first. A recording may "
		"still be written to. Rows marked ~ are elastic: taken because the card had room.\n\n"
		"The exit code is 0, 2 for a mistake on the command line, 125 if the recording cannot be "
		"read.",
	.examples = "tare report train.tare\n"
		    "tare report train.tare --at peak --by owner\n"
		    "tare report train.tare --at 2s --at 30s\n"
		    "tare report train.tare --by phase\n"
		    "tare report train.tare --at 'phase:force_graph max_iter=800:peak'\n"
		    "tare report train.tare --cost time\n"
		    "tare report train.tare --json\n"
		    "tare report job17/ --by rank",
	.opts = opts,
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.run = tare_cmd_report,
};

static int check(const struct options *o, struct tare_err *err)
{
	if (o->json && o->csv)
		return tare_err_set(err, TARE_E_USAGE,
				    "report: --json and --csv exclude each other");
	if (o->cost == COST_TIME && o->by >= 0)
		return tare_err_set(err, TARE_E_USAGE,
				    "report: --cost time is by account and call "
				    "and takes no --by");
	if (o->by == TARE_BY_PHASE && o->at.count)
		return tare_err_set(err, TARE_E_USAGE,
				    "report: --by phase shows every phase of the recording and "
				    "takes no --at");
	return 0;
}

/* What is read is what was there when it was opened, and the reader should know. */
static void say_if_open(const struct tare_recording *recording, const char *path)
{
	char text[TARE_UNITS_TEXT_MAX];

	if (tare_recording_is_open(recording))
		fprintf(stderr,
			"tare: %s is still being written, or its tare was killed: this is what "
			"had happened by %s\n",
			path, tare_units_duration(text, tare_recording_last_ns(recording)));
}

static int print(const struct options *o, struct tare_instant *instants,
		 const struct tare_operands *rest, struct tare_err *err)
{
	struct tare_report_options options = {
		.instants = instants,
		.instant_nr = (int)o->at.count,
		.by = o->by,
		.is_time = o->cost == COST_TIME,
		.format = o->json  ? TARE_EMIT_JSON
			  : o->csv ? TARE_EMIT_CSV
				   : TARE_EMIT_TEXT,
		.pid = o->pid,
	};
	struct tare_recording *recording;
	int rc = tare_recording_open_all(&recording, rest->items, rest->count, o->job, err);

	if (rc)
		return rc;
	rc = tare_report_print(stdout, recording, &options, err);
	if (rc)
		tare_err_prefix(err, "%s", rest->items[0]);
	else
		say_if_open(recording, rest->items[0]);
	tare_recording_close(recording);
	return rc;
}

int tare_cmd_report(int argc, char **argv)
{
	struct options o = { .by = -1, .pid = -1 };
	struct tare_instant *instants = NULL;
	struct tare_operands rest;
	struct tare_err err = { 0 };
	int code = tare_cmd_parse(&tare_command_report, argc, argv, &o, &rest), rc;

	if (code >= 0)
		return code;
	rc = check(&o, &err);
	instants = tare_xcalloc(o.at.count + 1, sizeof(*instants));
	for (size_t i = 0; !rc && i < o.at.count; i++)
		rc = tare_instant_parse(o.at.items[i], &instants[i], &err);
	if (!rc)
		rc = print(&o, instants, &rest, &err);
	free(instants);
	tare_operands_free(&o.at);
	tare_operands_free(&rest);
	return rc ? tare_cmd_fail(&err) : TARE_EXIT_OK;
}
