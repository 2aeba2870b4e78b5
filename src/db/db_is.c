/* SPDX-License-Identifier: Apache-2.0 */
/* Says whether a file is one of SQLite. */
#include "db/db.h"

#include "base/file.h"

#include <string.h>
#include <unistd.h>

bool tare_db_is(const char *path)
{
	int fd = tare_file_open(path, NULL);
	char head[16] = "";
	bool is = fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) && !memcmp(head, "SQLite format 3", sizeof(head));

	if (fd >= 0)
		close(fd);
	return is;
}
