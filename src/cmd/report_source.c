/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files of source for a page, those only that may be passed on. */
#include "cmd/report_source.h"

#include "base/file.h"
#include "trace/description.h"
#include "trace/recording.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No file of source that somebody reads is larger. */
enum { SOURCE_MAX = 8 << 20 };

/* ---- of which recordings ---- */

/* "" where nobody says: of one that tare import made, or that is damaged. */
static void add_host(struct tare_str *out, const char *folder)
{
	const struct tare_json_value *root, *host;
	TARE_FREED_BY(tare_arena_free) struct tare_arena arena = { 0 };

	tare_description_read(&arena, folder, &root, NULL);
	host = tare_json_get(root, "host");
	if (host && host->type == TARE_JSON_STRING)
		tare_str_add_n(out, host->text, host->text_len);
}

static void refuse_others(struct tare_str *why, const char *folder, const char *here)
{
	TARE_FREED_BY(tare_str_free) struct tare_str host = { 0 };

	add_host(&host, folder);
	if (!host.len)
		tare_str_add(why, "the recording does not say on which machine it was made");
	else if (strcmp(tare_str_text(&host), here) != 0)
		tare_str_addf(why, "the recording was made on another machine (%s)", tare_str_text(&host));
}

void tare_report_sources_of(struct tare_report_sources *out, const struct tare_recording *recording, bool is_of_any)
{
	char here[256] = "";
	struct stat about;

	*out = (struct tare_report_sources){ .recording = recording, .owner = geteuid() };
	gethostname(here, sizeof(here) - 1);
	for (size_t i = 0; i < tare_recording_folder_nr(recording); i++) {
		const char *folder;

		tare_recording_folder_dropped_ns(recording, i, &folder);
		if (stat(folder, &about) == 0 && about.st_uid != geteuid())
			out->owner = about.st_uid;
		if (!is_of_any && !out->refused.len)
			refuse_others(&out->refused, folder, here);
	}
}

/* ---- which files ---- */

static bool may_read(const struct stat *about, uid_t owner, mode_t right)
{
	return about->st_uid == owner ? about->st_mode & (right << 6) : about->st_mode & right;
}

/* Could the owner read it, as far as rights for all and his own go? `path`: without links. */
static bool is_for_owner(const char *path, const struct stat *about, uid_t owner)
{
	char folder[PATH_MAX];
	struct stat st;

	if (!may_read(about, owner, S_IROTH))
		return false;
	snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash; (slash = strrchr(folder, '/')) && slash != folder;) {
		*slash = '\0';
		if (stat(folder, &st) != 0 || !may_read(&st, owner, S_IXOTH))
			return false;
	}
	return true;
}

static const char *why_not(int fd, const char *path, const struct tare_report_sources *s, struct stat *about,
                           struct tare_str *leads_to)
{
	char name[PATH_MAX];

	if (fstat(fd, about) != 0 || !S_ISREG(about->st_mode))
		return "what is called so is no file";
	if (!tare_file_name(fd, name))
		return "where its name leads cannot be told";
	if (strcmp(name, path) != 0 && !tare_page_is_source(name))
		return "its name is a link to what is not called as source is";
	if (s->owner != geteuid() && !is_for_owner(name, about, s->owner))
		return "the owner of the recording may not read it";
	if (strcmp(name, path) != 0)
		tare_str_add(leads_to, name);
	return NULL;
}

/* "PATH: cannot be read: …" without what the page says already. */
static void add_sentence(struct tare_str *out, const struct tare_err *err, const char *path)
{
	size_t len = strlen(path);
	bool is_named = !strncmp(err->text, path, len) && err->text[len] == ':';

	tare_str_add(out, is_named ? err->text + len + 2 : err->text);
}

void tare_report_read_source(const void *of, const char *path, struct tare_page_source *out)
{
	const struct tare_report_sources *s = of;
	int64_t started = tare_recording_started_realtime_ns(s->recording);
	struct tare_err err = { 0 };
	struct stat about;
	const char *why;
	int fd;

	if (stat(path, &about) != 0) {
		tare_str_add(&out->why, "it is not on the machine that made this page");
		return;
	}
	fd = S_ISREG(about.st_mode) ? tare_file_open(path, &err) : -1;
	why = S_ISREG(about.st_mode) && fd < 0 ? NULL : why_not(fd, path, s, &about, &out->leads_to);
	if (why)
		tare_str_add(&out->why, why);
	else if (fd < 0 || tare_file_read_open(&out->text, fd, SOURCE_MAX, &err))
		add_sentence(&out->why, &err, path);
	if (fd >= 0)
		close(fd);
	out->is_newer =
		!out->why.len && started > 0 && (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec > started;
}
