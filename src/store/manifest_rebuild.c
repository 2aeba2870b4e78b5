/* SPDX-License-Identifier: Apache-2.0 */
/* Rebuilds a damaged segments.json out of the segments and states that it names. */
#include "store/manifest.h"

#include "base/array.h"
#include "base/comparator.h"
#include "store/segment.h"
#include "store/state_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 64 << 20 };

struct numbers {
	uint32_t *items;
	size_t nr, cap;
};

TARE_SCALAR_COMPARATOR(by_number, uint32_t)

static struct numbers list(const char *folder, uint32_t (*number_of)(const char *name))
{
	struct numbers found = { 0 };
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		uint32_t number = number_of(entry->d_name);

		if (!number)
			continue;
		TARE_APPEND(found.items, found.nr, found.cap) = number;
	}
	if (dir)
		closedir(dir);
	TARE_SORT(found.items, found.nr, by_number);
	return found;
}

static uint32_t is_log(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, ".events");
}

static size_t count(const char *folder, uint32_t (*number_of)(const char *name))
{
	struct numbers found = list(folder, number_of);

	free(found.items);
	return found.nr;
}

bool tare_manifest_is_missed(const char *folder)
{
	return count(folder, tare_manifest_number) && (count(folder, tare_manifest_state_number) || !count(folder, is_log));
}

static void add_behind(struct tare_manifest *m, const char *folder, uint32_t last)
{
	struct numbers found = list(folder, tare_manifest_number);

	for (size_t i = 0; i < found.nr; i++)
		if (found.items[i] > last)
			tare_manifest_add(m, found.items[i]);
	free(found.items);
}

void tare_manifest_add_all(struct tare_manifest *m, const char *folder)
{
	add_behind(m, folder, 0);
}

/* ---- what the segment says that stands for others ---- */

static bool take_copy(struct tare_manifest *out, const struct tare_segment_file *segment, size_t entry, uint32_t number)
{
	TARE_FREED_BY(tare_pack_free) struct tare_pack bytes = { 0 }, text = { 0 };
	bool is_taken = false;

	if (tare_segment_read(segment, entry, &bytes)) {
		struct tare_unpack in = { bytes.data, bytes.data + bytes.len, false };

		is_taken = tare_unpack_zipped(&in, &text, TEXT_MAX) &&
		           !tare_manifest_parse(out, (const char *)text.data, text.len) && out->dropped.rest == number;
	}
	if (!is_taken)
		tare_manifest_free(out);
	return is_taken;
}

static bool take_copy_of(struct tare_manifest *out, const char *folder, uint32_t number)
{
	TARE_FREED_HERE char *path = tare_manifest_path(folder, number);
	struct tare_segment_file segment;
	bool is_taken = false;

	if (!tare_segment_open(&segment, path, NULL)) {
		for (size_t i = 0; i < segment.entry_nr && !is_taken; i++)
			if (segment.entries[i].head.kind == TARE_SEGMENT_MANIFEST)
				is_taken = take_copy(out, &segment, i, number);
		tare_segment_free(&segment);
	}
	return is_taken;
}

/* The newest: those before it, it stands for. */
static void take_newest_copy(struct tare_manifest *out, const char *folder)
{
	struct numbers found = list(folder, tare_manifest_number);
	bool is_taken = false;

	for (size_t i = found.nr; i-- > 0 && !is_taken;)
		is_taken = take_copy_of(out, folder, found.items[i]);
	free(found.items);
}

static bool has_events(const char *folder, uint32_t number)
{
	TARE_FREED_HERE char *path = tare_manifest_path(folder, number);
	struct tare_segment_file segment;
	bool has = false;

	if (!tare_segment_open(&segment, path, NULL)) {
		for (size_t i = 0; i < segment.entry_nr && !has; i++)
			has = segment.entries[i].head.kind == TARE_SEGMENT_EVENTS;
		tare_segment_free(&segment);
	}
	return has;
}

/* A segment without events may stand for dropped segments, and the manifest that said so is damaged. */
static bool have_events(const struct tare_manifest *m, const char *folder)
{
	for (size_t i = 0; i < m->nr; i++)
		if (!has_events(folder, m->numbers[i]))
			return false;
	return true;
}

/* ---- what states say that were saved since ---- */

static uint32_t newest_state(const struct tare_manifest *m)
{
	uint32_t newest = 0;

	for (size_t i = 0; i < m->state_nr; i++)
		newest = m->states[i].number > newest ? m->states[i].number : newest;
	for (size_t i = 0; i < m->kept_nr; i++)
		newest = m->kept[i].number > newest ? m->kept[i].number : newest;
	return newest;
}

/* A state that is damaged is as if it were not there. False: it is of a version that did not tell. */
static bool add_state(struct tare_manifest *m, const char *folder, uint32_t number)
{
	TARE_FREED_HERE char *path = tare_manifest_state_path(folder, number);
	TARE_FREED_BY(tare_pack_free) struct tare_pack told = { 0 };
	TARE_FREED_BY(tare_extent_list_free) struct tare_extent_list extents = { 0 };
	int64_t until_ns, from_ns;
	bool is_told = true;

	if (!tare_state_read_told(path, number, &until_ns, &told)) {
		is_told = tare_manifest_hear_extents(&extents, &from_ns, (const char *)told.data, told.len);
		if (is_told) {
			tare_manifest_cut_states(m, from_ns);
			tare_manifest_add_saved(m, number, until_ns, &extents);
		}
	}
	return is_told;
}

bool tare_manifest_rebuild(struct tare_manifest *out, const char *folder)
{
	struct numbers states = list(folder, tare_manifest_state_number);
	uint32_t newest;
	bool is_told;

	*out = (struct tare_manifest){ 0 };
	take_newest_copy(out, folder);
	add_behind(out, folder, out->dropped.rest);
	is_told = out->dropped.rest || !states.nr || have_events(out, folder);
	newest = newest_state(out);
	for (size_t i = 0; i < states.nr && is_told; i++)
		if (states.items[i] > newest)
			is_told = add_state(out, folder, states.items[i]);
	if (!is_told)
		tare_manifest_free(out);
	free(states.items);
	return is_told;
}
