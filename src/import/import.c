/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the reader of a file, and runs it. */
#include "import/import.h"

#include "base/str.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "import/files.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kind {
	const char *name;
	bool (*is)(const char *head, size_t size);
	int (*read)(struct tare_import_job *job, struct tare_err *err);
};

static const struct kind kinds[] = {
#define TARE_IMPORT(NAME, WHAT) { #NAME, tare_import_is_##NAME, tare_import_read_##NAME },
#include "import/import.def"
};

const char tare_import_names[] =
#define TARE_IMPORT(NAME, WHAT) "|" #NAME
#include "import/import.def"
	;

static int choose(struct tare_import_in *in, const struct tare_import_options *options, int *kind, struct tare_err *err)
{
	const char *path = tare_import_in_path(in), *head;
	TARE_FREED_BY(tare_str_free) struct tare_str known = { 0 };
	size_t size;
	int rc;

	head = tare_import_in_head(in, &size);
	if (!size)
		return tare_err_set(err, TARE_E_EMPTY, "%s: the file is empty", path);
	*kind = options->kind;
	for (int i = 0; *kind < 0 && i < TARE_IMPORT_NR; i++)
		if (kinds[i].is(head, size))
			*kind = i;
	if (*kind >= 0)
		return 0;
	for (int i = 0; i < TARE_IMPORT_NR; i++)
		tare_str_addf(&known, "%s%s", i ? ", " : "", kinds[i].name);
	rc = tare_err_set(err, TARE_E_FORMAT,
	                  "%s: is no file that tare import knows by how it begins; --from NAME takes the "
	                  "file for one of those that it reads (%s), and tare help import says what they are",
	                  path, tare_str_text(&known));
	return rc;
}

/* "train.log" of a path. */
uint32_t tare_import_pid_of(const char *path)
{
	const char *name = tare_text_last_part(path);
	unsigned long pid = 0;
	char *end;

	for (const char *dot = name; (dot = strchr(dot, '.')); dot++) {
		unsigned long number = strtoul(dot + 1, &end, 10);

		if (isdigit((unsigned char)dot[1]) && (!*end || *end == '.') && number <= INT32_MAX)
			pid = number;
	}
	return (uint32_t)pid;
}

bool tare_import_any_line(const char *head, size_t size, bool (*is_such)(const char *line))
{
	char line[1024]; /* of a longer one, its begin */

	for (size_t at = 0, n; at < size; at += n + 1) {
		const char *end = memchr(head + at, '\n', size - at);

		n = end ? (size_t)(end - head) - at : size - at;
		if (memchr(head + at, '\0', n))
			return false;
		snprintf(line, sizeof(line), "%.*s", (int)(n < sizeof(line) ? n : sizeof(line) - 1), head + at);
		if (is_such(line))
			return true;
	}
	return false;
}

struct tare_import {
	struct tare_import_in *in;
	struct tare_import_options options;
	int kind;
};

int tare_import_open(struct tare_import **out, const char *path, const struct tare_import_options *options,
                     struct tare_err *err)
{
	struct tare_import *import = tare_xcalloc(1, sizeof(*import));
	int rc = tare_import_in_open(&import->in, path, err);

	import->options = *options;
	if (!rc)
		rc = choose(import->in, options, &import->kind, err);
	if (rc)
		tare_import_close(import);
	else
		*out = import;
	return rc;
}

int tare_import_run(struct tare_import *import, const char *folder, struct tare_imported *result, struct tare_err *err)
{
	const char *path = tare_import_in_path(import->in);
	struct tare_import_job job = { .options = &import->options,
		                           .in = import->in,
		                           .out = tare_import_out_new(folder, tare_text_last_part(path),
		                                                      tare_import_in_changed_ns(import->in)),
		                           .result = result };
	int rc;

	*result = (struct tare_imported){ .kind = (enum tare_import_kind)import->kind };
	rc = kinds[import->kind].read(&job, err);
	if (!rc && tare_import_in_is_cut(import->in))
		tare_import_left_out(job.out, "%s is packed and ends in the middle: what follows is not known", path);
	if (rc)
		tare_import_out_discard(job.out);
	else
		rc = tare_import_out_close(job.out, path, err);
	return rc;
}

void tare_import_close(struct tare_import *import)
{
	tare_import_in_close(import->in);
	free(import);
}
