/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the folder of a recording, and moves it where it was wanted. */
#include "session/folder.h"

#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "base/temp_folder.h"
#include "base/xalloc.h"
#include "session/control.h"
#include "session/wanted.h"
#include "trace/chunk_files.h"
#include "trace/rank.h"
#include "record/script.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

/* f_type of statfs(2); mapping files there is slow, unsupported or a SIGBUS waiting. */
static const struct {
	unsigned long type;
	const char *name;
} remote[] = {
	{ 0x6969, "NFS" },        { 0x517b, "SMB" },       { 0xfe534d42, "SMB" },      { 0xff534d42, "CIFS" },
	{ 0x65735546, "FUSE" },   { 0x01021997, "9p" },    { 0x00c36400, "Ceph" },     { 0x0bd00bd0, "Lustre" },
	{ 0x19830326, "BeeGFS" }, { 0x47504653, "GPFS" },  { 0x5346414f, "AFS" },      { 0x7461636f, "OCFS2" },
	{ 0x01161970, "GFS2" },   { 0xaad7aaea, "PanFS" }, { 0x20030528, "OrangeFS" },
};

const char *tare_folder_remote_kind(const char *path)
{
	struct statfs fs;
	size_t i;

	if (statfs(path, &fs) != 0)
		return NULL;
	for (i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		if ((unsigned long)fs.f_type == remote[i].type)
			return remote[i].name;
	return getenv("TARE_TEST_REMOTE_FOLDER") ? "test" : NULL;
}

/* "train.py" of a program's own name, or of `python3 train.py`. */
static void add_program(struct tare_str *out, const char *const *argv)
{
	const char *base = strrchr(argv[0], '/');
	TARE_FREED_BY(tare_str_free) struct tare_str args = { 0 };
	char script[64] = "";

	base = base ? base + 1 : argv[0];
	for (size_t i = 0; argv[i]; i++) {
		tare_str_add(&args, argv[i]);
		tare_str_add_char(&args, '\0');
	}
	if (tare_script_is_python(base))
		tare_script_name(script, sizeof(script), tare_str_text(&args));
	tare_str_addf(out, "%.100s", script[0] && strcmp(script, TARE_SCRIPT_CODE) != 0 ? script : base);
}

void tare_folder_add_stem(struct tare_str *out, const char *const *argv, const char *kind)
{
	time_t now = time(NULL);
	char date[32];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	add_program(out, argv);
	tare_str_addf(out, "-%s%s-%d", kind, date, (int)getpid());
}

char *tare_folder_own_name(const char *const *argv)
{
	struct tare_str name = { 0 };
	struct tare_rank rank;

	tare_folder_add_stem(&name, argv, "");
	if (tare_rank_of_environment(&rank))
		tare_str_addf(&name, ".r%d", rank.rank);
	tare_str_add(&name, ".tare");
	return tare_str_steal(&name);
}

static char *absolute(const char *path)
{
	struct tare_str out = { 0 };
	char cwd[PATH_MAX];

	if (path[0] != '/' && getcwd(cwd, sizeof(cwd)))
		tare_str_addf(&out, "%s/", cwd);
	tare_str_add(&out, path);
	while (out.len > 1 && out.data[out.len - 1] == '/')
		tare_str_cut(&out, out.len - 1);
	return tare_str_steal(&out);
}

static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ? tare_xstrdup("/") : tare_xstrndup(path, (size_t)(slash - path));
}

static char *in_folder(const char *folder, const char *name)
{
	return tare_str_format("%s/%s", folder, name);
}

