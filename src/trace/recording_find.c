/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the logs of a recording: which folders and files a path names, which logs they have, and what is beside them
 * (recording.json, segments).
 */
#include "trace/recording_private.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/file.h"
#include "base/hint.h"
#include "store/store.h"
#include "trace/description.h"
#include "trace/hold.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { CONTROL_MAX = 1 << 20 };

struct names {
	char **items;
	size_t count, cap;
};

static void add_name(struct names *n, const char *name, size_t len)
{
	TARE_APPEND(n->items, n->count, n->cap) = tare_xstrndup(name, len);
}

static void free_names(struct names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->items[i]);
	free(n->items);
	*n = (struct names){ 0 };
}

/* "2-0" before "10-0": shorter names first, then by letters. */
TARE_COMPARATOR_OF_POINTERS(compare_names, char, TARE_RISING_BY(strlen(it)) TARE_ALPHABETIC_BY(it))

/* Sorted, each once. */
static void sort_names(struct names *n)
{
	size_t kept = 0;

	TARE_SORT(n->items, n->count, compare_names);
	for (size_t i = 0; i < n->count; i++) {
		if (kept > 0 && !strcmp(n->items[i], n->items[kept - 1]))
			free(n->items[i]);
		else
			n->items[kept++] = n->items[i];
	}
	n->count = kept;
}

static char *join(const char *folder, const char *name, const char *suffix)
{
	return tare_str_format("%s/%s%s", folder, name, suffix);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_there(const char *folder, const char *name, const char *suffix)
{
	TARE_FREED_HERE char *path = join(folder, name, suffix);
	struct stat st;
	bool is = stat(path, &st) == 0;

	return is;
}

size_t tare_log_stem(const char *name)
{
	size_t len = strlen(name);

	if (len > 7 && !strcmp(name + len - 7, ".events"))
		return len - 7;
	if (len > 5 && !strcmp(name + len - 5, ".ring"))
		return len - 5;
	return 0;
}

/* Fills `logs` with stems and `others` (may be NULL) with the other names in a folder. */
static int list(const char *folder, struct names *logs, struct names *others, struct tare_err *err)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	if (!dir)
		return tare_err_set_errno(err, errno, "%s", folder);
	while ((entry = readdir(dir))) {
		size_t len = tare_log_stem(entry->d_name);

		if (len > 0)
			add_name(logs, entry->d_name, len);
		else if (others && entry->d_name[0] != '.')
			add_name(others, entry->d_name, strlen(entry->d_name));
	}
	closedir(dir);
	return 0;
}

static struct tare_rfolder *add_folder(struct tare_recording *r, const char *path)
{
	struct tare_rfolder *folder = tare_arena_alloc(&r->arena, sizeof(*folder));

	folder->path = tare_arena_strdup(&r->arena, path);
	folder->hold = -1;
	TARE_APPEND(r->folders, r->folder_nr, r->folder_cap) = folder;
	return folder;
}

/* A recording.json that cannot be read costs what is in it and no more. */
static const struct tare_json_value *read_json(struct tare_recording *r, const char *folder)
{
	const struct tare_json_value *value;
	struct tare_err err = { 0 };
	int rc = tare_description_read(&r->arena, folder, &value, &err);

	if (rc && rc != TARE_E_NOT_FOUND)
		tare_recording_add_note(r,
		                        "%s/recording.json is damaged (%s), so what was run is not known; the "
		                        "logs beside it are read all the same",
		                        folder, err.text);
	return value;
}

static bool read_page(struct tare_control *control, const char *folder)
{
	TARE_FREED_HERE char *path = join(folder, "control", "");
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	bool is_read = !tare_file_read(&text, path, CONTROL_MAX, NULL) && text.len >= sizeof(*control);

	if (is_read)
		memcpy(control, text.data, sizeof(*control));
	return is_read && !memcmp(control->magic, TARE_CONTROL_MAGIC, sizeof(control->magic)) &&
	       control->version <= TARE_FORMAT_VERSION;
}

