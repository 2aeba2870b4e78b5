/* SPDX-License-Identifier: Apache-2.0 */
/* Folders for what is gone when a command ends. */
#include "base/temp_folder.h"

#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int tare_temp_folder_make(const char *folder, const char *name, char **out, struct tare_err *err)
{
	struct tare_str path = { 0 };
	int rc;

	tare_str_addf(&path, "%s/%s", folder, name);
	if (mkdtemp(path.data)) {
		*out = tare_str_steal(&path);
		return 0;
	}
	rc = tare_err_set_errno(err, errno, "%s: no folder can be made there", path.data);
	tare_str_free(&path);
	return rc;
}

void tare_temp_folder_remove(char *path)
{
	DIR *dir = path ? opendir(path) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (path)
		rmdir(path);
	free(path);
}
