/* SPDX-License-Identifier: Apache-2.0 */
#include "base/self_path.h"
#include "test.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void make(const char *root, const char *rest)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, rest);
	CHECK(mkdir(path, 0700) == 0);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_tree(const char *root)
{
	nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

TEST(finds_dist_layout_with_a_space)
{
	char root[] = "/tmp/tare self XXXXXX", exe[300], want[300], got[512];

	CHECK(mkdtemp(root));
	make(root, "bin");
	make(root, "lib");
	make(root, "lib/tare");
	make(root, "lib/tare/simgpu");
	snprintf(exe, sizeof(exe), "%s/bin", root);
	snprintf(want, sizeof(want), "%s/lib/tare/simgpu", root);
	CHECK_INT(tare_self_path_from(exe, TARE_SELF_SIM_DIR, got, sizeof(got)), 0);
	remove_tree(root);
	CHECK_STR(got, want);
}

static void finds_in(const char *const *folders, size_t count)
{
	char root[] = "/tmp/tare-[se]lf*XXXXXX", exe[300], want[300], got[512];

	CHECK(mkdtemp(root));
	make(root, "bin");
	for (size_t i = 0; i < count; i++)
		make(root, folders[i]);
	snprintf(exe, sizeof(exe), "%s/bin", root);
	snprintf(want, sizeof(want), "%s/%s", root, folders[count - 1]);
	CHECK_INT(tare_self_path_from(exe, TARE_SELF_SIM_DIR, got, sizeof(got)), 0);
	remove_tree(root);
	CHECK_STR(got, want);
}

#define PACKAGES "lib/python3.6/site-packages"

TEST(finds_what_pip_installed)
{
	static const char *const folders[] = {
		"lib",
		"lib/python3.6",
		PACKAGES,
		PACKAGES "/tare",
		PACKAGES "/tare/tare-" TARE_VERSION,
		PACKAGES "/tare/tare-" TARE_VERSION "/simgpu",
	};

	finds_in(folders, sizeof(folders) / sizeof(folders[0]));
}

TEST(finds_what_pip_unpacked_elsewhere)
{
	static const char *const folders[] = { "tare", "tare/tare-" TARE_VERSION, "tare/tare-" TARE_VERSION "/simgpu" };

	finds_in(folders, sizeof(folders) / sizeof(folders[0]));
}

TEST(finds_build_layout)
{
	char root[] = "/tmp/tare-self-XXXXXX", want[300], got[512];

	CHECK(mkdtemp(root));
	make(root, "simgpu");
	snprintf(want, sizeof(want), "%s/simgpu", root);
	CHECK_INT(tare_self_path_from(root, TARE_SELF_SIM_DIR, got, sizeof(got)), 0);
	CHECK_STR(got, want);
	CHECK_INT(tare_self_path_from(root, TARE_SELF_RECORDER, got, sizeof(got)), -ENOENT);
	remove_tree(root);
}

TEST(small_buffer_is_an_error)
{
	char got[8];

	CHECK_INT(tare_self_path_from("/some/where", TARE_SELF_RECORDER, got, sizeof(got)), -ENAMETOOLONG);
	CHECK_INT(tare_self_dir(got, sizeof(got)), -ENAMETOOLONG);
}
