/* SPDX-License-Identifier: Apache-2.0 */
/* Names the recordings that are served, and finds them by their names. */
#include "serve/table.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/str.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char ending[] = ".tare";

const struct tare_serve_entry *tare_serve_table_find(const struct tare_serve_table *t, const char *name)
{
	for (size_t i = 0; i < t->count; i++)
		if (!strcmp(t->entries[i]->name, name))
			return t->entries[i];
	return NULL;
}

const char *tare_serve_table_name(const struct tare_serve_table *t, const struct tare_follow *f)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->entries[i]->follow == f)
			return t->entries[i]->name;
	return "";
}

/* Of two folders with one name the second is "train.tare-2". */
static char *name_of(const struct tare_serve_table *t, const char *path)
{
	struct tare_str name = { 0 };
	const char *slash = strrchr(path, '/');
	size_t len;

	tare_text_add_name(&name, slash && slash[1] ? slash + 1 : path);
	len = name.len;
	for (int n = 2; tare_serve_table_find(t, tare_str_text(&name)); n++) {
		tare_str_cut(&name, len);
		tare_str_addf(&name, "-%d", n);
	}
	return tare_str_steal(&name);
}

static void discard(struct tare_serve_entry *e)
{
	tare_serve_ended_free(&e->ended);
	free(e->name);
	free(e->path);
	free(e);
}

static struct tare_serve_entry *known(const struct tare_serve_table *t, const struct stat *st)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->entries[i]->device == st->st_dev && t->entries[i]->inode == st->st_ino)
			return t->entries[i];
	return NULL;
}

static struct tare_serve_entry *see(struct tare_serve_table *t, const char *path)
{
	struct tare_serve_entry *e;
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return NULL;
	e = known(t, &st);
	if (!e && t->count >= TARE_SERVE_MOST) {
		t->left_out++;
		return NULL;
	}
	if (!e) {
		e = tare_xcalloc(1, sizeof(*e));
		*e = (struct tare_serve_entry){
			.name = name_of(t, path), .path = tare_xstrdup(path), .device = st.st_dev, .inode = st.st_ino
		};
		TARE_APPEND(t->entries, t->count, t->cap) = e;
	}
	e->is_seen = true;
	return e;
}

static void see_folder(struct tare_serve_table *t, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name), end = sizeof(ending) - 1;
		struct tare_str path = { 0 };

		if (len <= end || strcmp(entry->d_name + len - end, ending) != 0)
			continue;
		tare_str_addf(&path, "%s/%s", folder, entry->d_name);
		if (tare_find_is_recording(tare_str_text(&path)))
			see(t, tare_str_text(&path));
		tare_str_free(&path);
	}
	if (dir)
		closedir(dir);
}

/* What ended while it was served stays, as long as its folder is there. */
static void drop_gone(struct tare_serve_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct tare_serve_entry *e = t->entries[i];
		struct stat st;

		if (e->is_seen || (stat(e->path, &st) == 0 && st.st_dev == e->device && st.st_ino == e->inode))
			t->entries[n++] = e;
		else
			discard(e);
	}
	t->count = n;
}

TARE_COMPARATOR_OF_POINTERS(by_name, struct tare_serve_entry, TARE_ALPHABETIC(name))

/* A recording that is written to again, as by `tare ctl`, is read again once that ends. */
static void follow(struct tare_serve_entry *e, const struct tare_follow *f)
{
	e->follow = f;
	e->is_read = false;
	tare_serve_ended_free(&e->ended);
}

void tare_serve_table_turn(struct tare_serve_table *t, const struct tare_finder *found,
                           const struct tare_operands *folders)
{
	t->left_out = 0;
	for (size_t i = 0; i < t->count; i++) {
		t->entries[i]->is_seen = false;
		t->entries[i]->follow = NULL;
	}
	drop_gone(t);
	for (size_t i = 0; i < found->count; i++) {
		struct tare_serve_entry *e = see(t, found->items[i]->path);

		if (e)
			follow(e, found->items[i]);
	}
	for (size_t i = 0; folders && i < folders->count; i++) {
		if (tare_find_is_recording(folders->items[i]))
			see(t, folders->items[i]);
		else
			see_folder(t, folders->items[i]);
	}
	TARE_SORT(t->entries, t->count, by_name);
}

const char *tare_serve_entry_state(const struct tare_serve_entry *e)
{
	const struct tare_err *failure = e->follow ? &e->follow->failure : &e->ended.failure;

	if (failure->code)
		return "unreadable";
	if (e->follow)
		return "live";
	return e->is_read ? "ended" : "waiting";
}

void tare_serve_table_free(struct tare_serve_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		discard(t->entries[i]);
	free(t->entries);
	*t = (struct tare_serve_table){ 0 };
}
