/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of a sweep. A run is written down before it begins and measured when it has ended, both in
 * one transaction each; what is in between when the power fails is run again.
 */
#include "sweep/run.h"

#include "base/array.h"
#include "base/disk.h"
#include "base/json.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "sweep/machine.h"
#include "sweep/measure.h"
#include "sweep/start.h"
#include "witness/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

struct job {
	size_t cell;
	int repeat;
};

struct slot {
	pid_t pid; /* 0: free */
	int64_t run;
	struct job job;
	int64_t started_ns;          /* monotonic */
	int64_t terminated_ns;       /* when SIGTERM was sent; 0: it was not */
	bool is_timed_out, is_killed;
	char *folder, *name, *gpus; /* folder: whole path; name: in the database's folder */
};

struct runner {
	struct tare_db *db;
	const struct tare_sweep *s;
	const struct tare_sweep_watch *watch;
	struct tare_err *err;
	char *dir, host[256], boot[64];
	int lock, signals;
	struct tare_gpus gpus;
	struct slot *slots;
	size_t slot_nr;
	struct job *jobs; /* to be run, in order */
	size_t job_nr, job_cap, next;
	size_t total, done;
	int64_t spent_ns; /* on the runs that ended in this session */
	size_t ended;
	int stop; /* signal */
	int64_t grace_ns;
};

static int64_t now_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

/* ---- what is to be done ---- */

static int lock_folder(struct runner *r)
{
	struct tare_str path = { 0 };
	int rc = 0;

	if (mkdir(r->dir, 0700) != 0 && errno != EEXIST)
		return tare_err_set_errno(r->err, errno, "%s: cannot be made", r->dir);
	tare_str_addf(&path, "%s/lock", r->dir);
	r->lock = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (r->lock < 0)
		rc = tare_err_set_errno(r->err, errno, "%s: cannot be opened", path.data);
	else if (flock(r->lock, LOCK_EX | LOCK_NB) != 0)
		rc = tare_err_set(r->err, TARE_E_LIMIT, "%s: another tare sweep is running it; wait for that, or stop it",
				  r->s->path);
	tare_str_free(&path);
	return rc;
}

/* Runs that outlived the sweep which started them would be on the GPU beside ours. */
static int end_leftovers(struct runner *r)
{
	struct tare_db_rows *rows;
	int rc = tare_db_query(r->db, &rows, r->err,
			       "SELECT pid,pid_start FROM runs WHERE status='running' AND host=? AND boot=?", "tt", r->host,
			       r->boot);

	while (!rc && (rc = tare_db_next(rows, r->err)) > 0) {
		tare_machine_end_group((pid_t)tare_db_int(rows, 0), (uint64_t)tare_db_int(rows, 1));
		rc = 0;
	}
	tare_db_done(rows);
	return rc ? rc : tare_db_do(r->db, r->err, "UPDATE runs SET status='interrupted' WHERE status='running'", "");
}

/* Which runs are there, as a flag per cell and repeat. */
static int find_done(struct runner *r, bool *is_done, size_t repeats)
{
	struct tare_db_rows *rows;
	int rc = tare_db_query(r->db, &rows, r->err, "SELECT cell,repeat FROM runs WHERE status<>'interrupted'", "");

	while (!rc && (rc = tare_db_next(rows, r->err)) > 0) {
		int64_t cell = tare_db_int(rows, 0), repeat = tare_db_int(rows, 1);

		if (cell > 0 && cell <= (int64_t)r->s->grid.cell_nr && repeat > 0 && repeat <= (int64_t)repeats) {
			is_done[(size_t)(cell - 1) * repeats + (size_t)(repeat - 1)] = true;
			r->done++;
		}
		rc = 0;
	}
	tare_db_done(rows);
	return rc;
}

/* Every cell once before any is repeated: what does not work shows early, and drift spreads evenly. */
static int find_jobs(struct runner *r)
{
	size_t repeats = r->s->repeat > 0 ? (size_t)r->s->repeat : 1, cells = r->s->grid.cell_nr;
	bool *is_done = tare_xcalloc(repeats * cells + 1, sizeof(*is_done));
	int rc = find_done(r, is_done, repeats);

	r->total = repeats * cells;
	for (size_t k = 0; k < repeats && !rc; k++)
		for (size_t c = 0; c < cells; c++) {
			if (is_done[c * repeats + k])
				continue;
			r->jobs = tare_array_reserve(r->jobs, &r->job_cap, r->job_nr + 1, sizeof(*r->jobs));
			r->jobs[r->job_nr++] = (struct job){ c, (int)k + 1 };
		}
	free(is_done);
	return rc;
}

