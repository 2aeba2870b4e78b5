/* SPDX-License-Identifier: Apache-2.0 */
/* Writes how a run ended and what its recordings say into the file of the sweep, in one transaction. */
#include "sweep/run_private.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/now.h"
#include "base/str.h"
#include "sweep/measure.h"
#include "trace/description.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- a run ends ---- */

struct recordings {
	const char **paths;
	size_t count, cap;
	uint64_t bytes;
	int64_t ran_ns; /* time of the longest recording; -1: none says */
	char driver[64];
};

static void read_description(struct recordings *out, const char *recording)
{
	TARE_FREED_BY(tare_arena_free) struct tare_arena memory = { 0 };
	const struct tare_json_value *v;
	const char *driver;
	int64_t ran;

	tare_description_read(&memory, recording, &v, NULL);
	driver = tare_json_get_str(v, "driver");
	if (tare_json_get_i64(v, "ran_ns", &ran) && ran > out->ran_ns)
		out->ran_ns = ran;
	if (driver)
		snprintf(out->driver, sizeof(out->driver), "%s", driver);
}

TARE_COMPARATOR_OF_POINTERS(by_name, char, TARE_ALPHABETIC_BY(it))

/* With a launcher every task has a recording of its own. */
static void find_recordings(struct recordings *out, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	*out = (struct recordings){ .ran_ns = -1 };
	while (dir && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);
		struct tare_str path = { 0 };

		if (len < 6 || strcmp(entry->d_name + len - 5, ".tare") != 0)
			continue;
		tare_str_addf(&path, "%s/%s", folder, entry->d_name);
		out->bytes += tare_disk_bytes(path.data);
		read_description(out, path.data);
		TARE_APPEND(out->paths, out->count, out->cap) = tare_str_steal(&path);
	}
	if (dir)
		closedir(dir);
	TARE_SORT(out->paths, out->count, by_name);
}

static void free_recordings(struct recordings *rec)
{
	for (size_t i = 0; i < rec->count; i++)
		free((char *)rec->paths[i]);
	free(rec->paths);
}

static const char *status_of(const struct tare_sweep_slot *slot, const struct tare_measure *m, int code)
{
	if (slot->is_timed_out)
		return "timeout";
	if (code == 0)
		return "ok";
	return m->pressure.is_out || m->is_oom_killed ? "oom" : "failed";
}

static int write_end(struct tare_sweep_runner *r, const struct tare_sweep_slot *slot, const struct recordings *rec,
                     int code, struct tare_measure *m, const char **status)
{
	const struct tare_pressure *p = &m->pressure;
	int64_t ns = rec->ran_ns >= 0 ? rec->ran_ns : tare_now_ns(CLOCK_MONOTONIC) - slot->started_ns;
	bool is_known;
	int rc = tare_measure_run(r->db, slot->run, rec->paths, rec->count, m, r->err);

	if (rc)
		return rc;
	*status = status_of(slot, m, code);
	is_known = m->peak >= 0;
	return tare_db_do(
		r->db, r->err,
		"UPDATE runs SET status=?,exit_code=?,oom=?,oom_bytes=?,ns=?,driver_ns=?,driver_calls=?,refused=?,retries=?,"
		"retry_ns=?,peak=?,need=?,elastic=?,unexplained=?,processes=?,driver=?,recording=?,recording_bytes=?,note=?,"
		"pid=NULL,pid_start=NULL WHERE run=?",
		"tituiiiuuiuuuuittuti", *status, (int64_t)code,
		strcmp(*status, "oom") != 0 ? NULL
		: p->is_out                 ? "device"
									: "host",
		p->is_out && p->out_bytes ? p->out_bytes : TARE_DB_UNKNOWN, ns, m->driver_ns, m->driver_calls, p->refused,
		p->retries, p->ns, is_known ? (uint64_t)m->peak : TARE_DB_UNKNOWN,
		is_known ? (uint64_t)m->need : TARE_DB_UNKNOWN, is_known ? (uint64_t)m->elastic : TARE_DB_UNKNOWN,
		is_known ? (uint64_t)m->unexplained : TARE_DB_UNKNOWN, (int64_t)m->processes,
		rec->driver[0] ? rec->driver : NULL, rec->count == 1 ? rec->paths[0] + strlen(r->dir) + 1 : slot->name,
		rec->bytes, m->note[0] ? m->note : NULL, slot->run);
}

/* What the run itself said: the last line of its stderr. */
static void last_line(const char *folder, char *out, size_t size)
{
	char path[4096], line[512];
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%s/stderr", folder);
	snprintf(out, size, "tare record failed; see %.400s", path);
	fd = tare_file_open(path, NULL);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	while (file && fgets(line, sizeof(line), file))
		if (line[0] != '\n')
			snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), strncmp(line, "tare: ", 6) ? line : line + 6);
	if (file)
		fclose(file);
}

/*
 * Did Tare fail, so that CMD never ran: a wrong option, a recorder that is not there? Tare would fail in every
 * cell, so the sweep stops, and this run is still to be done.
 */
static int check_recorder(struct tare_sweep_runner *r, const struct tare_sweep_slot *slot, const struct recordings *rec,
                          int code)
{
	char why[512];

	if (rec->count || r->s->launcher.count || (code != 2 && (code < 125 || code > 127)))
		return 0;
	last_line(slot->folder, why, sizeof(why));
	tare_db_do(r->db, NULL, "UPDATE runs SET status='interrupted' WHERE run=?", "i", slot->run);
	return tare_err_set(r->err, TARE_E_CHILD, "%s", why);
}

int tare_sweep_finish(struct tare_sweep_runner *r, struct tare_sweep_slot *slot, int wait_status)
{
	int code = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
	const char *status = "interrupted";
	struct tare_measure m = { .peak = -1 };
	struct recordings rec;
	int64_t ns = tare_now_ns(CLOCK_MONOTONIC) - slot->started_ns;
	char *label;
	int rc = 0;

	slot->pid = 0;
	if (r->stop) {
		rc = tare_db_do(r->db, r->err, "UPDATE runs SET status='interrupted' WHERE run=?", "i", slot->run);
	} else {
		find_recordings(&rec, slot->folder);
		if (rec.ran_ns >= 0)
			ns = rec.ran_ns;
		rc = check_recorder(r, slot, &rec, code);
		if (!rc)
			rc = tare_db_do(r->db, r->err, "BEGIN IMMEDIATE", "");
		if (!rc)
			rc = write_end(r, slot, &rec, code, &m, &status);
		if (!rc)
			rc = tare_db_do(r->db, r->err, "COMMIT", "");
		if (rc)
			tare_db_do(r->db, NULL, "ROLLBACK", "");
		free_recordings(&rec);
		if (!rc) {
			r->done++;
			r->ended++;
			r->spent_ns += tare_now_ns(CLOCK_MONOTONIC) - slot->started_ns;
		}
	}
	label = tare_grid_label(&r->s->grid, slot->job.cell);
	if (!rc)
		tare_sweep_show(r, (struct tare_sweep_state){ .label = label,
		                                              .repeat = slot->job.repeat,
		                                              .status = status,
		                                              .note = m.note,
		                                              .ns = ns,
		                                              .peak = m.peak,
		                                              .exit_code = code,
		                                              .retries = m.pressure.retries });
	free(label);
	free(slot->folder);
	free(slot->name);
	slot->folder = slot->name = NULL;
	return rc;
}
