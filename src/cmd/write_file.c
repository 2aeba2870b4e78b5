/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/write_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_stream(FILE *file, const struct tare_str *text)
{
	if (!file || fwrite(tare_str_text(text), 1, text->len, file) != text->len || fflush(file) != 0)
		return -errno;
	return 0;
}

static int write_path(const char *path, const struct tare_str *text)
{
	FILE *file = fopen(path, "we");
	int rc = write_stream(file, text);

	if (file && fclose(file) != 0 && !rc)
		rc = -errno;
	return rc;
}

/* A device, a pipe or a link must stay what it is. */
static bool is_replaceable(const char *path)
{
	struct stat st;

	return lstat(path, &st) != 0 || S_ISREG(st.st_mode);
}

static int replace(const char *path, const struct tare_str *text)
{
	struct tare_str fresh = { 0 };
	int rc;

	tare_str_addf(&fresh, "%s.new", path);
	rc = write_path(fresh.data, text);
	if (!rc && rename(fresh.data, path) != 0)
		rc = -errno;
	if (rc)
		unlink(fresh.data);
	tare_str_free(&fresh);
	return rc;
}

int tare_cmd_write_file(const char *path, const struct tare_str *text, struct tare_err *err)
{
	int rc;

	if (!strcmp(path, "-"))
		rc = write_stream(stdout, text);
	else
		rc = is_replaceable(path) ? replace(path, text) : write_path(path, text);
	if (!rc)
		return 0;
	return tare_err_set_errno(err, -rc, "%s: cannot be written",
				  strcmp(path, "-") != 0 ? path : "the output");
}
