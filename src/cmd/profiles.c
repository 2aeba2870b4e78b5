/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/profiles.h"

#include "base/self_path.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENDING ".profile"

int tare_profiles_path(const char *name, char *path, size_t size, struct tare_err *err)
{
	char folder[PATH_MAX];
	int n;

	tare_self_path(TARE_SELF_SIM_PROFILES, folder, sizeof(folder));
	n = strchr(name, '/') ? snprintf(path, size, "%s", name)
			      : snprintf(path, size, "%s/%s" ENDING, folder, name);
	if (n < 0 || (size_t)n >= size || access(path, R_OK))
		return tare_err_set(
			err, TARE_E_USAGE,
			"%s: there is no such profile of a GPU; give a file, with a slash in "
			"its name, or a name from %s (without " ENDING ")",
			name, folder);
	return 0;
}

int tare_profiles_read(const char *path, struct tare_profile *out, struct tare_err *err)
{
	char error[400];

	if (tare_profile_read(path, out, error, sizeof(error)))
		return tare_err_set(err, TARE_E_FORMAT, "%s", error);
	return 0;
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

		if (!end || end[strlen(ENDING)] ||
		    (size_t)snprintf(path, size, "%s/%s", folder, entry->d_name) >= size)
			continue;
		is_found = tare_profiles_read(path, out, NULL) == 0 && strcmp(out->name, gpu) == 0;
	}
	if (dir)
		closedir(dir);
	if (!is_found)
		*path = 0;
	return is_found;
}
