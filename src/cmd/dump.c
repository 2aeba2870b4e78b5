/* SPDX-License-Identifier: Apache-2.0 */
/* `tare dump`: prints the records of a log or of a recording as they lie there. */
#include "base/hint.h"
#include "base/print.h"
#include "cmd/cmd.h"
#include "cmd/dump_print.h"
#include "cmd/output.h"
#include "trace/recording.h"

#include <string.h>

struct options {
	struct tare_operands kinds;
	int64_t pid;
	bool offsets, json;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, kinds, "kind", 'k', LIST, "KIND",
	         "only records of this kind, such as event; again for more kinds"),
	TARE_OPT(options, pid, "pid", 'p', INT, "PID", "only the logs of this process"),
	TARE_OPT(options, offsets, "offsets", 0, FLAG, NULL, "also print where in its file a record lies (@offset+bytes)"),
	TARE_OPT(options, json, "json", 0, FLAG, NULL, "print one JSON object per line"),
	TARE_OPT_END,
};

const struct tare_command tare_command_dump = {
	.name = "dump",
	.synopsis = "print every record of a recording",
	.operands = "[REC]",
	.description =
		"Prints what is in the files, log by log and in the order of the log: position, stamp in ticks of the clock, "
		"kind, and every field by its name. Nothing is interpreted, so it shows what a report is made from, and works "
		"on damaged recordings, too: lines that begin with # describe the log; lines with ! name places without a "
		"whole record. Of a recording in segments come first the records that others name, then the rest in the order "
		"of time, each with the position that it had in its log.\n\n"
		"REC is a folder NAME.tare, a folder of such folders, or one .events or .ring file; without it, the newest "
		"NAME.tare here. docs/RECORDING.md explains the records.",
	.examples = "tare dump train.tare\n"
				"tare dump train.tare --kind event --kind reading\n"
				"tare dump train.tare/431-0.events --offsets\n"
				"tare dump train.tare --json | jq 'select(.kind == \"event\") | .granted'",
	TARE_OPTIONS(opts, struct options, .pid = -1),
	.max_operands = 1,
	.progress = "reading",
	.run = tare_cmd_dump,
};

static int check_kinds(const struct options *o, struct tare_err *err)
{
	for (size_t i = 0; i < o->kinds.count; i++) {
		TARE_FREED_BY(tare_str_free) struct tare_str names = { 0 }, hint = { 0 };
		int rc;

		if (tare_decode_kind_named(o->kinds.items[i]))
			continue;
		for (uint16_t kind = 0; kind < TARE_KIND_NR; kind++)
			if (tare_decode_kind(kind))
				tare_str_addf(&names, "%s%s", names.len ? ", " : "", tare_record_name(kind));
		tare_hint_word(&hint, o->kinds.items[i], tare_str_text(&names));
		rc = tare_err_set(err, TARE_E_USAGE,
		                  "dump: there is no record kind \"%s\"; the kinds "
		                  "are %s%s",
		                  o->kinds.items[i], tare_str_text(&names), tare_str_text(&hint));
		return rc;
	}
	return 0;
}

static bool is_wanted(const struct options *o, const struct tare_log_record *rec)
{
	for (size_t i = 0; i < o->kinds.count; i++)
		if (rec->info && !strcmp(rec->info->name, o->kinds.items[i]))
			return true;
	return o->kinds.count == 0;
}

static int write_out(struct tare_str *text, struct tare_err *err)
{
	int rc = tare_cmd_write_file("-", text, err);

	tare_str_cut(text, 0);
	return rc;
}

static int dump_log(const struct options *o, struct tare_log *log, const char *name, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	struct tare_emit e;
	const struct tare_dump d = { &e, name, tare_log_info(log), o->offsets };
	struct tare_log_record rec;
	enum tare_log_step step;
	int rc = 0;

	tare_emit_begin(&e, o->json ? TARE_EMIT_JSON_LINES : TARE_EMIT_TEXT, &text);
	tare_dump_header(&d);
	while (!rc && (step = tare_log_next(log, &rec)) != TARE_LOG_END) {
		if (step == TARE_LOG_GAP && o->kinds.count == 0)
			tare_dump_gap(&d, &rec);
		else if (step == TARE_LOG_RECORD && is_wanted(o, &rec))
			tare_dump_record(&d, &rec);
		if (text.len > 65536)
			rc = write_out(&text, err);
	}
	if (!rc)
		tare_dump_counts(&d, tare_log_counts(log));
	tare_emit_end(&e);
	if (!rc)
		rc = write_out(&text, err);
	return rc;
}

/* The log's path below the recording, when that is how it was found. */
static const char *short_name(const char *path, const char *log)
{
	size_t len = strlen(path);

	while (len > 0 && path[len - 1] == '/')
		len--;
	return !strncmp(path, log, len) && log[len] == '/' ? log + len + 1 : log;
}

/* A log that cannot be opened is a sentence; the others are dumped all the same. */
int tare_cmd_dump(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	const char *path;
	struct tare_recording *recording;
	int dumped = 0, rc = check_kinds(o, err);

	if (!rc)
		rc = tare_newest_add(&c->rest, &c->names, false, "dump", err);
	if (!rc)
		rc = tare_recording_open_any(&recording, c->rest.items, 1, err);
	if (rc)
		return rc;
	path = c->rest.items[0];
	for (int i = 0; !rc && i < tare_recording_process_nr(recording); i++) {
		const struct tare_process *p = tare_recording_process(recording, i);
		struct tare_log *log;

		if (!p->log[0] || (o->pid >= 0 && p->pid != o->pid))
			continue;
		rc = tare_log_open(&log, p->log, err);
		if (rc)
			break;
		rc = dump_log(o, log, short_name(path, p->log), err);
		tare_log_close(log);
		dumped++;
	}
	if (!rc && !dumped)
		rc = tare_err_set(err, TARE_E_NOT_FOUND, "%s has no log of a process %lld; tare info %s lists the processes",
		                  path, (long long)o->pid, path);
	for (int i = 0; !rc && i < tare_recording_unread_nr(recording); i++)
		tare_say("%s", tare_recording_unread(recording, i));
	tare_recording_close(recording);
	return rc;
}
