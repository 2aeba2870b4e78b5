/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what a recording says of itself: machine, command, processes, devices, losses. */
#include "cmd/info.h"

#include "base/disk.h"
#include "base/units.h"
#include "trace/description.h"
#include "trace/recording.h"
#include "view/device_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* Members of recording.json that are worth a line, and what they are called here. */
static const struct {
	const char *path, *key;
} described[] = {
	{ "version", "recorded_by" }, { "state", "state" },
	{ "command", "command" },     { "folder", "folder" },
	{ "host", "host" },           { "driver", "driver" },
	{ "simulated", "simulated" }, { "ranks_simulated", "ranks_simulated" },
	{ "exit_code", "exit_code" },
};

static void add_value(struct tare_str *out, const struct tare_json_value *v)
{
	if (v->type == TARE_JSON_STRING)
		tare_str_add_n(out, v->text, v->text_len);
	else if (v->type == TARE_JSON_NUMBER && v->is_integer)
		tare_str_addf(out, "%lld", (long long)v->i);
	for (const struct tare_json_value *item = v->type == TARE_JSON_ARRAY ? v->first : NULL; item; item = item->next) {
		add_value(out, item);
		if (item->next)
			tare_str_add_char(out, ' ');
	}
}

/* A recording without its description is still a recording: then these lines are missing. */
static void write_description(struct tare_emit *e, const char *folder)
{
	const struct tare_json_value *root;
	TARE_FREED_BY(tare_arena_free) struct tare_arena arena = { 0 };

	tare_description_read(&arena, folder, &root, NULL);
	for (size_t i = 0; i < sizeof(described) / sizeof(described[0]); i++) {
		const struct tare_json_value *v = tare_json_get(root, described[i].path);
		TARE_FREED_BY(tare_str_free) struct tare_str value = { 0 };

		if (!v || v->type == TARE_JSON_NULL)
			continue;
		add_value(&value, v);
		tare_info_text(e, described[i].key, tare_str_text(&value));
	}
}

static void write_totals(struct tare_emit *e, const struct tare_recording *recording, const char *path)
{
	int64_t started = tare_recording_started_realtime_ns(recording);
	int64_t last = tare_recording_last_ns(recording);
	time_t seconds = (time_t)(started / 1000000000);
	char date[64], text[TARE_UNITS_TEXT_MAX];
	uint64_t bytes = tare_disk_bytes(path);
	struct tm tm;

	if (started && localtime_r(&seconds, &tm)) {
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", &tm);
		tare_info_text(e, "started", date);
	}
	tare_emit_int(e, "duration_ns", last);
	tare_emit_note(e, "%-14s%s%s", "duration", tare_units_duration(text, last),
	               tare_recording_is_open(recording) ? ", still being written" : "");
	tare_emit_flag(e, "open", tare_recording_is_open(recording));
	tare_emit_uint(e, "size_bytes", bytes);
	tare_emit_note(e, "%-14s%s", "size", tare_units_human(text, bytes));
}

struct device {
	int index; /* NVML's, else the program's */
	int gpu;   /* the same for people, -1: it is none */
	const char *name, *uuid;
	uint64_t total;
	bool is_simulated;
};

