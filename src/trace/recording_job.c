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
#include <sys/stat.h>

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
		is_found = step == TARE_LOG_RECORD && rec.info && rec.info->kind == TARE_KIND_LAUNCH &&
		           tare_rank_of_text(out, rec.text, rec.text_len);
	}
	tare_log_close(log);
	return is_found;
}

static bool peek_in(const char *folder, const char *name, struct tare_rank *out)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

	tare_str_addf(&path, "%s/%s", folder, name);
	return peek_log(path.data, out);
}

static bool peek_stored(const char *path, struct tare_rank *out)
{
	struct tare_store *store;
	bool is_found = false;

	if (tare_store_open(&store, path, NULL))
		return false;
	for (size_t i = 0; i < store->log_nr && i < LOGS_MAX && !is_found; i++) {
		TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

		tare_str_addf(&name, "%s.events", store->logs[i].part.name);
		is_found = peek_in(path, name.data, out);
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
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	int rc;

	list_jobs(&text, jobs, n);
	if (wanted)
		rc = tare_err_set(err, TARE_E_USAGE, "--job %s: no recording is of that job; there %s %s", wanted,
		                  n > 1 ? "are" : "is", n ? tare_str_text(&text) : "none that names its job");
	else
		rc = tare_err_set(err, TARE_E_USAGE,
		                  "these recordings are of %zu jobs, which have no ledger in common: "
		                  "%s; choose one with --job, or compare two recordings with tare diff",
		                  n, tare_str_text(&text));
	return rc;
}

static bool is_same_rank(const struct tare_rank *a, const struct tare_rank *b)
{
	return a->rank >= 0 && a->rank == b->rank && a->attempt == b->attempt && !strcmp(a->job, b->job);
}

/* Logs of one recording, named one by one. */
static bool is_one_recording(const char *a, const char *b)
{
	const char *end = strrchr(a, '/'), *other = strrchr(b, '/');
	struct stat st;

	return !(stat(a, &st) == 0 && S_ISDIR(st.st_mode)) && (end ? end - a : 0) == (other ? other - b : 0) &&
	       !strncmp(a, b, (size_t)(end ? end - a : 0));
}

/*
 * Programs on their own, or a rank twice, because the launcher does not tell its runs apart: added up they would be a ledger of
 * nothing, and one would hide what another did at the same time of its own run.
 */
static int check_together(const struct tare_rank *ranks, char *const *paths, size_t n, struct tare_err *err)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			bool is_known = ranks[i].rank >= 0 && ranks[k].rank >= 0;

			if (!paths[i] || !paths[k] || (is_known && !is_same_rank(&ranks[i], &ranks[k])) ||
			    is_one_recording(paths[k], paths[i]))
				continue;
			if (!is_known)
				return tare_err_set(err, TARE_E_USAGE,
				                    "%s and %s are not of one job that is known, so they have no "
				                    "ledger in common; tare diff %s %s compares them",
				                    paths[k], paths[i], paths[k], paths[i]);
			return tare_err_set(err, TARE_E_USAGE,
			                    "rank %d is there more than once, in %s and %s: these are several "
			                    "runs, and their sum means nothing; give the recordings of one, or "
			                    "compare two with tare diff",
			                    ranks[i].rank, paths[k], paths[i]);
		}
	return 0;
}

int tare_recording_choose_job(char **paths, size_t path_nr, const char *job, struct tare_err *err)
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
	if (!rc)
		rc = check_together(ranks, paths, path_nr, err);
	free(ranks);
	free(jobs);
	return rc;
}

/* Is the rank of that path in the group already? Then it is of another run. */
static bool has_rank(const struct tare_rank *ranks, const size_t *group, size_t n, size_t wanted,
                     const struct tare_rank *rank)
{
	for (size_t i = 0; i < n; i++)
		if (group[i] == wanted && ranks[i].rank == rank->rank && ranks[i].attempt == rank->attempt)
			return true;
	return false;
}

size_t tare_recording_group(const char *const *paths, size_t n, size_t *group)
{
	TARE_FREED_HERE struct tare_rank *ranks = tare_xcalloc(n, sizeof(*ranks));
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
	return count;
}
