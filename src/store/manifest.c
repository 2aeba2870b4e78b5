/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, changes and writes segments.json, the manifest of the segments and states of a recording. */
#include "store/manifest.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MANIFEST_MAX = 64 << 20, NAME_DIGITS = 6 };

#define SUFFIX       ".segment"
#define STATE_SUFFIX ".state"

char *tare_manifest_path(const char *folder, uint32_t number)
{
	return tare_str_format("%s/%0*u" SUFFIX, folder, NAME_DIGITS, number);
}

char *tare_manifest_state_path(const char *folder, uint32_t number)
{
	return tare_str_format("%s/%0*u" STATE_SUFFIX, folder, NAME_DIGITS, number);
}

static uint32_t number_of(const char *name, const char *suffix)
{
	char *end;
	unsigned long number = strtoul(name, &end, 10);

	return name[0] >= '0' && name[0] <= '9' && number <= UINT32_MAX && !strcmp(end, suffix) ? (uint32_t)number : 0;
}

uint32_t tare_manifest_number(const char *name)
{
	return number_of(name, SUFFIX);
}

uint32_t tare_manifest_state_number(const char *name)
{
	return number_of(name, STATE_SUFFIX);
}

void tare_manifest_add(struct tare_manifest *m, uint32_t number)
{
	TARE_APPEND(m->numbers, m->nr, m->cap) = number;
}

void tare_manifest_add_state(struct tare_manifest *m, uint32_t number, int64_t until_ns)
{
	TARE_APPEND(m->states, m->state_nr, m->state_cap) = (struct tare_manifest_state){ number, until_ns };
}

void tare_manifest_add_kept(struct tare_manifest *m, uint32_t number, int64_t until_ns)
{
	TARE_APPEND(m->kept, m->kept_nr, m->kept_cap) = (struct tare_manifest_state){ number, until_ns };
}

void tare_manifest_cut_states(struct tare_manifest *m, int64_t from_ns)
{
	size_t holds = m->state_nr;

	while (holds && m->states[holds - 1].until_ns > from_ns)
		holds--;
	if (holds < m->state_nr)
		tare_manifest_cut_extents(&m->extents, from_ns);
	m->state_nr = holds;
}

void tare_manifest_add_saved(struct tare_manifest *m, uint32_t number, int64_t until_ns,
                             const struct tare_extent_list *extents)
{
	tare_manifest_add_state(m, number, until_ns);
	for (size_t i = 0; i < extents->nr; i++)
		tare_manifest_add_extent(&m->extents, &extents->items[i]);
	tare_manifest_age_extents(&m->extents, until_ns);
}

static bool take(struct tare_manifest *m, const struct tare_json_value *root)
{
	const struct tare_json_value *list = root ? tare_json_get(root, "segments") : NULL;

	if (!list || list->type != TARE_JSON_ARRAY)
		return false;
	for (const struct tare_json_value *item = list->first; item; item = item->next) {
		const char *name = tare_json_get_str(item, "file");

		if (!name || !tare_manifest_number(name))
			return false;
		tare_manifest_add(m, tare_manifest_number(name));
	}
	return true;
}

/* What of these is damaged costs time and nothing else. */
static void take_states(struct tare_manifest *m, const struct tare_json_value *root, const char *key,
                        void (*add)(struct tare_manifest *m, uint32_t number, int64_t until_ns))
{
	const struct tare_json_value *list = root ? tare_json_get(root, key) : NULL;

	if (!list || list->type != TARE_JSON_ARRAY)
		return;
	for (const struct tare_json_value *item = list->first; item; item = item->next) {
		const char *name = tare_json_get_str(item, "file");
		uint32_t number = name ? tare_manifest_state_number(name) : 0;
		uint64_t until;

		if (number && tare_json_get_u64(item, "until_ns", &until) && until <= INT64_MAX)
			add(m, number, (int64_t)until);
	}
}

static void take_dropped(struct tare_manifest *m, const struct tare_json_value *root)
{
	const struct tare_json_value *dropped = tare_json_get(root, "dropped");
	const char *rest = dropped ? tare_json_get_str(dropped, "file") : NULL;
	uint64_t until = 0;

	if (!rest || !tare_json_get_u64(dropped, "until_ns", &until) || until > INT64_MAX)
		return;
	m->dropped.rest = tare_manifest_number(rest);
	m->dropped.until_ns = (int64_t)until;
	tare_json_get_u64(dropped, "events", &m->dropped.events);
}