/* Only what a recording consists of is ever deleted, so a wrong -o -f costs nobody his files. */
static bool is_recording_file(const char *name)
{
	static const char *const ends[] = { ".events", ".ring", ".new", ".segment", ".state" };
	size_t i, n = strlen(name);

	if (strcmp(name, "recording.json") == 0 || strcmp(name, "control") == 0 || strcmp(name, "segments.json") == 0 ||
	    strcmp(name, TARE_WANTED_FILE) == 0 || tare_chunk_name(name, NULL))
		return true;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (n > strlen(ends[i]) && strcmp(name + n - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

static int for_each_file(const char *folder, int (*fn)(const char *path, const char *name, void *arg), void *arg)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int rc = 0;

	if (!dir)
		return -errno;
	while (rc == 0 && (entry = readdir(dir))) {
		char *path;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		path = in_folder(folder, entry->d_name);
		rc = fn(path, entry->d_name, arg);
		free(path);
	}
	closedir(dir);
	return rc;
}

static int is_foreign(const char *path, const char *name, void *arg)
{
	(void)path;
	(void)arg;
	return is_recording_file(name) ? 0 : 1;
}

static int remove_one(const char *path, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return unlink(path) == 0 ? 0 : -errno;
}

static int remove_recording(const char *folder, struct tare_err *err)
{
	int rc = for_each_file(folder, is_foreign, NULL);

	if (rc == 1)
		return tare_err_set(err, TARE_E_EXISTS,
		                    "%s: it holds files that are no recording, so -f does not replace it; "
		                    "choose another name",
		                    folder);
	if (rc == 0)
		rc = for_each_file(folder, remove_one, NULL);
	if (rc == 0 && rmdir(folder) != 0)
		rc = -errno;
	return rc < 0 ? tare_err_set_errno(err, -rc, "%s: the old recording cannot be removed", folder) : 0;
}

static int make_folder(const char *path, struct tare_err *err)
{
	if (mkdir(path, 0700) == 0)
		return 0;
	return tare_err_set_errno(err, errno, "%s: the recording's folder cannot be made; give another with -o", path);
}

/* A place on a local disk, of this user alone. */
static int make_spool(char **out, const char *name, bool no_paths, struct tare_err *err)
{
	const char *candidates[] = { no_paths ? NULL : getenv("TMPDIR"), "/var/tmp", "/tmp" };
	size_t i;

	for (i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

		if (!candidates[i] || candidates[i][0] != '/' || strncmp(candidates[i], "/dev/shm", 8) == 0 ||
		    (tare_folder_remote_kind(candidates[i]) && !getenv("TARE_TEST_REMOTE_FOLDER")))
			continue;
		tare_str_addf(&path, "%s/tare-spool-XXXXXX", candidates[i]);
		if (mkdtemp(path.data)) {
			*out = in_folder(path.data, name);
			return make_folder(*out, err);
		}
	}
	return tare_err_set(err, TARE_E_IO,
	                    "the recording's target is on a network file system and no local folder takes a spool; "
	                    "set TMPDIR to one");
}

/* What stands at the target meanwhile: a recording that says where it really is. */
static int leave_pointer(const struct tare_folder *folder, struct tare_err *err)
{
	TARE_FREED_HERE char *path = in_folder(folder->path, "recording.json");
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	struct tare_json j = { .out = &text };
	int rc;

	tare_json_open(&j, NULL, '{');
	tare_json_u64(&j, "tare", 1);
	tare_json_str(&j, "state", "recording");
	tare_json_str(&j, "spool", folder->work);
	tare_json_close(&j);
	rc = tare_file_write(path, &text, 0600);
	if (rc)
		rc = tare_err_set_errno(err, -rc, "%s: cannot be written", path);
	return rc;
}

int tare_folder_make(struct tare_folder *out, const char *wanted, bool force, bool no_paths, const char *const *argv,
                     struct tare_err *err)
{
	char *name = wanted ? tare_xstrdup(wanted) : tare_folder_own_name(argv);
	char *parent;
	struct stat st;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	out->path = absolute(name);
	free(name);
	parent = parent_of(out->path);
	if (lstat(out->path, &st) == 0) {
		if (!force)
			rc = tare_err_set(err, TARE_E_EXISTS, "%s: exists already; choose another name, or -f to replace it",
			                  out->path);
		else if (!S_ISDIR(st.st_mode))
			rc = tare_err_set(err, TARE_E_EXISTS, "%s: is a file, and a recording is a folder; choose another name",
			                  out->path);
		else if (tare_control_is_written(out->path))
			rc = tare_err_set(err, TARE_E_EXISTS,
			                  "%s: is still being written, so -f does not replace it; choose another "
			                  "name, or wait until its programs have ended",
			                  out->path);
		else
			rc = remove_recording(out->path, err);
	}
	/* Where we choose the name, we may choose the folder too. */
	if (rc == 0 && !wanted && access(parent, W_OK) != 0) {
		TARE_FREED_HERE char *base = tare_xstrdup(strrchr(out->path, '/') + 1);

		free(out->path);
		out->path = in_folder("/var/tmp", base);
	}
	if (rc == 0)
		rc = make_folder(out->path, err);
	if (rc == 0 && tare_folder_remote_kind(parent)) {
		out->is_spooled = true;
		rc = make_spool(&out->work, strrchr(out->path, '/') + 1, no_paths, err);
		if (rc == 0)
			rc = leave_pointer(out, err);
	} else if (rc == 0) {
		out->work = tare_xstrdup(out->path);
	}
	free(parent);
	if (rc)
		tare_folder_free(out);
	return rc;
}

static int copy_bytes(int in, int out)
{
	char buffer[65536];
	ssize_t n, done;

	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		for (ssize_t at = 0; at < n; at += done) {
			done = write(out, buffer + at, (size_t)(n - at));
			if (done <= 0)
				return done < 0 ? -errno : -ENOSPC;
		}
	return n < 0 ? -errno : 0;
}

static int copy_file(const char *from, const char *to)
{
	int in = tare_file_open(from, NULL), out, rc;

	if (in < 0)
		return in == TARE_E_FORMAT ? -EINVAL : -errno;
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	rc = out < 0 ? -errno : copy_bytes(in, out);
	close(in);
	if (out >= 0 && close(out) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

/* recording.json says that all is there, so it goes last. */
static int copy_one(const char *path, const char *name, void *arg)
{
	char *target;
	int rc;

	if (strcmp(name, "recording.json") == 0)
		return 0;
	target = in_folder(arg, name);
	rc = copy_file(path, target);
	free(target);
	return rc;
}

static int copy_description(const struct tare_folder *folder)
{
	TARE_FREED_HERE char *from = in_folder(folder->work, "recording.json");
	TARE_FREED_HERE char *fresh = in_folder(folder->path, "recording.json.new");
	TARE_FREED_HERE char *to = in_folder(folder->path, "recording.json");
	int rc = copy_file(from, fresh);

	if (rc == 0 && rename(fresh, to) != 0)
		rc = -errno;
	return rc;
}

int tare_folder_settle(struct tare_folder *folder, struct tare_err *err)
{
	char *spool;
	int rc;

	if (!folder->is_spooled)
		return 0;
	rc = for_each_file(folder->work, copy_one, folder->path);
	if (rc == 0)
		rc = copy_description(folder);
	if (rc < 0)
		return tare_err_set_errno(err, -rc, "%s: the recording stays in %s", folder->path, folder->work);
	for_each_file(folder->work, remove_one, NULL);
	rmdir(folder->work);
	spool = parent_of(folder->work);
	rmdir(spool);
	free(spool);
	free(folder->work);
	folder->work = tare_xstrdup(folder->path);
	folder->is_spooled = false;
	return 0;
}

/* Of a spool what is around it, which is of this recording alone. */
void tare_folder_watch(const struct tare_folder *folder, bool is_half)
{
	TARE_FREED_HERE char *spool = folder->is_spooled ? parent_of(folder->work) : NULL;

	(is_half ? tare_temp_folder_watch : tare_temp_folder_keep)(folder->path);
	if (spool)
		(is_half ? tare_temp_folder_watch : tare_temp_folder_keep)(spool);
}

void tare_folder_remove(const struct tare_folder *folder)
{
	char *spool;

	for_each_file(folder->work, remove_one, NULL);
	rmdir(folder->work);
	if (!folder->is_spooled)
		return;
	spool = parent_of(folder->work);
	rmdir(spool);
	free(spool);
	for_each_file(folder->path, remove_one, NULL);
	rmdir(folder->path);
}
