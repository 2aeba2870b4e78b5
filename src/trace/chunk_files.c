/* SPDX-License-Identifier: Apache-2.0 */
/* Names and lists the files that a log lies in: P-G.events and the chunks behind it, P-G.events.1, P-G.events.2 … */
#include "trace/chunk_files.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/str.h"
#include "base/xalloc.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NUMBER_MAX = TARE_PLAN_BEGIN_MAX / TARE_CHUNK_BYTES_MIN };

char *tare_chunk_path(const char *log, uint64_t number)
{
	struct tare_str path = { 0 };

	tare_str_add(&path, log);
	if (number)
		tare_str_addf(&path, ".%llu", (unsigned long long)number);
	return tare_str_steal(&path);
}

size_t tare_chunk_name(const char *name, uint32_t *number)
{
	static const char ending[] = ".events";
	const char *dot = strrchr(name, '.');
	size_t size = dot ? (size_t)(dot - name) : 0;
	uint64_t value = 0;

	if (size < sizeof(ending) || strncmp(dot - (sizeof(ending) - 1), ending, sizeof(ending) - 1) != 0)
		return 0;
	for (const char *c = dot + 1; *c; c++) {
		value = value * 10 + (uint64_t)(*c - '0');
		if (*c < '0' || *c > '9' || value == 0 || value >= NUMBER_MAX)
			return 0;
	}
	if (number)
		*number = (uint32_t)value;
	return value ? size : 0;
}

TARE_COMPARATOR(compare, struct tare_chunk_file, TARE_RISING(number))

static void add(struct tare_chunk_list *list, uint32_t number, const struct stat *st)
{
	TARE_APPEND(list->items, list->nr, list->cap) = (struct tare_chunk_file){ number, (uint64_t)st->st_size };
}

void tare_chunk_list_read(struct tare_chunk_list *out, const char *log)
{
	const char *slash = strrchr(log, '/'), *name = slash ? slash + 1 : log;
	char *folder = slash ? tare_xstrndup(log, (size_t)(slash - log) + 1) : tare_xstrdup(".");
	size_t size = strlen(name);
	DIR *dir = opendir(folder);
	struct dirent *entry;

	out->nr = 0;
	while (dir && (entry = readdir(dir))) {
		uint32_t number;
		struct stat st;

		if (strncmp(entry->d_name, name, size) == 0 && tare_chunk_name(entry->d_name, &number) == size &&
		    fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
			add(out, number, &st);
	}
	if (dir)
		closedir(dir);
	free(folder);
	TARE_SORT(out->items, out->nr, compare);
}

void tare_chunk_list_free(struct tare_chunk_list *list)
{
	free(list->items);
	*list = (struct tare_chunk_list){ 0 };
}
