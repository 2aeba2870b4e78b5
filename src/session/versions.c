/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which versions a Python program ran with. pip keeps a folder NAME-VERSION.dist-info for each package beside it, so the names of
 * folders tell, and no file is read. Of which folder of packages: of a package whose lines ran, of that in which its source lies (there
 * may be several, one in front of another); of all others, of those that have a library in which a stack has a frame.
 */
#include "session/versions.h"

#include "base/comparator.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "trace/recording.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define TARE_PACKAGE(name) name,
static const char *const packages[] = {
#include "session/versions.def"
};
#undef TARE_PACKAGE

static bool is_wanted(const char *name)
{
	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
		size_t n = strlen(packages[i]);

		if (packages[i][n - 1] == '*' ? !strncmp(name, packages[i], n - 1) : !strcmp(name, packages[i]))
			return true;
	}
	return false;
}

/* "nvidia_cudnn_cu13-9.19.0.56.dist-info" */
static bool parse_entry(const char *entry, struct tare_version *out)
{
	static const char end[] = ".dist-info";
	size_t n = strlen(entry), name = strcspn(entry, "-"), version;

	if (n < sizeof(end) || strcmp(entry + n - (sizeof(end) - 1), end) != 0)
		return false;
	n -= sizeof(end) - 1;
	if (name + 1 >= n || name >= TARE_VERSIONS_TEXT || n - name - 1 >= TARE_VERSIONS_TEXT)
		return false;
	version = n - name - 1;
	for (size_t i = 0; i < name; i++)
		out->name[i] = (char)tolower((unsigned char)entry[i]);
	out->name[name] = '\0';
	memcpy(out->version, entry + name + 1, version);
	out->version[version] = '\0';
	return is_wanted(out->name);
}

/* The first folder that has a package is where it was loaded from, most likely. */
static void add(struct tare_versions *v, const struct tare_version *f)
{
	for (size_t i = 0; i < v->count; i++)
		if (!strcmp(v->items[i].name, f->name))
			return;
	if (v->count < TARE_VERSIONS_MOST)
		v->items[v->count++] = *f;
}

/* `name`: only this package; NULL: all. */
static void look_through(struct tare_versions *v, const char *folder, const char *name)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct tare_version f;

	while (dir && (entry = readdir(dir)))
		if (parse_entry(entry->d_name, &f) && (!name || !strcmp(f.name, name)))
			add(v, &f);
	if (dir)
		closedir(dir);
}

/* Of the folder of packages in which something lies; 0: in none. */
static size_t folder_length(const char *path)
{
	static const char *const kinds[] = { "/site-packages/", "/dist-packages/" };

	for (size_t i = 0; path && i < 2; i++) {
		const char *at = strstr(path, kinds[i]);

		if (at)
			return (size_t)(at - path) + strlen(kinds[i]) - 1;
	}
	return 0;
}

/* ".../site-packages/transformers/trainer.py": the package whose line it is. `seen`: of which packages it was looked up. */
static void add_package(struct tare_versions *v, const char *file, struct tare_strmap *seen)
{
	size_t length = folder_length(file), end = length ? length + 1 + strcspn(file + length + 1, "/") : 0;
	char *path;
	bool is_new = false;

	if (!length || file[end] != '/')
		return;
	path = tare_xstrdup(file);
	path[end] = '\0';
	if (is_wanted(path + length + 1))
		tare_strmap_put(seen, path, &is_new);
	path[length] = '\0';
	if (is_new)
		look_through(v, path, path + length + 1);
	free(path);
}

static void add_packages(struct tare_versions *v, const struct tare_process *process, struct tare_strmap *seen)
{
	const struct tare_line_stack *stack;

	for (size_t at = 0; (stack = tare_process_next_line_stack(process, &at));)
		for (uint32_t i = 0; i < stack->depth; i++)
			add_package(v, stack->lines[i].file, seen);
}

static void add_folder(struct tare_versions *v, const char *path)
{
	size_t length = folder_length(path);

	if (!length || v->folder_nr == TARE_VERSIONS_MOST)
		return;
	for (size_t i = 0; i < v->folder_nr; i++)
		if (!strncmp(v->folders[i], path, length) && !v->folders[i][length])
			return;
	v->folders[v->folder_nr] = tare_xstrdup(path);
	v->folders[v->folder_nr][length] = '\0';
	look_through(v, v->folders[v->folder_nr++], NULL);
}

TARE_COMPARATOR(by_name, struct tare_version, TARE_ALPHABETIC(name))

void tare_versions_find(struct tare_versions *v, struct tare_recording *recording, const struct tare_told_paths *told)
{
	struct tare_strmap seen = { 0 };

	for (int i = 0; i < tare_recording_process_nr(recording); i++)
		add_packages(v, tare_recording_process(recording, i), &seen);
	tare_strmap_free(&seen);
	for (int i = 0; i < tare_recording_process_nr(recording); i++) {
		const struct tare_process *p = tare_recording_process(recording, i);

		for (int k = 0; k < p->object_nr; k++)
			add_folder(v, told ? tare_told_paths_find(told, p, &p->objects[k]) : p->objects[k].path);
	}
	for (size_t i = 0; i < v->folder_nr; i++)
		free(v->folders[i]);
	v->folder_nr = 0;
	TARE_SORT(v->items, v->count, by_name);
}

/* As pip writes names. */
void tare_versions_describe(const struct tare_versions *v, struct tare_json *j)
{
	tare_json_open(j, "versions", '{');
	for (size_t i = 0; i < v->count; i++) {
		struct tare_version of = v->items[i];

		for (char *c = of.name; *c; c++)
			*c = *c == '_' ? '-' : *c;
		tare_json_str(j, of.name, of.version);
	}
	tare_json_close(j);
}