static const struct tare_column device_columns[] = {
	TARE_COLUMN(device, index, "index", NULL, ID),
	TARE_COLUMN(device, gpu, NULL, "GPU", ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(device, name, "name", "NAME", TEXT),
	TARE_COLUMN(device, uuid, "uuid", "UUID", TEXT),
	TARE_COLUMN(device, total, "total_bytes", "TOTAL", BYTES, .unknown = TARE_UNKNOWN_HUGE),
	TARE_COLUMN(device, is_simulated, "simulated", NULL, FLAG),
};

static void write_devices(struct tare_emit *e, const struct tare_recording *recording)
{
	if (!tare_recording_device_nr(recording) && tare_emit_is_for_people(e))
		return;
	tare_emit_gap(e);
	tare_emit_table(e, "devices", NULL, TARE_COLUMNS(device_columns));
	for (int i = 0; i < tare_recording_device_nr(recording); i++) {
		const struct tare_device *d = tare_recording_device(recording, i);

		tare_emit_add(e, &(struct device){ .index = tare_device_number(d),
		                                   .gpu = tare_device_text_gpu(tare_device_number(d)),
		                                   .name = d->name,
		                                   .uuid = d->uuid[0] ? d->uuid : NULL,
		                                   .total = d->total,
		                                   .is_simulated = d->flags & TARE_DEVICE_SIMULATED });
	}
	tare_emit_table_end(e);
}

struct process {
	const char *state, *shown;
	int64_t signal; /* -1: none, or nobody saw it */
	struct tare_process of;
};

static const struct tare_column process_columns[] = {
	TARE_COLUMN(process, of.pid, "pid", "PID", ID),
	TARE_COLUMN(process, of.generation, "generation", "EXEC", ID),
	TARE_COLUMN(process, of.program, "program", "PROGRAM", TEXT),
	TARE_COLUMN(process, of.first_ns, "first_ns", "FROM", TIME),
	TARE_COLUMN(process, of.last_ns, "last_ns", "TO", TIME),
	TARE_COLUMN(process, state, "state", NULL, TEXT),
	TARE_COLUMN(process, shown, NULL, "STATE", TEXT),
	TARE_COLUMN(process, signal, "signal", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(process, of.lost, "lost", "LOST", COUNT),
};

static void write_process(struct tare_emit *e, const struct tare_process *p)
{
	bool is_signal = p->is_status_known && WIFSIGNALED((int)p->status);
	struct process row = { .signal = is_signal ? WTERMSIG((int)p->status) : -1, .of = *p };
	TARE_FREED_BY(tare_str_free) struct tare_str shown = { 0 };
	bool is_ended =
		p->is_ended || (p->is_status_known && !is_signal); /* as a program that it became, and nobody recorded */
	bool may_run =
		p->is_open && !is_ended && !is_signal; /* or was killed, and nobody saw it: here the two look alike */

	row.state = is_ended ? "ended" : p->is_replaced ? "replaced" : may_run ? "running" : "killed";
	tare_str_add(&shown, row.state);
	if (may_run)
		tare_str_add(&shown, ", or killed");
	if (is_signal)
		tare_str_addf(&shown, ", signal %d", (int)row.signal);
	row.shown = tare_str_text(&shown);
	tare_emit_add(e, &row);
}

static void write_processes(struct tare_emit *e, const struct tare_recording *recording)
{
	tare_emit_gap(e);
	tare_emit_table(e, "processes", NULL, TARE_COLUMNS(process_columns));
	for (int i = 0; i < tare_recording_process_nr(recording); i++) {
		const struct tare_process *p = tare_recording_process(recording, i);

		if (p->role == TARE_ROLE_PROGRAM)
			write_process(e, p);
	}
	tare_emit_table_end(e);
}

static void write_notes(struct tare_emit *e, const struct tare_recording *recording)
{
	tare_emit_open(e, "degraded", '[');
	for (int i = 0; i < tare_recording_note_nr(recording); i++) {
		tare_emit_str(e, NULL, tare_recording_note(recording, i));
		tare_emit_note(e, "! %s", tare_recording_note(recording, i));
	}
	tare_emit_close(e);
	tare_emit_open(e, "notes", '[');
	for (int i = 0; i < tare_recording_remark_nr(recording); i++) {
		tare_emit_str(e, NULL, tare_recording_remark(recording, i));
		tare_emit_term(e, TARE_TONE_PLAIN, "note  ", tare_recording_remark(recording, i));
	}
	tare_emit_close(e);
}

int tare_info_recording(struct tare_emit *e, const char *path, struct tare_err *err)
{
	struct tare_recording *recording;
	int rc = tare_recording_open_any(&recording, &path, 1, err);

	if (rc)
		return rc;
	write_description(e, path);
	write_totals(e, recording, path);
	write_devices(e, recording);
	write_processes(e, recording);
	write_notes(e, recording);
	tare_recording_close(recording);
	return 0;
}
