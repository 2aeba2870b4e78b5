/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for libcudnn.so.9 where environments of Python and systems have it. */
#include "calibrate/find_cudnn.h"

#include "base/self_path.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKAGES "packages/nvidia/cudnn/lib/libcudnn.so.9"

/* Below the folder of an environment, or of the system. */
static const char *const places[] = { "lib/python3*/site-" PACKAGES, "lib/python3*/dist-" PACKAGES,
	                                  "lib64/python3*/site-" PACKAGES };

static bool look_in(const char *folder, char *path, size_t size)
{
	char pattern[PATH_MAX];
	bool is_found = false;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !is_found; i++) {
		glob_t found = { 0 };

		snprintf(pattern, sizeof(pattern), "%s/%s", folder, places[i]);
		if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc)
			is_found = (size_t)snprintf(path, size, "%s", found.gl_pathv[found.gl_pathc - 1]) < size;
		globfree(&found);
	}
	return is_found;
}

bool tare_find_cudnn(const char *given, const char *sim, char *path, size_t size)
{
	const char *environment = getenv("VIRTUAL_ENV");
	char folder[PATH_MAX];

	if (given)
		return (size_t)snprintf(path, size, "%s", given) < size;
	if (sim) {
		tare_self_path(TARE_SELF_SIM_DIR, folder, sizeof(folder));
		return (size_t)snprintf(path, size, "%s/libs/libcudnn.so.9", folder) < size;
	}
	if ((environment && *environment && look_in(environment, path, size)) || look_in("/usr/local", path, size) ||
	    look_in("/usr", path, size))
		return true;
	return (size_t)snprintf(path, size, "libcudnn.so.9") < size;
}