static int make_slots(struct runner *r, bool is_simulated)
{
	size_t jobs = r->s->jobs > 0 ? (size_t)r->s->jobs : 1;
	size_t each = r->s->gpus_per_run > 0 ? (size_t)r->s->gpus_per_run : 1;

	if (jobs > 1 && !r->s->launcher.count) { /* a launcher gives the GPUs itself */
		tare_gpus_find(&r->gpus, is_simulated);
		if (r->gpus.count / each < jobs)
			return tare_err_set(r->err, TARE_E_USAGE,
					    "--jobs %zu: there %s %zu GPU%s here and a run has %zu, so at most %zu can run at a "
					    "time",
					    jobs, r->gpus.count == 1 ? "is" : "are", r->gpus.count,
					    r->gpus.count == 1 ? "" : "s", each, r->gpus.count / each);
	}
	r->slots = tare_xcalloc(jobs, sizeof(*r->slots));
	r->slot_nr = jobs;
	for (size_t i = 0; i < jobs && r->gpus.count; i++) {
		struct tare_str names = { 0 };

		for (size_t k = 0; k < each; k++)
			tare_str_addf(&names, "%s%s", k ? "," : "", r->gpus.names[i * each + k]);
		r->slots[i].gpus = tare_str_steal(&names);
	}
	return 0;
}

/* ---- showing it ---- */

static size_t running(const struct runner *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->slot_nr; i++)
		n += r->slots[i].pid != 0;
	return n;
}

static void show(const struct runner *r, struct tare_sweep_state state)
{
	state.total = r->total;
	state.done = r->done;
	state.running = running(r);
	state.left_ns = r->ended ? r->spent_ns / (int64_t)r->ended * (int64_t)(r->total - r->done) / (int64_t)r->slot_nr
				 : -1;
	if (r->watch)
		r->watch->see(r->watch->arg, &state);
}

/* ---- a run begins ---- */

static int begin(struct runner *r, struct slot *slot, const struct job *job)
{
	struct tare_start start;
	struct tare_procfs_stat stat = { 0 };
	struct tare_str name = { 0 }, folder = { 0 }, out = { 0 }, errors = { 0 };
	int rc;

	tare_str_addf(&name, "cell-%zu-run-%d", job->cell + 1, job->repeat);
	tare_str_addf(&folder, "%s/%s", r->dir, name.data);
	tare_str_addf(&out, "%s/stdout", name.data);
	tare_str_addf(&errors, "%s/stderr", name.data);
	rc = tare_start_prepare(&start, r->s, job->cell, folder.data, slot->gpus, r->err);
	if (!rc) {
		tare_procfs_stat(start.pid, &stat);
		rc = tare_db_do(r->db, r->err,
				"INSERT OR REPLACE INTO runs(cell,repeat,status,started_ns,gpus,host,folder,stdout,stderr,pid,"
				"pid_start,boot) VALUES(?,?,'running',?,?,?,?,?,?,?,?,?)",
				"iiitttttiit", (int64_t)job->cell + 1, (int64_t)job->repeat, now_ns(CLOCK_REALTIME),
				slot->gpus, r->host, name.data, out.data, errors.data, (int64_t)start.pid,
				(int64_t)stat.start_ticks, r->boot);
		if (rc)
			tare_start_drop(&start);
	}
	if (!rc) {
		*slot = (struct slot){ .pid = start.pid,
				       .run = tare_db_last_id(r->db),
				       .job = *job,
				       .started_ns = now_ns(CLOCK_MONOTONIC),
				       .folder = tare_str_steal(&folder),
				       .name = tare_str_steal(&name),
				       .gpus = slot->gpus };
		tare_start_go(&start);
	}
	tare_str_free(&name);
	tare_str_free(&folder);
	tare_str_free(&out);
	tare_str_free(&errors);
	return rc;
}

/* ---- a run ends ---- */

struct recordings {
	const char **paths;
	size_t count, cap;
	uint64_t bytes;
	int64_t ran_ns; /* the longest; -1: none says */
	char driver[64];
};

static void read_description(struct recordings *out, const char *recording)
{
	struct tare_str path = { 0 }, text = { 0 };
	struct tare_arena memory = { 0 };
	const struct tare_json_value *v;
	char part[4096];
	int64_t ran;
	FILE *file;
	size_t n;

	tare_str_addf(&path, "%s/recording.json", recording);
	file = fopen(path.data, "re");
	while (file && (n = fread(part, 1, sizeof(part), file)) > 0)
		tare_str_add_n(&text, part, n);
	if (file)
		fclose(file);
	if (text.len && tare_json_parse(&memory, text.data, text.len, &v, NULL) == 0) {
		const char *driver = tare_json_get_str(v, "driver");

		if (tare_json_get_i64(v, "ran_ns", &ran) && ran > out->ran_ns)
			out->ran_ns = ran;
		if (driver)
			snprintf(out->driver, sizeof(out->driver), "%s", driver);
	}
	tare_arena_free(&memory);
	tare_str_free(&path);
	tare_str_free(&text);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

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
		out->paths = tare_array_reserve(out->paths, &out->cap, out->count + 1, sizeof(*out->paths));
		out->bytes += tare_disk_bytes(path.data);
		read_description(out, path.data);
		out->paths[out->count++] = tare_str_steal(&path);
	}
	if (dir)
		closedir(dir);
	if (out->count)
		qsort(out->paths, out->count, sizeof(*out->paths), by_name);
}

