/* SPDX-License-Identifier: Apache-2.0 */
#include "base/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { BLOCK = 512 }; /* of st_blocks, whatever the file system's are */

uint64_t tare_disk_bytes(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_blocks * BLOCK;
	if (dir)
		closedir(dir);
	return bytes;
}
