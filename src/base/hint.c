/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the word or the file that somebody may have meant. */
#include "base/hint.h"

#include "base/args.h"
#include "base/array.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct words {
	char **items;
	size_t count, cap;
};

static void add(struct words *w, const char *word, size_t len)
{
	TARE_APPEND(w->items, w->count, w->cap) = tare_xstrndup(word, len);
}

static const char *next(void *arg, size_t i)
{
	const struct words *w = arg;

	return i < w->count ? w->items[i] : NULL;
}

static void free_words(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i]);
	free(w->items);
}

bool tare_hint_word(struct tare_str *out, const char *word, const char *list)
{
	struct words words = { 0 };
	const char *near;

	for (const char *p = list; *p;) {
		size_t len = strcspn(p, "|, ");

		if (len)
			add(&words, p, len);
		p += len + (p[len] != '\0');
	}
	near = tare_args_near_miss(word, next, &words);
	if (near)
		tare_str_addf(out, "; did you mean %s?", near);
	free_words(&words);
	return near != NULL;
}

static size_t without(const char *name, const char *ending)
{
	size_t len = strlen(name), n = strlen(ending);

	return len > n && !strcmp(name + len - n, ending) ? len - n : len;
}

/* Names that end so in a folder, with their ending or without. */
static void list(struct words *out, const char *folder, const char *ending, bool is_whole)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t len = without(entry->d_name, ending);

		if (entry->d_name[len])
			add(out, entry->d_name, is_whole ? strlen(entry->d_name) : len);
	}
	if (dir)
		closedir(dir);
}

/* "a" and "a.tar" are near "a.tare". */
static bool add_near(struct tare_str *out, const char *folder, const char *before, const char *name, const char *ending,
                     bool with_ending)
{
	const char *near = NULL;

	for (int is_whole = 0; is_whole < 2 && !near; is_whole++) {
		TARE_FREED_HERE char *asked = tare_xstrndup(name, is_whole ? strlen(name) : without(name, ending));
		struct words words = { 0 };

		list(&words, folder, ending, is_whole);
		near = tare_args_near_miss(asked, next, &words);
		if (near)
			tare_str_addf(out, "; did you mean %s%.*s%s?", before, (int)without(near, ending), near,
			              with_ending ? ending : "");
		free_words(&words);
	}
	return near != NULL;
}

bool tare_hint_file(struct tare_str *out, const char *folder, const char *name, const char *ending)
{
	return add_near(out, folder, "", name, ending, false);
}

bool tare_hint_path(struct tare_str *out, const char *path, const char *ending)
{
	const char *slash = strrchr(path, '/');
	TARE_FREED_HERE char *before = tare_xstrndup(path, slash ? (size_t)(slash - path) + 1 : 0);
	bool is_found = add_near(out, slash ? before : ".", before, slash ? slash + 1 : path, ending, true);

	return is_found;
}
