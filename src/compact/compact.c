/* SPDX-License-Identifier: Apache-2.0 */
#include "compact/compact.h"

#include "base/str.h"
#include "base/xalloc.h"
#include "compact/make.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct compaction {
	const char *folder;
	struct tare_recording *recording;
	char **names; /* of logs that are not in segments yet, by the index of their processes; else NULL */
	struct tare_manifest named; /* by the manifest that was there, and those made since */
	struct tare_compacted *result;
	struct tare_err *err;
	int rc;
};

/* "431-0" of "…/431-0.events". */
static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return tare_xstrndup(name, strlen(name) - strlen(".events"));
}

static bool is_named(const struct tare_manifest *m, uint32_t number)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->numbers[i] == number)
			return true;
	return false;
}

/* Everything that was made and that no manifest names. */
static void remove_made(const struct compaction *c, size_t old)
{
	struct tare_manifest there;
	int rc = tare_manifest_read(&there, c->folder, NULL);

	for (size_t i = old; i < c->named.nr; i++) {
		char *path = tare_manifest_path(c->folder, c->named.numbers[i]);

		if (rc || !is_named(&there, c->named.numbers[i]))
			unlink(path);
		free(path);
	}
	tare_manifest_free(&there);
}

/* What was written is read before what it was written from is removed. */
static int check_made(const struct compaction *c, size_t old, struct tare_err *err)
{
	uint64_t bytes = 0;
	int rc = 0;

	for (size_t i = old; i < c->named.nr && !rc; i++) {
		char *path = tare_manifest_path(c->folder, c->named.numbers[i]);
		struct tare_segment_file segment = { 0 };
		struct tare_pack block = { 0 };
		struct stat st;

		rc = tare_segment_open(&segment, path, err);
		for (size_t k = 0; !rc && k < segment.entry_nr; k++)
			if (segment.is_scanned || !tare_segment_read(&segment, k, &block))
				rc = tare_err_set(err, TARE_E_IO,
						  "%s cannot be read as it was written, so the "
						  "recording stays as it was; check the disk",
						  path);
		tare_segment_free(&segment);
		bytes += stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
		tare_pack_free(&block);
		free(path);
	}
	c->result->segment_bytes = bytes;
	return rc;
}

/* The segments have the log, and nothing of it is damaged there. */
static bool is_safe(const struct tare_store *store, const char *name)
{
	const struct tare_stored_log *log = tare_store_find(store, name);

	return log && store->fault_nr == 0 && tare_store_check(store, log).blocks == 0;
}

static bool is_begun(const struct tare_store *store, const char *name)
{
	const struct tare_stored_log *log = tare_store_find(store, name);

	return log && log->part.is_begun;
}

/* What segments have of a log that is still written goes back to the disk; what stays keeps its place. */
static void give_back(int folder, const char *name, const struct tare_log_part *part)
{
	int fd = openat(folder, name, O_RDWR | O_CLOEXEC);
	uint64_t base = part->header.base, bytes = part->end > base ? part->end - base : 0;

	if (fd < 0)
		return;
	if (bytes)
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, part->header.header_bytes,
			  (off_t)bytes);
	close(fd);
}

/* Files of logs that the segments have, and segments that the manifest does not name. */
static void remove_rest(const char *folder, bool keeps_raw)
{
	struct tare_manifest manifest = { 0 };
	struct tare_store *store;
	struct dirent *entry;
	DIR *dir;

	if (tare_store_open(&store, folder, NULL))
		return;
	/* Of a damaged manifest it is not known what it named. */
	if (tare_manifest_read(&manifest, folder, NULL) || manifest.fault) {
		tare_manifest_free(&manifest);
		tare_store_close(store);
		return;
	}
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		const char *dot = strchr(entry->d_name, '.');
		char *stem = dot ? tare_xstrndup(entry->d_name, (size_t)(dot - entry->d_name))
				 : tare_xstrdup("");
		uint32_t number = tare_manifest_number(entry->d_name);
		bool is_raw = dot && (!strcmp(dot, ".events") || !strcmp(dot, ".ring"));
		bool is_new = dot && (!strcmp(dot, ".segment.new") || !strcmp(dot, ".json.new"));

		if (is_raw && is_begun(store, stem)) {
			if (!keeps_raw && !strcmp(dot, ".events"))
				give_back(dirfd(dir), entry->d_name,
					  &tare_store_find(store, stem)->part);
		} else if ((is_raw && !keeps_raw && is_safe(store, stem)) ||
			   (number && !is_named(&manifest, number)) ||
			   (is_new && strcmp(stem, "recording") != 0))
			unlinkat(dirfd(dir), entry->d_name, 0);
		free(stem);
	}
	if (dir)
		closedir(dir);
	tare_manifest_free(&manifest);
	tare_store_close(store);
}

