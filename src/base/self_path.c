/* SPDX-License-Identifier: Apache-2.0 */
#include "base/self_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *dist;
	const char *build;
} layout[] = {
	[TARE_SELF_RECORDER] = { "lib/tare/libtare_recorder.so",
				 "src/recorder/libtare_recorder.so" },
	[TARE_SELF_SIM_DIR] = { "lib/tare/simgpu", "simgpu" },
	[TARE_SELF_SIM_PROFILES] = { "lib/tare/simgpu/profiles", "simgpu/profiles" },
	[TARE_SELF_EXAMPLES] = { "lib/tare/examples", "examples" },
};

static int join(char *buf, size_t size, const char *dir, size_t dir_len, const char *rest)
{
	int n = snprintf(buf, size, "%.*s/%s", (int)dir_len, dir, rest);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int tare_self_dir(char *buf, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size);
	char *slash;

	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -ENAMETOOLONG;
	buf[n] = '\0';
	slash = strrchr(buf, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

int tare_self_path_from(const char *exe_dir, enum tare_self_file file, char *buf, size_t size)
{
	const char *slash = strrchr(exe_dir, '/');
	int rc;

	if (slash && !strcmp(slash, "/bin")) {
		rc = join(buf, size, exe_dir, (size_t)(slash - exe_dir), layout[file].dist);
		if (rc || !access(buf, R_OK))
			return rc;
	}
	rc = join(buf, size, exe_dir, strlen(exe_dir), layout[file].build);
	if (rc)
		return rc;
	return access(buf, R_OK) ? -ENOENT : 0;
}

int tare_self_path(enum tare_self_file file, char *buf, size_t size)
{
	char dir[4096];
	int rc = tare_self_dir(dir, sizeof(dir));

	return rc ? rc : tare_self_path_from(dir, file, buf, size);
}