static void free_recordings(struct recordings *rec)
{
	for (size_t i = 0; i < rec->count; i++)
		free((char *)rec->paths[i]);
	free(rec->paths);
}

static const char *status_of(const struct slot *slot, const struct tare_measure *m, int code)
{
	if (slot->is_timed_out)
		return "timeout";
	if (code == 0)
		return "ok";
	return m->pressure.is_out || m->is_oom_killed ? "oom" : "failed";
}

static int write_end(struct runner *r, const struct slot *slot, const struct recordings *rec, int code,
		     struct tare_measure *m, const char **status)
{
	const struct tare_pressure *p = &m->pressure;
	int64_t ns = rec->ran_ns >= 0 ? rec->ran_ns : now_ns(CLOCK_MONOTONIC) - slot->started_ns;
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
		strcmp(*status, "oom") != 0 ? NULL : p->is_out ? "device" : "host",
		p->is_out && p->out_bytes ? p->out_bytes : TARE_DB_UNKNOWN, ns, m->driver_ns, m->driver_calls, p->refused,
		p->retries, p->ns, is_known ? (uint64_t)m->peak : TARE_DB_UNKNOWN,
		is_known ? (uint64_t)m->need : TARE_DB_UNKNOWN, is_known ? (uint64_t)m->elastic : TARE_DB_UNKNOWN,
		is_known ? (uint64_t)m->unexplained : TARE_DB_UNKNOWN, (int64_t)m->processes,
		rec->driver[0] ? rec->driver : NULL, rec->count == 1 ? rec->paths[0] + strlen(r->dir) + 1 : slot->name,
		rec->bytes, m->note[0] ? m->note : NULL, slot->run);
}

/* Its own words are the last line on stderr. */
static void last_line(const char *folder, char *out, size_t size)
{
	char path[4096], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/stderr", folder);
	snprintf(out, size, "tare record failed; see %.400s", path);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (line[0] != '\n')
			snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), strncmp(line, "tare: ", 6) ? line : line + 6);
	if (file)
		fclose(file);
}

/*
 * Tare failed and not CMD, which never ran: a wrong option, a recorder that is not there. It would fail in
 * every cell, so the sweep stops, and this run is still to be done.
 */
static int check_recorder(struct runner *r, const struct slot *slot, const struct recordings *rec, int code)
{
	char why[512];

	if (rec->count || r->s->launcher.count || (code != 2 && (code < 125 || code > 127)))
		return 0;
	last_line(slot->folder, why, sizeof(why));
	tare_db_do(r->db, NULL, "UPDATE runs SET status='interrupted' WHERE run=?", "i", slot->run);
	return tare_err_set(r->err, TARE_E_CHILD, "%s", why);
}

