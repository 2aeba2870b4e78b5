/* SPDX-License-Identifier: Apache-2.0 */
/* Before the first run: the folder, the GPUs, and which runs are still to be done. */
#include "sweep/run_private.h"

#include "base/array.h"
#include "base/str.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is to be done ---- */

static int lock_folder(struct tare_sweep_runner *r)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };
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
	return rc;
}

/*
 * Ends runs of an earlier sweep that outlived it: they would use the GPU beside the runs of this one.
 */
static int end_leftovers(struct tare_sweep_runner *r)
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

/* Sets a flag per cell and repeat of which the file has a run. */
static int find_done(struct tare_sweep_runner *r, bool *is_done, size_t repeats)
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

/*
 * Lists the runs to be done: every cell once before any is repeated, so that what does not work shows early,
 * and drift of the machine affects all cells alike.
 */
static int find_jobs(struct tare_sweep_runner *r)
{
	size_t repeats = r->s->repeat > 0 ? (size_t)r->s->repeat : 1, cells = r->s->grid.cell_nr;
	TARE_FREED_HERE bool *is_done = tare_xcalloc(repeats * cells + 1, sizeof(*is_done));
	int rc = find_done(r, is_done, repeats);

	r->total = repeats * cells;
	for (size_t k = 0; k < repeats && !rc; k++)
		for (size_t c = 0; c < cells; c++) {
			if (is_done[c * repeats + k])
				continue;
			TARE_APPEND(r->jobs, r->job_nr, r->job_cap) = (struct tare_sweep_job){ c, (int)k + 1 };
		}
	return rc;
}

static int make_slots(struct tare_sweep_runner *r, bool is_simulated)
{
	size_t jobs = r->s->jobs > 0 ? (size_t)r->s->jobs : 1;
	size_t each = r->s->gpus_per_run > 0 ? (size_t)r->s->gpus_per_run : 1;

	if (jobs > 1 && !r->s->launcher.count) { /* a launcher gives the GPUs itself */
		tare_gpus_find(&r->gpus, is_simulated);
		if (r->gpus.count / each < jobs)
			return tare_err_set(r->err, TARE_E_USAGE,
			                    "--jobs %zu: there %s %zu GPU%s here and a run has %zu, so at most %zu can run at a "
			                    "time",
			                    jobs, r->gpus.count == 1 ? "is" : "are", r->gpus.count, r->gpus.count == 1 ? "" : "s",
			                    each, r->gpus.count / each);
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

int tare_sweep_prepare(struct tare_sweep_runner *r, bool is_simulated)
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
	r->grace_ns = tare_machine_grace_ms() * (TARE_SECOND / 1000);
	tare_machine_boot(r->boot);
	rc = lock_folder(r);
	if (!rc)
		rc = make_slots(r, is_simulated);
	if (!rc)
		rc = end_leftovers(r);
	return rc ? rc : find_jobs(r);
}