int tare_manifest_parse(struct tare_manifest *out, const char *text, size_t len)
{
	const struct tare_json_value *root = NULL;
	TARE_FREED_BY(tare_arena_free) struct tare_arena arena = { 0 };
	uint64_t version = 0;
	int rc = TARE_E_FORMAT;

	*out = (struct tare_manifest){ 0 };
	tare_json_parse(&arena, text, len, &root, NULL);
	if (root && tare_json_get_u64(root, "version", &version) && version > TARE_SEGMENT_VERSION) {
		rc = TARE_E_NEWER;
	} else if (take(out, root)) {
		take_states(out, root, "states", tare_manifest_add_state);
		take_states(out, root, "kept", tare_manifest_add_kept);
		tare_manifest_read_extents(&out->extents, tare_json_get(root, "in_use"));
		take_dropped(out, root);
		rc = 0;
	}
	if (rc)
		tare_manifest_free(out);
	return rc;
}

static void take_what_is_there(struct tare_manifest *out, const char *folder, const char *path)
{
	struct tare_str fault = { 0 };

	if (tare_manifest_rebuild(out, folder))
		return;
	tare_manifest_add_all(out, folder);
	tare_str_addf(&fault,
	              "%s is damaged or gone; the segments that lie beside it are read all the "
	              "same",
	              path);
	out->fault = tare_str_steal(&fault);
}

int tare_manifest_read(struct tare_manifest *out, const char *folder, struct tare_err *err)
{
	TARE_FREED_HERE char *path = tare_str_format("%s/%s", folder, TARE_STORE_MANIFEST);
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	int rc = TARE_E_FORMAT;

	*out = (struct tare_manifest){ 0 };
	if (access(path, F_OK) != 0 && !tare_manifest_is_missed(folder))
		rc = tare_err_set(err, TARE_E_NOT_FOUND, "%s: there is no such file", path);
	else if (!tare_file_read(&text, path, MANIFEST_MAX, NULL) && text.len)
		rc = tare_manifest_parse(out, text.data, text.len);
	if (rc == TARE_E_NEWER)
		tare_err_set(err, TARE_E_NEWER,
		             "%s is of a newer Tare than this one, which is Tare %s; open it "
		             "with a newer one",
		             path, TARE_VERSION);
	if (rc == TARE_E_FORMAT) {
		take_what_is_there(out, folder, path);
		rc = 0;
	}
	return rc;
}

static int write_synced(const char *path, const struct tare_str *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	return tare_file_close_synced(fd, tare_file_write_all(fd, text->data, text->len));
}

int tare_manifest_sync_folder(const char *folder)
{
	int fd = open(folder, O_DIRECTORY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = -tare_file_sync(fd);
	close(fd);
	/* A file system that cannot do that for folders has nothing better. */
	return rc == -EINVAL ? 0 : rc;
}

static void describe_file(struct tare_json *j, char *path)
{
	tare_json_str(j, "file", path + 1);
	free(path);
}

static void describe_states(struct tare_json *j, const char *key, const struct tare_manifest_state *states, size_t nr)
{
	tare_json_open(j, key, '[');
	for (size_t i = 0; i < nr; i++) {
		tare_json_open(j, NULL, '{');
		describe_file(j, tare_manifest_state_path("", states[i].number));
		tare_json_i64(j, "until_ns", states[i].until_ns);
		tare_json_close(j);
	}
	tare_json_close(j);
}

void tare_manifest_describe(struct tare_str *out, const struct tare_manifest *m)
{
	struct tare_json j = { .out = out, .is_pretty = true };

	tare_json_open(&j, NULL, '{');
	tare_json_u64(&j, "version", TARE_SEGMENT_VERSION);
	tare_json_str(&j, "tool", TARE_VERSION);
	tare_json_open(&j, "segments", '[');
	for (size_t i = 0; i < m->nr; i++) {
		tare_json_open(&j, NULL, '{');
		describe_file(&j, tare_manifest_path("", m->numbers[i]));
		tare_json_close(&j);
	}
	tare_json_close(&j);
	describe_states(&j, "states", m->states, m->state_nr);
	describe_states(&j, "kept", m->kept, m->kept_nr);
	tare_manifest_write_extents(&j, &m->extents);
	if (m->dropped.rest) {
		tare_json_open(&j, "dropped", '{');
		describe_file(&j, tare_manifest_path("", m->dropped.rest));
		tare_json_i64(&j, "until_ns", m->dropped.until_ns);
		tare_json_u64(&j, "events", m->dropped.events);
		tare_json_close(&j);
	}
	tare_json_close(&j);
	tare_str_add_char(out, '\n');
}

int tare_manifest_write(const struct tare_manifest *m, const char *folder, struct tare_err *err)
{
	TARE_FREED_HERE char *path = tare_str_format("%s/%s", folder, TARE_STORE_MANIFEST);
	TARE_FREED_HERE char *fresh = tare_str_format("%s/%s.new", folder, TARE_STORE_MANIFEST);
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	int rc;

	tare_manifest_describe(&text, m);
	rc = write_synced(fresh, &text);
	if (!rc && rename(fresh, path) < 0)
		rc = errno;
	if (rc)
		unlink(fresh);
	else
		rc = -tare_manifest_sync_folder(folder);
	if (rc)
		rc = tare_err_set_errno(err, rc, "%s", path);
	return rc;
}
