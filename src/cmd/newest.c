/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the newest recording of a folder, and the other ranks of its job. */
#include "cmd/cmd.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/print.h"
#include "trace/description.h"
#include "trace/recording.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char ending[] = ".tare";

struct found {
	const char *name;
	int64_t started_ns; /* since 1970 */
};

struct list {
	struct found *items;
	size_t count, cap;
};

/* As the recording says; of one that does not, as its folder was changed. */
static int64_t start_of(const char *name, const struct stat *folder)
{
	int64_t ns = (int64_t)folder->st_mtim.tv_sec * 1000000000 + folder->st_mtim.tv_nsec;
	const struct tare_json_value *described;
	TARE_FREED_BY(tare_arena_free) struct tare_arena arena = { 0 };

	tare_description_read(&arena, name, &described, NULL);
	tare_json_get_i64(described, "started_realtime_ns", &ns);
	return ns;
}

TARE_COMPARATOR(by_start, struct found, TARE_RISING(started_ns) TARE_ALPHABETIC(name))

static void look(struct list *list, struct tare_arena *names)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name), end = sizeof(ending) - 1;

		if (len <= end || strcmp(entry->d_name + len - end, ending) != 0 || stat(entry->d_name, &st) ||
		    !S_ISDIR(st.st_mode))
			continue;
		TARE_APPEND(list->items, list->count, list->cap) =
			(struct found){ tare_arena_strdup(names, entry->d_name), start_of(entry->d_name, &st) };
	}
	if (dir)
		closedir(dir);
	TARE_SORT(list->items, list->count, by_start);
}

/* "train-20261120-1642-431.r0.tare": one of several, as tare run calls it below a launcher. */
static bool is_rank(const char *name)
{
	size_t at = strlen(name) - (sizeof(ending) - 1), digits = 0;

	while (at > 0 && isdigit((unsigned char)name[at - 1])) {
		at--;
		digits++;
	}
	return digits && at > 1 && name[at - 1] == 'r' && name[at - 2] == '.';
}

static void add_ranks(struct tare_operands *rest, const struct list *list)
{
	const char **paths = tare_xcalloc(list->count, sizeof(*paths));
	size_t *group = tare_xcalloc(list->count, sizeof(*group)), count = 0;

	for (size_t i = 0; i < list->count; i++)
		if (is_rank(list->items[i].name))
			paths[count++] = list->items[i].name;
	tare_recording_group(paths, count, group);
	for (size_t i = 0; i < count; i++)
		if (group[i] == group[count - 1])
			tare_operands_add(rest, paths[i]);
	free(paths);
	free(group);
}

int tare_newest_add(struct tare_operands *rest, struct tare_arena *names, bool with_ranks, const char *command,
                    struct tare_err *err)
{
	struct list list = { 0 };
	const char *newest;

	if (rest->count)
		return 0;
	look(&list, names);
	if (!list.count)
		return tare_err_set(err, TARE_E_USAGE,
		                    "%s: there is no recording NAME.tare in this folder; name one, or make "
		                    "one with tare run -- CMD",
		                    command);
	newest = list.items[list.count - 1].name;
	if (with_ranks && is_rank(newest))
		add_ranks(rest, &list);
	else
		tare_operands_add(rest, newest);
	if (rest->count > 1)
		tare_say("%s is the newest recording here, with %zu more of its job", newest, rest->count - 1);
	else
		tare_say("%s is the newest recording here", newest);
	free(list.items);
	return 0;
}
