/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings that are opened together must be of one job: the sum of two jobs is a ledger of nothing.
 * Whose a recording is stands near the beginning of its logs.
 */
#include "trace/recording_private.h"

#include "base/array.h"
#include "store/store.h"
#include "trace/log.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS_MAX = 64, LOGS_MAX = 64, JOBS_SHOWN = 4 };

/* The LAUNCH record stands first, but threads race. False: no such record, or no log. */
static bool peek_log(const char *path, struct tare_rank *out)
{
	struct tare_log_record rec;
	struct tare_log *log;
	bool is_found = false;

	if (tare_log_open(&log, path, NULL))
		return false;
	for (int i = 0; i < RECORDS_MAX && !is_found; i++) {
		enum tare_log_step step = tare_log_next(log, &rec);

		if (step == TARE_LOG_END)
			break;
		is_found = step == TARE_LOG_RECORD && rec.info &&
			   rec.info->kind == TARE_KIND_LAUNCH &&
			   tare_rank_of_text(out, rec.text, rec.text_len);
	}
	tare_log_close(log);
	return is_found;
}

static bool peek_in(const char *folder, const char *name, struct tare_rank *out)
{
	struct tare_str path = { 0 };
	bool is_found;

	tare_str_addf(&path, "%s/%s", folder, name);
	is_found = peek_log(path.data, out);
	tare_str_free(&path);
	return is_found;
}

static bool peek_stored(const char *path, struct tare_rank *out)
{
	struct tare_store *store;
	bool is_found = false;

	if (tare_store_open(&store, path, NULL))
		return false;
	for (size_t i = 0; i < store->log_nr && i < LOGS_MAX && !is_found; i++) {
		struct tare_str name = { 0 };

		tare_str_addf(&name, "%s.events", store->logs[i].part.name);
		is_found = peek_in(path, name.data, out);
		tare_str_free(&name);
	}
	tare_store_close(store);
	return is_found;
}

/* As `tare` was started, else as the first of its processes that says something. */
static void peek(const char *path, struct tare_rank *out)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool is_found;
	int logs = 0;

	*out = TARE_RANK_NONE;
	is_found = dir ? peek_in(path, "tare.events", out) : peek_log(path, out);
	while (dir && !is_found && logs < LOGS_MAX && (entry = readdir(dir))) {
		const char *end = strrchr(entry->d_name, '.');

		if (!end || (strcmp(end, ".events") != 0 && strcmp(end, ".ring") != 0))
			continue;
		logs++;
		is_found = peek_in(path, entry->d_name, out);
	}
	if (dir && !is_found)
		peek_stored(path, out);
	if (dir)
		closedir(dir);
}

struct job {
	const char *name;
	size_t count;
};

static size_t count_jobs(struct job *jobs, const struct tare_rank *ranks, size_t n)
{
	size_t job_nr = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		if (!ranks[i].job[0])
			continue;
		while (k < job_nr && strcmp(jobs[k].name, ranks[i].job) != 0)
			k++;
		if (k == job_nr)
			jobs[job_nr++] = (struct job){ ranks[i].job, 0 };
		jobs[k].count++;
	}
	return job_nr;
}

static void list_jobs(struct tare_str *out, const struct job *jobs, size_t n)
{
	for (size_t i = 0; i < n && i < JOBS_SHOWN; i++)
		tare_str_addf(out, "%s%s (%zu)", i ? ", " : "", jobs[i].name, jobs[i].count);
	if (n > JOBS_SHOWN)
		tare_str_add(out, ", …");
}

static int refuse(const struct job *jobs, size_t n, const char *wanted, struct tare_err *err)
{
	struct tare_str text = { 0 };
	int rc;

	list_jobs(&text, jobs, n);
	if (wanted)
		rc = tare_err_set(err, TARE_E_USAGE,
				  "--job %s: no recording is of that job; there %s %s", wanted,
				  n > 1 ? "are" : "is",
				  n ? tare_str_text(&text) : "none that names its job");
	else
		rc = tare_err_set(
			err, TARE_E_USAGE,
			"these recordings are of %zu jobs, which have no ledger in common: "
			"%s; choose one with --job",
			n, tare_str_text(&text));
	tare_str_free(&text);
	return rc;
}

/* The same rank of the same job in two recordings: the launcher does not tell its runs apart. */
static void note_runs(struct tare_recording *r, const struct tare_rank *ranks, char *const *paths,
		      size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (paths[i] && paths[k] && ranks[i].rank >= 0 &&
			    ranks[i].rank == ranks[k].rank &&
			    ranks[i].attempt == ranks[k].attempt &&
			    !strcmp(ranks[i].job, ranks[k].job)) {
				tare_recording_add_note(
					r,
					"rank %d is there more than once, in %s and %s: these are "
					"several runs, or parts of different jobs, and their "
					"sum means nothing; give the recordings of one",
					ranks[i].rank, paths[k], paths[i]);
				return;
			}
}

static void note_unrecorded(struct tare_recording *r, const struct tare_rank *ranks,
			    char *const *paths, size_t n)
{
	size_t without = 0, with = 0;

	for (size_t i = 0; i < n; i++)
		if (paths[i])
			*(ranks[i].rank < 0 ? &without : &with) += 1;
	if (with && without)
		tare_recording_add_note(
			r,
			"%zu of these recordings belong%s to no job that is known, and "
			"%zu to one: programs that have nothing to do with each other "
			"may be added up here",
			without, without == 1 ? "s" : "", with);
}

int tare_recording_choose_job(struct tare_recording *r, char **paths, size_t path_nr,
			      const char *job, struct tare_err *err)
{
	struct tare_rank *ranks;
	struct job *jobs;
	size_t job_nr, kept = 0;
	int rc = 0;

	if (path_nr < 2 && !job)
		return 0;
	ranks = tare_xcalloc(path_nr, sizeof(*ranks));
	jobs = tare_xcalloc(path_nr, sizeof(*jobs));
	for (size_t i = 0; i < path_nr; i++)
		peek(paths[i], &ranks[i]);
	job_nr = count_jobs(jobs, ranks, path_nr);
	for (size_t i = 0; i < path_nr; i++) {
		bool is_kept = !job || !strcmp(ranks[i].job, job);

		if (!is_kept) {
			free(paths[i]);
			paths[i] = NULL;
		}
		kept += is_kept;
	}
	if (!kept || (!job && job_nr > 1))
		rc = refuse(jobs, job_nr, job, err);
	if (!rc) {
		note_runs(r, ranks, paths, path_nr);
		note_unrecorded(r, ranks, paths, path_nr);
	}
	free(ranks);
	free(jobs);
	return rc;
}

/* Is the rank of that path in the group already? Then it is of another run. */
static bool has_rank(const struct tare_rank *ranks, const size_t *group, size_t n, size_t wanted,
		     const struct tare_rank *rank)
{
	for (size_t i = 0; i < n; i++)
		if (group[i] == wanted && ranks[i].rank == rank->rank &&
		    ranks[i].attempt == rank->attempt)
			return true;
	return false;
}

size_t tare_recording_group(const char *const *paths, size_t n, size_t *group)
{
	struct tare_rank *ranks = tare_xcalloc(n, sizeof(*ranks));
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		peek(paths[i], &ranks[i]);
		group[i] = count;
		for (size_t k = 0; k < i && ranks[i].rank >= 0 && group[i] == count; k++)
			if (ranks[k].rank >= 0 && !strcmp(ranks[k].job, ranks[i].job) &&
			    !has_rank(ranks, group, i, group[k], &ranks[i]))
				group[i] = group[k];
		count += group[i] == count;
	}
	free(ranks);
	return count;
}