/* What processes could say nowhere else. */
static void read_control(struct tare_recording *r, struct tare_rfolder *folder)
{
	const char *path = folder->spool ? folder->spool : folder->path;
	struct tare_control control;

	if (!read_page(&control, path))
		return;
	if (control.degraded > 0)
		tare_recording_add_note(
			r,
			"%llu of the processes could not open a log in %s and are "
			"not in this recording: the disk was full or not writable, or ulimit -v left too few addresses",
			(unsigned long long)control.degraded, path);
	folder->lost_in_memory = control.lost_records;
	if (control.lost_records > 0)
		tare_recording_add_note(r,
		                        "%llu records in %s given up because %s; nobody knows of "
		                        "which process",
		                        (unsigned long long)control.lost_records, path, tare_lost_meaning(TARE_LOST_IN_MEMORY));
}

/* `tare` records to a local spool when the target is a network folder, and copies at the end. */
static void follow_spool(struct tare_recording *r, struct tare_rfolder *folder)
{
	const char *spool = tare_json_get_str(folder->json, "spool");

	if (!spool || !spool[0])
		return;
	if (spool[0] != '/') {
		TARE_FREED_HERE char *path = join(folder->path, spool, "");

		spool = tare_arena_strdup(&r->arena, path);
	}
	if (is_folder(spool))
		folder->spool = spool;
	else
		tare_recording_add_note(r,
		                        "%s was being recorded to %s, which is not there; open it "
		                        "on the machine it was recorded on",
		                        folder->path, spool);
}

/* The segments in a folder, and the names of the logs in them, unless `logs` is NULL. Without any nothing happens. */
static struct tare_store *open_store(struct tare_recording *r, const char *folder, struct names *logs)
{
	struct tare_store *store = NULL;
	struct tare_err err = { 0 };
	int rc = tare_store_open(&store, folder, &err);

	if (rc && rc != TARE_E_NOT_FOUND)
		tare_recording_add_unread(r, &err);
	for (size_t i = 0; store && i < store->fault_nr; i++)
		tare_recording_add_note(r, "%s", store->faults[i]);
	if (store && store->fault_nr && !r->first_err.code)
		tare_err_set(&r->first_err, TARE_E_FORMAT, "%s", store->faults[0]);
	for (size_t i = 0; store && logs && i < store->log_nr; i++)
		add_name(logs, store->logs[i].part.name, strlen(store->logs[i].part.name));
	return store;
}

static bool has_log(const char *folder, const struct tare_store *store, const char *name)
{
	return (store && tare_store_find(store, name)) || is_there(folder, name, ".events") ||
	       is_there(folder, name, ".ring");
}

/* One recording: the logs of the spool, and those of the folder that the spool does not have. */
static int find_in(struct tare_recording *r, const char *path, struct tare_err *err)
{
	struct tare_rfolder *folder = add_folder(r, path);
	struct names logs = { 0 };
	const char *state;
	int rc;

	folder->json = read_json(r, path);
	follow_spool(r, folder);
	if (folder->spool && is_there(folder->spool, "recording.json", ""))
		folder->json = read_json(r, folder->spool);
	state = tare_json_get_str(folder->json, "state");
	if (state && !strcmp(state, "recording"))
		r->is_open = true;
	/* Also when the program has ended: what was being made small then goes on for a while. */
	if (r->reach.scope == TARE_LOG_WHOLE)
		folder->hold = tare_hold_to_read(folder->spool ? folder->spool : path);
	read_control(r, folder);
	rc = list(path, &logs, NULL, err);
	if (!rc && folder->spool)
		rc = list(folder->spool, &logs, NULL, err);
	folder->store = open_store(r, path, &logs);
	if (folder->spool)
		folder->spool_store = open_store(r, folder->spool, &logs);
	sort_names(&logs);
	for (size_t i = 0; i < logs.count; i++) {
		bool is_spooled = folder->spool && has_log(folder->spool, folder->spool_store, logs.items[i]);
		TARE_FREED_HERE char *log = join(is_spooled ? folder->spool : path, logs.items[i], ".events");

		tare_recording_add_log(r, folder, is_spooled ? folder->spool_store : folder->store, log);
	}
	free_names(&logs);
	return rc;
}

