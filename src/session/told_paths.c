/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the paths that processes told and that the recording must not have. */
#include "session/told_paths.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/xalloc.h"
#include "record/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_BYTES_MAX = 4096 };

struct told {
	struct tare_rec_object object;
	const char *path;
};

struct tare_told_paths {
	int fd;
	char name[64];
	struct tare_arena memory;
	struct told *items;
	size_t count, cap;
};

struct tare_told_paths *tare_told_paths_new(void)
{
	struct tare_told_paths *told = tare_xcalloc(1, sizeof(*told));

	told->fd = memfd_create(TARE_TOLD_PATHS, MFD_CLOEXEC);
	if (told->fd >= 0)
		snprintf(told->name, sizeof(told->name), "/proc/%d/fd/%d", (int)getpid(), told->fd);
	return told;
}

const char *tare_told_paths_name(const struct tare_told_paths *told)
{
	return told->name;
}

void tare_told_paths_read(struct tare_told_paths *told)
{
	struct told item;
	off_t at = 0;

	while (pread(told->fd, &item.object, sizeof(item.object), at) == (ssize_t)sizeof(item.object)) {
		char path[PATH_BYTES_MAX];
		ssize_t bytes = item.object.bytes;

		at += (off_t)sizeof(item.object);
		if (bytes >= PATH_BYTES_MAX || pread(told->fd, path, (size_t)bytes, at) != bytes)
			return;
		at += bytes;
		item.path = tare_arena_strndup(&told->memory, path, (size_t)bytes);
		TARE_APPEND(told->items, told->count, told->cap) = item;
	}
}

static bool is_about(const struct told *t, const struct tare_process *process, const struct tare_object *object)
{
	return t->object.head.stamp == process->pid && t->object.base == object->base && t->object.begin == object->begin &&
	       t->object.end == object->end && t->object.build_id_0 == object->build_id[0] &&
	       t->object.build_id_1 == object->build_id[1] && strcmp(tare_path_short(t->path), object->path) == 0;
}

const char *tare_told_paths_find(const struct tare_told_paths *told, const struct tare_process *process,
                                 const struct tare_object *object)
{
	for (size_t i = 0; i < told->count; i++)
		if (is_about(&told->items[i], process, object))
			return told->items[i].path;
	return NULL;
}

void tare_told_paths_free(struct tare_told_paths *told)
{
	if (!told)
		return;
	if (told->fd >= 0)
		close(told->fd);
	tare_arena_free(&told->memory);
	free(told->items);
	free(told);
}