static int finish(struct runner *r, struct slot *slot, int wait_status)
{
	int code = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
	const char *status = "interrupted";
	struct tare_measure m = { .peak = -1 };
	struct recordings rec;
	int64_t ns = now_ns(CLOCK_MONOTONIC) - slot->started_ns;
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
			r->spent_ns += now_ns(CLOCK_MONOTONIC) - slot->started_ns;
		}
	}
	label = tare_grid_label(&r->s->grid, slot->job.cell);
	if (!rc)
		show(r, (struct tare_sweep_state){ .label = label,
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

/* ---- the loop ---- */

/* The first time politely, after ten seconds by force; `is_hard`: by force now. */
static void terminate(struct slot *slot, bool is_hard)
{
	if (!slot->pid || slot->is_killed)
		return;
	slot->is_killed = is_hard;
	kill(-slot->pid, is_hard ? SIGKILL : SIGTERM);
	if (!slot->terminated_ns)
		slot->terminated_ns = now_ns(CLOCK_MONOTONIC);
}

static void look_at_clock(struct runner *r)
{
	int64_t now = now_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < r->slot_nr; i++) {
		struct slot *slot = &r->slots[i];

		if (!slot->pid)
			continue;
		if (slot->terminated_ns && now - slot->terminated_ns >= r->grace_ns) {
			terminate(slot, true);
		} else if (!slot->terminated_ns && r->s->timeout_ns > 0 && now - slot->started_ns >= r->s->timeout_ns) {
			slot->is_timed_out = true;
			terminate(slot, false);
		}
	}
}

/* Until the next deadline, in ms; -1: there is none. */
static int time_to_wait(const struct runner *r)
{
	int64_t now = now_ns(CLOCK_MONOTONIC), next = INT64_MAX;

	for (size_t i = 0; i < r->slot_nr; i++) {
		const struct slot *slot = &r->slots[i];

		if (slot->pid && slot->terminated_ns && next > slot->terminated_ns + r->grace_ns)
			next = slot->terminated_ns + r->grace_ns;
		else if (slot->pid && !slot->terminated_ns && r->s->timeout_ns > 0 &&
			 next > slot->started_ns + r->s->timeout_ns)
			next = slot->started_ns + r->s->timeout_ns;
	}
	if (r->watch && r->watch->every_ms && next > now + r->watch->every_ms * (SECOND / 1000))
		return r->watch->every_ms;
	if (next == INT64_MAX)
		return -1;
	return next <= now ? 0 : (int)((next - now) / 1000000 + 1);
}

static void take_signals(struct runner *r)
{
	struct signalfd_siginfo info;

	while (read(r->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		for (size_t i = 0; i < r->slot_nr; i++)
			terminate(&r->slots[i], r->stop != 0);
		r->stop = (int)info.ssi_signo;
	}
}

static int reap(struct runner *r)
{
	int rc = 0, status;

	for (size_t i = 0; i < r->slot_nr && !rc; i++)
		if (r->slots[i].pid && waitpid(r->slots[i].pid, &status, WNOHANG) == r->slots[i].pid)
			rc = finish(r, &r->slots[i], status);
	return rc;
}

static int fill_slots(struct runner *r)
{
	int rc = 0;

	for (size_t i = 0; i < r->slot_nr && !rc && !r->stop; i++)
		if (!r->slots[i].pid && r->next < r->job_nr)
			rc = begin(r, &r->slots[i], &r->jobs[r->next++]);
	return rc;
}

static int turn(struct runner *r)
{
	struct pollfd fd = { .fd = r->signals, .events = POLLIN };
	int rc = fill_slots(r);

	if (rc || !running(r))
		return rc;
	poll(&fd, 1, time_to_wait(r));
	take_signals(r);
	look_at_clock(r);
	rc = reap(r);
	if (!rc && r->watch && r->watch->every_ms)
		show(r, (struct tare_sweep_state){ .peak = -1 });
	return rc;
}

/* After a failure of ours nothing may be left on the GPU. */
static void end_all(struct runner *r)
{
	for (size_t i = 0; i < r->slot_nr; i++) {
		struct slot *slot = &r->slots[i];

		if (slot->pid) {
			terminate(slot, true);
			waitpid(slot->pid, NULL, 0);
		}
		free(slot->folder);
		free(slot->name);
		free(slot->gpus);
	}
}

static int prepare(struct runner *r, bool is_simulated)
{
	char *cwd = realpath(".", NULL);
	struct tare_str dir = { 0 };
	int rc;

	if (r->s->path[0] != '/' && cwd) /* the recorder's folders are named in full */
		tare_str_addf(&dir, "%s/", cwd);
	tare_str_addf(&dir, "%s.d", r->s->path);
	free(cwd);
	r->dir = tare_str_steal(&dir);
	gethostname(r->host, sizeof(r->host) - 1);
	r->grace_ns = tare_machine_grace_ms() * (SECOND / 1000);
	tare_machine_boot(r->boot);
	rc = lock_folder(r);
	if (!rc)
		rc = make_slots(r, is_simulated);
	if (!rc)
		rc = end_leftovers(r);
	return rc ? rc : find_jobs(r);
}

int tare_sweep_run(struct tare_db *db, const struct tare_sweep *s, bool is_simulated,
		   const struct tare_sweep_watch *watch, struct tare_sweep_end *end, struct tare_err *err)
{
	struct runner r = { .db = db, .s = s, .watch = watch, .err = err, .lock = -1, .signals = -1 };
	sigset_t mask, old;
	int rc;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, &old);
	r.signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	rc = prepare(&r, is_simulated);
	while (!rc && (r.next < r.job_nr || running(&r)) && !(r.stop && !running(&r)))
		rc = turn(&r);
	end_all(&r);
	*end = (struct tare_sweep_end){ .signal = r.stop, .done = r.done, .total = r.total };
	tare_gpus_free(&r.gpus);
	free(r.slots);
	free(r.jobs);
	free(r.dir);
	if (r.lock >= 0)
		close(r.lock);
	if (r.signals >= 0)
		close(r.signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return rc;
}
