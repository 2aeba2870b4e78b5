/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the folder of the running `tare`, and files beside it. */
#include "base/self_path.h"

#include "base/str.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *installed, *build;
} layout[] = {
	[TARE_SELF_RECORDER] = { "libtare_recorder.so", "src/recorder/libtare_recorder.so" },
	[TARE_SELF_RECORDER_HOST] = { "libtare_recorder_host.so", "src/recorder/libtare_recorder_host.so" },
	[TARE_SELF_SIM_DIR] = { "simgpu", "simgpu" },
	[TARE_SELF_SIM_PROFILES] = { "simgpu/profiles", "simgpu/profiles" },
	[TARE_SELF_EXAMPLES] = { "examples", "examples" },
};

/* Beside the folder bin: of a dist folder; of a wheel, as pip installs it and as pip install --target does. */
static const char *const homes[] = {
	"lib/tare",
	"lib*/*/*-packages/tare/tare-" TARE_VERSION,
	"tare/tare-" TARE_VERSION,
};

static int checked(int n, size_t size)
{
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

/* The first path that fits PREFIX/PATTERN/NAME, or -ENOENT. Of PREFIX every letter stands for itself. */
static int find(const char *prefix, size_t prefix_len, const char *pattern, const char *name, char *buf, size_t size)
{
	TARE_FREED_BY(tare_str_free) struct tare_str whole = { 0 };
	glob_t found;
	int rc = -ENOENT;

	for (size_t i = 0; i < prefix_len; i++)
		tare_str_addf(&whole, "\\%c", prefix[i]);
	tare_str_addf(&whole, "/%s/%s", pattern, name);
	if (glob(tare_str_text(&whole), 0, NULL, &found) == 0) {
		rc = checked(snprintf(buf, size, "%s", found.gl_pathv[0]), size);
		globfree(&found);
	}
	return rc;
}

int tare_self_path_from(const char *exe_dir, enum tare_self_file file, char *buf, size_t size)
{
	const char *slash = strrchr(exe_dir, '/');
	int rc;

	for (size_t i = 0; slash && !strcmp(slash, "/bin") && i < sizeof(homes) / sizeof(homes[0]); i++) {
		rc = find(exe_dir, (size_t)(slash - exe_dir), homes[i], layout[file].installed, buf, size);
		if (rc != -ENOENT)
			return rc;
	}
	rc = checked(snprintf(buf, size, "%s/%s", exe_dir, layout[file].build), size);
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