static uint32_t highest_number(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	uint32_t high = 0;

	while (dir && (entry = readdir(dir))) {
		uint32_t number = tare_manifest_number(entry->d_name);

		high = number > high ? number : high;
	}
	if (dir)
		closedir(dir);
	return high;
}

/* More than the begin of a record that is being written. */
static bool has_rest(const struct tare_process *p)
{
	struct tare_log *log = tare_recording_log(p);
	struct tare_log_record rec;
	enum tare_log_step step;

	tare_log_rewind(log, 0);
	step = tare_log_next(log, &rec);
	return step == TARE_LOG_RECORD ||
	       (step == TARE_LOG_GAP && rec.position + rec.bytes < tare_log_info(log)->end);
}

/* Logs of which something is not in segments yet; returns how many there are. */
static int find_logs(struct compaction *c, bool is_running)
{
	int nr = tare_recording_process_nr(c->recording), found = 0;

	c->names = tare_xcalloc((size_t)nr, sizeof(*c->names));
	for (int i = 0; i < nr; i++) {
		const struct tare_process *p = tare_recording_process(c->recording, i);

		if (p->log[0] && p->role != TARE_ROLE_CHECKPOINT && (!is_running || has_rest(p))) {
			c->names[i] = name_of(p->log);
			found++;
		}
	}
	return found;
}

static void make_segments(struct compaction *c, const struct tare_compact_options *o)
{
	struct tare_segment_plan plan = { .folder = c->folder,
					  .recording = c->recording,
					  .names = c->names,
					  .number = highest_number(c->folder) + 1,
					  .segment_records = o->segment_records,
					  .is_begin = o->below != NULL };
	size_t old;

	c->rc = tare_manifest_read(&c->named, c->folder, c->err);
	if (c->rc == TARE_E_NOT_FOUND)
		c->rc = 0;
	old = c->named.nr;
	if (!c->rc)
		c->rc = tare_make_segments(&plan, &c->named, c->result, c->err);
	if (!c->rc)
		c->rc = check_made(c, old, c->err);
	if (!c->rc)
		c->rc = tare_manifest_write(&c->named, c->folder, c->err);
	if (c->rc)
		remove_made(c, old);
	c->result->segments = (uint32_t)(c->named.nr - old);
}

static int check_is_closed(const struct compaction *c, bool is_forced)
{
	const char *folder = c->folder;
	size_t n = strlen(folder);

	for (int i = 0; i < tare_recording_process_nr(c->recording); i++) {
		const char *log = tare_recording_process(c->recording, i)->log;

		if (log[0] &&
		    (strncmp(log, folder, n) != 0 || log[n] != '/' || strchr(log + n + 1, '/')))
			return tare_err_set(c->err, TARE_E_USAGE,
					    "%s: %s is not in it; give the folder of one recording",
					    folder, log);
	}
	if (tare_recording_is_open(c->recording) && !is_forced)
		return tare_err_set(
			c->err, TARE_E_USAGE,
			"%s was not closed in order: it may still be written, here or on another "
			"machine; if Tare or the program was killed, say --force",
			folder);
	return 0;
}

static void compact(struct compaction *c, const struct tare_compact_options *o)
{
	struct tare_log_reach reach = { TARE_LOG_REST, o->below, o->arg };

	if (o->below)
		reach.scope = TARE_LOG_SETTLED;
	c->rc = tare_recording_open_scope(&c->recording, c->folder, &reach, c->err);
	if (c->rc)
		return;
	c->rc = check_is_closed(c, o->is_forced || o->below);
	c->result->was_done = !c->rc && !find_logs(c, o->below != NULL);
	if (!c->rc && !c->result->was_done)
		make_segments(c, o);
	if (!c->rc)
		remove_rest(c->folder, o->keeps_raw);
	for (int i = 0; c->names && i < tare_recording_process_nr(c->recording); i++)
		free(c->names[i]);
	free(c->names);
	tare_manifest_free(&c->named);
	tare_recording_close(c->recording);
}

/* One at a time. The lock goes with the process; where a file system has none there is none. */
static int lock(const char *folder, struct tare_err *err)
{
	int fd = open(folder, O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(fd);
		return tare_err_set(err, TARE_E_USAGE,
				    "%s is being compacted by another tare; wait for its end",
				    folder);
	}
	return fd; /* what is no folder is told when it is opened as a recording */
}

int tare_compact(const char *folder, const struct tare_compact_options *o,
		 struct tare_compacted *out, struct tare_err *err)
{
	struct compaction c = { .folder = folder, .result = out, .err = err };
	int fd = lock(folder, err);

	*out = (struct tare_compacted){ 0 };
	if (fd == TARE_E_USAGE)
		return fd;
	compact(&c, o);
	if (fd >= 0)
		close(fd);
	return c.rc;
}
