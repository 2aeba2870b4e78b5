/* SPDX-License-Identifier: Apache-2.0 */
/* Finds recordings that are being written. */
#include "top/find.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/str.h"
#include "session/control.h"
#include "session/recorded.h"
#include "trace/description.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LOOKS = 4,        /* at a process: it may be about to become another program */
	BELOW_MOST = 500, /* recordings of one folder */
};

static const char ending[] = ".tare";

bool tare_find_is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static struct tare_follow *known(const struct tare_finder *f, const struct stat *st)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->items[i]->device == st->st_dev && f->items[i]->inode == st->st_ino)
			return f->items[i];
	return NULL;
}

static void want(struct tare_finder *f, const char *path)
{
	struct tare_follow *follow;
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return;
	follow = known(f, &st);
	if (!follow) {
		follow = TARE_APPEND(f->items, f->count, f->cap) = tare_follow_new(path);
		follow->is_brief = f->is_brief;
	}
	follow->is_wanted = true;
}

/* ---- by processes ---- */

/* In a container its path is another one from here; Linux shows a process's own root to who may look. */
static void want_of_process(struct tare_finder *f, const char *pid, const char *path)
{
	struct tare_str inside = { 0 };
	struct stat here, there;
	bool is_here = stat(path, &here) == 0, is_there;

	tare_str_addf(&inside, "/proc/%s/root%s", pid, path);
	is_there = stat(inside.data, &there) == 0;
	if (is_here && (!is_there || (here.st_dev == there.st_dev && here.st_ino == there.st_ino)))
		want(f, path);
	else if (is_there)
		want(f, inside.data);
	tare_str_free(&inside);
}

static void look_at_process(struct tare_finder *f, const char *pid)
{
	bool is_new;
	uint64_t *seen = tare_map_put(&f->looked, (uint64_t)strtoul(pid, NULL, 10), &is_new);
	uint64_t looks = *seen & 0xff;
	char *path;

	if (looks < LOOKS) {
		looks++;
		path = tare_recorded_to_be(pid);
		if (path)
			want_of_process(f, pid, path);
		free(path);
	}
	*seen = f->turn << 8 | looks;
}

/* A pid that is not there any more may come again, as another process. */
static void forget_processes(struct tare_finder *f)
{
	const struct tare_map_slot *slot;
	struct tare_map kept = { 0 };

	for (size_t at = 0; (slot = tare_map_next(&f->looked, &at));)
		if (slot->value >> 8 == f->turn)
			*tare_map_put(&kept, slot->key, NULL) = slot->value;
	tare_map_free(&f->looked);
	f->looked = kept;
}

static void look_at_processes(struct tare_finder *f)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			look_at_process(f, entry->d_name);
	if (dir)
		closedir(dir);
	forget_processes(f);
}

/* ---- in folders ---- */

bool tare_find_is_recording(const char *folder)
{
	struct tare_str path = { 0 };
	bool is_there;

	tare_str_addf(&path, "%s/recording.json", folder);
	is_there = access(path.data, F_OK) == 0;
	tare_str_free(&path);
	return is_there;
}

static bool is_complete(const char *path)
{
	struct tare_arena arena = { 0 };
	const struct tare_json_value *json;
	const char *state;
	bool is;

	tare_description_read(&arena, path, &json, NULL);
	state = tare_json_get_str(json, "state");
	is = state && !strcmp(state, "complete");
	tare_arena_free(&arena);
	return is;
}

/*
 * Its processes may be of another pid namespace, or of another machine: then what it writes tells that it lives. That is also quicker
 * than to look whether they run.
 */
static bool is_alive(const char *path)
{
	return (tare_follow_is_fresh(path) && !is_complete(path)) || tare_control_is_written(path);
}

static void look_at_folder(struct tare_finder *f, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t n = 0;

	while (dir && n < BELOW_MOST && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name), end = sizeof(ending) - 1;
		struct tare_str path = { 0 };

		if (len <= end || strcmp(entry->d_name + len - end, ending) != 0)
			continue;
		tare_str_addf(&path, "%s/%s", folder, entry->d_name);
		if (is_alive(path.data)) {
			want(f, path.data);
			n++;
		}
		tare_str_free(&path);
	}
	if (dir)
		closedir(dir);
}

/* ---- both ---- */

static void drop_ended(struct tare_finder *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->count; i++) {
		struct tare_follow *follow = f->items[i];

		if (follow->is_wanted || is_alive(follow->path))
			f->items[n++] = follow;
		else
			tare_follow_free(follow);
	}
	f->count = n;
}

void tare_find_turn(struct tare_finder *f)
{
	f->turn++;
	for (size_t i = 0; i < f->count; i++)
		f->items[i]->is_wanted = false;
	if (!f->is_only_folders)
		look_at_processes(f);
	for (size_t i = 0; f->folders && i < f->folders->count; i++) {
		const char *folder = f->folders->items[i];

		if (!tare_find_is_recording(folder))
			look_at_folder(f, folder);
		else if (!f->is_only_alive || is_alive(folder))
			want(f, folder); /* somebody named it: shown whether it ended or not */
	}
	drop_ended(f);
}

void tare_finder_free(struct tare_finder *f)
{
	for (size_t i = 0; i < f->count; i++)
		tare_follow_free(f->items[i]);
	free(f->items);
	tare_map_free(&f->looked);
	*f = (struct tare_finder){ 0 };
}