/* Every log stays open while it is read; a job with thousands of processes needs a higher limit. */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void add_recordings_below(struct names *out, const char *path, const struct names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		TARE_FREED_HERE char *below = join(path, names->items[i], "");
		struct names logs = { 0 };

		if (is_folder(below) && !list(below, &logs, NULL, NULL) &&
		    (logs.count > 0 || is_there(below, "recording.json", "") || is_there(below, TARE_STORE_MANIFEST, "")))
			add_name(out, below, strlen(below));
		free_names(&logs);
	}
}

static int no_such(const char *path, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str hint = { 0 };

	tare_hint_path(&hint, path, ".tare");
	tare_err_set(err, TARE_E_NOT_FOUND, "%s: there is no such recording%s", path, tare_str_text(&hint));
	return TARE_E_NOT_FOUND;
}

/* A folder with logs is a recording; one without may hold recordings: the ranks of a job. */
static int add_recordings(struct names *out, const char *path, struct tare_err *err)
{
	struct names logs = { 0 }, others = { 0 };
	size_t before = out->count;
	struct stat st;
	int rc = 0;

	if (stat(path, &st) < 0) {
		if (errno == ENOENT)
			return no_such(path, err);
		return tare_err_set_errno(err, errno, "%s", path);
	}
	if (S_ISDIR(st.st_mode))
		rc = list(path, &logs, &others, err);
	sort_names(&others);
	if (!S_ISDIR(st.st_mode) || logs.count > 0 || is_there(path, "recording.json", "") ||
	    is_there(path, "control", "") || is_there(path, TARE_STORE_MANIFEST, ""))
		add_name(out, path, strlen(path));
	else if (!rc)
		add_recordings_below(out, path, &others);
	if (!rc && out->count == before)
		rc = tare_err_set(err, TARE_E_FORMAT,
		                  "%s holds no recording of Tare; give a folder NAME.tare, which "
		                  "`tare run` makes",
		                  path);
	free_names(&logs);
	free_names(&others);
	return rc;
}

static void find_one_log(struct tare_recording *r, const char *path)
{
	const char *slash = strrchr(path, '/');
	TARE_FREED_HERE char *dir =
		slash ? tare_xstrndup(path, (size_t)(slash - path) + (slash == path)) : tare_xstrdup(".");
	struct tare_rfolder *folder;

	r->is_one_log = true;
	folder = add_folder(r, dir);
	folder->store = open_store(r, dir, NULL);
	tare_recording_add_log(r, folder, folder->store, path);
}

/* Given twice, by its name and by its folder's, a recording is still one. */
static bool is_there_before(char *const *paths, size_t i)
{
	struct stat own, other;

	for (size_t k = 0; k < i && stat(paths[i], &own) == 0; k++)
		if (stat(paths[k], &other) == 0 && own.st_dev == other.st_dev && own.st_ino == other.st_ino)
			return true;
	return false;
}

static void drop_doubles(struct names *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->count; i++) {
		char *path = n->items[i];

		n->items[kept] = path;
		if (is_there_before(n->items, kept))
			free(path);
		else
			kept++;
	}
	n->count = kept;
}

int tare_recording_find_logs(struct tare_recording *r, const char *const *paths, size_t path_nr, const char *job,
                             struct tare_err *err)
{
	struct names found = { 0 };
	int rc = 0;

	allow_many_files();
	for (size_t i = 0; i < path_nr && !rc; i++)
		rc = add_recordings(&found, paths[i], err);
	drop_doubles(&found);
	if (!rc && !r->is_of_any)
		rc = tare_recording_choose_job(found.items, found.count, job, err);
	for (size_t i = 0; i < found.count && !rc; i++) {
		if (!found.items[i])
			continue; /* of another job */
		if (is_folder(found.items[i]))
			rc = find_in(r, found.items[i], err);
		else
			find_one_log(r, found.items[i]);
	}
	free_names(&found);
	return rc;
}
