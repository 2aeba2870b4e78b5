/* SPDX-License-Identifier: Apache-2.0 */
#include "db/db.h"

#include <stdio.h>
#include <string.h>

bool tare_db_is(const char *path)
{
	char head[16] = "";
	FILE *file = fopen(path, "re");
	bool is = file && fread(head, 1, sizeof(head), file) == sizeof(head) &&
		  !memcmp(head, "SQLite format 3", sizeof(head));

	if (file)
		fclose(file);
	return is;
}
