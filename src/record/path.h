/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may stay of a path in a recording without paths: its last name; of a library's file its place among the
 * libraries, by which readers tell it from the user's own. Calls no library.
 */
#ifndef TARE_RECORD_PATH_H
#define TARE_RECORD_PATH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What the memory is called in which `tare` is told of paths: OBJECT records, each with its text behind it, the pid as
 * the stamp of its head.
 */
#define TARE_TOLD_PATHS "tare-paths"

static inline bool tare_path_begins(const char *path, const char *with)
{
	while (*with && *path == *with) {
		path++;
		with++;
	}
	return !*with;
}

/* "/lib/python3.11/…" or its zip file; a user's own folder with such a beginning is none. */
static inline bool tare_path_is_python(const char *path)
{
	static const char digits[] = ".0123456789t";
	bool is_digit = true;

	if (tare_path_begins(path, "/lib/python3"))
		path += sizeof("/lib/python3") - 1;
	else if (tare_path_begins(path, "/lib64/python3"))
		path += sizeof("/lib64/python3") - 1;
	else
		return false;
	while (is_digit) {
		is_digit = false;
		for (size_t i = 0; i < sizeof(digits) - 1 && !is_digit; i++)
			is_digit = *path == digits[i];
		path += is_digit;
	}
	return *path == '/' || tare_path_begins(path, ".zip/") || tare_path_begins(path, "zip/");
}

/* Of a library's file, from the last place on that says so; NULL: it is the user's. */
static inline const char *tare_path_in_library(const char *path)
{
	enum { FROM_HERE, ALONE };
	static const struct {
		char text[24];
		int kept;
	} parts[] = {
#define TARE_LIBRARY_FILES(text, kept) { text, kept },
#include "record/libraries.def"
#undef TARE_LIBRARY_FILES
	};
	const char *found = NULL;

	for (; *path; path++) {
		if (*path != '/' && *path != '<')
			continue; /* all of them begin so */
		if (tare_path_is_python(path))
			found = path;
		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
			if (tare_path_begins(path, parts[i].text))
				found = parts[i].kept == ALONE ? parts[i].text : path;
	}
	return found;
}

static inline const char *tare_path_short(const char *path)
{
	const char *library = tare_path_in_library(path), *base = path;

	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	return library ? library : base;
}

#endif
