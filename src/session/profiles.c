/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, lists and reads device profiles. */
#include "session/profiles.h"

#include "base/hint.h"
#include "base/self_path.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENDING ".profile"

static int no_such(const char *option, const char *name, const char *folder, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str hint = { 0 };

	tare_hint_file(&hint, folder, name, ENDING);
	tare_err_set(err, TARE_E_USAGE,
	             "%s %s: there is no such profile of a GPU; give a file, with a slash in "
	             "its name, or a name from %s (without " ENDING ")%s",
	             option, name, folder, tare_str_text(&hint));
	return TARE_E_USAGE;
}

int tare_profiles_path(const char *option, const char *name, char *path, size_t size, struct tare_err *err)
{
	char folder[PATH_MAX];
	int n;

	tare_self_path(TARE_SELF_SIM_PROFILES, folder, sizeof(folder));
	n = strchr(name, '/') ? snprintf(path, size, "%s", name) : snprintf(path, size, "%s/%s" ENDING, folder, name);
	return n < 0 || (size_t)n >= size || access(path, R_OK) ? no_such(option, name, folder, err) : 0;
}

int tare_profiles_read(const char *path, struct tare_profile *out, struct tare_err *err)
{
	char error[400];

	if (tare_profile_read(path, out, error, sizeof(error)))
		return tare_err_set(err, TARE_E_FORMAT, "%s", error);
	return 0;
}

int tare_profiles_open(const char *option, const char *name, struct tare_profile *out, struct tare_err *err)
{
	char path[PATH_MAX], error[400];
	int rc = tare_profiles_path(option, name, path, sizeof(path), err);

	if (!rc && tare_profile_read(path, out, error, sizeof(error)))
		rc = tare_err_set(err, TARE_E_USAGE, "%s %s: %s", option, name, error);
	return rc;
}

bool tare_profiles_find(const char *gpu, struct tare_profile *out, char *path, size_t size)
{
	char folder[PATH_MAX];
	struct dirent *entry;
	bool is_found = false;
	DIR *dir;

	*path = 0;
	if (tare_self_path(TARE_SELF_SIM_PROFILES, folder, sizeof(folder)))
		return false;
	dir = opendir(folder);
	while (dir && !is_found && (entry = readdir(dir))) {
		const char *end = strstr(entry->d_name, ENDING);

		if (!end || end[strlen(ENDING)] || (size_t)snprintf(path, size, "%s/%s", folder, entry->d_name) >= size)
			continue;
		is_found = tare_profiles_read(path, out, NULL) == 0 && strcmp(out->name, gpu) == 0;
	}
	if (dir)
		closedir(dir);
	if (!is_found)
		*path = 0;
	return is_found;
}

void tare_profiles_list(struct tare_str *out)
{
	struct dirent **entries;
	char folder[PATH_MAX];
	int count;

	if (tare_self_path(TARE_SELF_SIM_PROFILES, folder, sizeof(folder)))
		return;
	count = scandir(folder, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		size_t len = strlen(entries[i]->d_name), end = strlen(ENDING);

		if (len > end && !strcmp(entries[i]->d_name + len - end, ENDING))
			tare_str_addf(out, "%.*s\n", (int)(len - end), entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}
