/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compacts a recording: finds the logs that nobody writes, has segments made of them, and removes the files that the
 * segments replace.
 */
#include "compact/compact.h"

#include "base/str.h"
#include "base/xalloc.h"
#include "compact/make.h"
#include "store/store.h"
#include "trace/chunk_files.h"
#include "trace/hold.h"
#include "trace/log.h"

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
	char **names;               /* of logs that are not in segments yet, by the index of their processes; else NULL */
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

static bool has_state(const struct tare_manifest *m, uint32_t number)
{
	for (size_t i = 0; i < m->state_nr; i++)
		if (m->states[i].number == number)
			return true;
	for (size_t i = 0; i < m->kept_nr; i++)
		if (m->kept[i].number == number)
			return true;
	return false;
}

/* Everything that was made and that no manifest names. */
static void remove_made(const struct compaction *c, size_t old)
{
	struct tare_manifest there;
	int rc = tare_manifest_read(&there, c->folder, NULL);

	for (size_t i = old; i < c->named.nr; i++) {
		TARE_FREED_HERE char *path = tare_manifest_path(c->folder, c->named.numbers[i]);

		if (rc || !is_named(&there, c->named.numbers[i]))
			unlink(path);
	}
	tare_manifest_free(&there);
}

/* What was written is read before what it was written from is removed. */
static int check_made(const struct compaction *c, size_t old, struct tare_err *err)
{
	uint64_t bytes = 0;
	int rc = 0;

	for (size_t i = old; i < c->named.nr && !rc; i++) {
		TARE_FREED_HERE char *path = tare_manifest_path(c->folder, c->named.numbers[i]);
		struct tare_segment_file segment = { 0 };
		TARE_FREED_BY(tare_pack_free) struct tare_pack block = { 0 };
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

/* What a folder has, and what of it its manifest names. */
struct rest {
	int folder;
	const struct tare_store *store;
	const struct tare_manifest *manifest;
	bool keeps_raw;
};

/* Of a log: NAME.events, a chunk of it, or NAME.ring. */
static void remove_raw(const struct rest *rest, const char *file, const char *name)
{
	if (!rest->keeps_raw && !is_begun(rest->store, name) && is_safe(rest->store, name))
		unlinkat(rest->folder, file, 0);
}

/* Of logs that are still written, the records that segments have go; the records that stay keep their positions. */
static void trim_logs(const char *folder, const struct tare_store *store)
{
	for (size_t i = 0; i < store->log_nr && store->fault_nr == 0; i++) {
		const struct tare_log_part *part = &store->logs[i].part;
		TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

		tare_str_addf(&path, "%s/%s.events", folder, part->name);
		if (part->is_begun)
			tare_log_trim(path.data, part->end);
	}
}

static void remove_file(const struct rest *rest, const char *file)
{
	const char *dot = strchr(file, '.');
	uint32_t segment = tare_manifest_number(file), state = tare_manifest_state_number(file);
	TARE_FREED_HERE char *name = dot ? tare_xstrndup(file, (size_t)(dot - file)) : NULL;

	if (dot && (!strcmp(dot, ".events") || !strcmp(dot, ".ring") || tare_chunk_name(file, NULL)))
		remove_raw(rest, file, name);
	else if ((segment && !is_named(rest->manifest, segment)) || (state && !has_state(rest->manifest, state)) ||
	         (dot && (!strcmp(dot, ".segment.new") || !strcmp(dot, ".state.new") ||
	                  (!strcmp(dot, ".json.new") && strcmp(name, "recording") != 0))))
		unlinkat(rest->folder, file, 0);
}

void tare_compact_clean(const char *folder, bool keeps_raw, bool waits_for_readers)
{
	struct tare_manifest manifest = { 0 };
	int hold = tare_hold_to_change(folder);
	struct tare_store *store;
	struct dirent *entry;
	DIR *dir;

	if (hold == -1 && waits_for_readers)
		return;
	if (tare_store_open(&store, folder, NULL)) {
		tare_hold_end(hold);
		return;
	}
	/* Of a damaged manifest it is not known what it named. */
	dir = tare_manifest_read(&manifest, folder, NULL) || manifest.fault ? NULL : opendir(folder);
	while (dir && (entry = readdir(dir)))
		remove_file(&(struct rest){ dirfd(dir), store, &manifest, keeps_raw }, entry->d_name);
	if (dir && !keeps_raw)
		trim_logs(folder, store);
	if (dir)
		closedir(dir);
	tare_manifest_free(&manifest);
	tare_store_close(store);
	tare_hold_end(hold);
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
	return step == TARE_LOG_RECORD || (step == TARE_LOG_GAP && rec.position + rec.bytes < tare_log_info(log)->end);
}

/* Logs of which something is not in segments yet; returns how many there are. */
static int find_logs(struct compaction *c, bool is_running)
{
	int nr = tare_recording_process_nr(c->recording), found = 0;

	c->names = tare_xcalloc((size_t)nr, sizeof(*c->names));
	for (int i = 0; i < nr; i++) {
		const struct tare_process *p = tare_recording_process(c->recording, i);

		if (p->log[0] && (!is_running || has_rest(p))) {
			c->names[i] = name_of(p->log);
			c->result->is_cut_short |= tare_log_info(tare_recording_log(p))->is_cut_short;
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
		                              .is_begin = o->below != NULL,
		                              .whole = o->whole,
		                              .arg = o->arg,
		                              .drops_events = o->drops_events };
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

		if (log[0] && (strncmp(log, folder, n) != 0 || log[n] != '/' || strchr(log + n + 1, '/')))
			return tare_err_set(c->err, TARE_E_USAGE, "%s: %s is not in it; give the folder of one recording", folder,
			                    log);
	}
	if (tare_recording_is_open(c->recording) && !is_forced)
		return tare_err_set(c->err, TARE_E_USAGE,
		                    "%s was not closed in order: it may still be written, here or on another "
		                    "machine; if Tare or the program was killed, say --force",
		                    folder);
	return 0;
}

static void compact(struct compaction *c, const struct tare_compact_options *o)
{
	struct tare_log_reach reach = { .scope = TARE_LOG_REST, .below = o->below, .arg = o->arg };

	if (o->below) {
		reach.scope = TARE_LOG_SETTLED;
		reach.most = o->most;
	}
	c->rc = tare_recording_open_scope(&c->recording, c->folder, &reach, c->err);
	if (c->rc)
		return;
	c->rc = check_is_closed(c, o->is_forced || o->below);
	c->result->was_done = !c->rc && !find_logs(c, o->below != NULL);
	if (!c->rc && !c->result->was_done)
		make_segments(c, o);
	if (!c->rc)
		tare_compact_clean(c->folder, o->keeps_raw, o->below != NULL && !o->is_pressed);
	for (int i = 0; c->names && i < tare_recording_process_nr(c->recording); i++)
		free(c->names[i]);
	free(c->names);
	tare_manifest_free(&c->named);
	tare_recording_close(c->recording);
}

int tare_compact_lock(const char *folder, int *lock, struct tare_err *err)
{
	*lock = open(folder, O_DIRECTORY | O_CLOEXEC);
	if (*lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(*lock);
		*lock = -1;
		return tare_err_set(err, TARE_E_USAGE, "%s is being compacted by another tare; wait for its end", folder);
	}
	return 0; /* what is no folder is told when it is opened as a recording */
}

int tare_compact(const char *folder, const struct tare_compact_options *o, struct tare_compacted *out,
                 struct tare_err *err)
{
	struct compaction c = { .folder = folder, .result = out, .err = err };
	int lock = -1, rc = o->is_locked ? 0 : tare_compact_lock(folder, &lock, err);

	*out = (struct tare_compacted){ 0 };
	if (rc)
		return rc;
	compact(&c, o);
	if (lock >= 0)
		close(lock);
	return c.rc;
}
