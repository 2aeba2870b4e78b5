/* SPDX-License-Identifier: Apache-2.0 */
/* Sums what files take on disk, holes left out. */
#include "base/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { BLOCK = 512 }; /* of st_blocks, whatever the file system's are */

struct tare_disk_use tare_disk_use(const char *folder)
{
	struct tare_disk_use use = { 0 };
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)) {
			use.blocks += (uint64_t)st.st_blocks * BLOCK;
			use.apparent += (uint64_t)st.st_size;
		}
	if (dir)
		closedir(dir);
	return use;
}

uint64_t tare_disk_bytes(const char *folder)
{
	return tare_disk_use(folder).blocks;
}

uint64_t tare_disk_most(const char *folder)
{
	struct tare_disk_use use = tare_disk_use(folder);

	return use.blocks > use.apparent ? use.blocks : use.apparent;
}

uint64_t tare_disk_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}
