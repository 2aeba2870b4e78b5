/* SPDX-License-Identifier: Apache-2.0 */
/* Tells `tare` the paths that must not be in the log. */
#include "recorder/log/emit.h"

#include <string.h>

#include "recorder/base/plib.h"
#include "recorder/base/sys.h"
#include "recorder/recorder.h"
#include "record/path.h"

#define TOLD_MAX   (16u << 20) /* it is memory */
#define LIMIT_ROOM (1u << 20)  /* others write too: the limit for files must not be near */

const char *tare_paths_of_log(const char *path)
{
	return tare_config.no_paths ? tare_path_short(path) : path;
}

/*
 * A name that a program gave to dlopen() is one of the folder that it is in then, which is not `tare`'s after a `cd`. What does not fit stays
 * as it is: the library has no names of functions then.
 */
const char *tare_paths_absolute(const char *path, char *room, size_t size)
{
	size_t bytes = strlen(path), folder;
	long got;

	if (*path == '/' || tare_plib_basename(path) == path) /* that of the kernel's (linux-vdso.so.1) has no file */
		return path;
	got = tare_sys6(SYS_getcwd, (long)room, (long)size, 0, 0, 0, 0);
	if (got <= 1 || *room != '/') /* "(unreachable)/…" */
		return path;
	folder = (size_t)got - 1;
	if (folder + 1 + bytes + 1 > size)
		return path;
	while (path[0] == '.' && path[1] == '/') {
		path += 2;
		bytes -= 2;
	}
	if (room[folder - 1] != '/')
		room[folder++] = '/';
	memcpy(room + folder, path, bytes + 1);
	return room;
}

/* The pid in its name may be another's by now, and that file anything. */
static int open_told(void)
{
	char text[64];

	if (!tare_plib_readlink(tare_config.no_paths, text, sizeof(text)) ||
	    !tare_plib_equal(text, "/memfd:" TARE_TOLD_PATHS " (deleted)"))
		return -1;
	return tare_sys_open(tare_config.no_paths, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY, 0);
}

void tare_paths_tell(const struct tare_rec_object *object, const char *path, uint32_t bytes)
{
	struct tare_rec_object rec = *object;
	const struct {
		const void *at;
		size_t size;
	} parts[] = { { &rec, sizeof(rec) }, { path, bytes } };
	int fd = open_told();
	long size;

	if (fd < 0)
		return;
	memset(&rec.head, 0, sizeof(rec.head));
	rec.head.stamp = tare_sys_getpid(); /* which is all that its head is for here */
	rec.bytes = bytes;
	size = tare_sys6(SYS_lseek, fd, 0, 2 /* SEEK_END */, 0, 0, 0);
	if (size >= 0 && size < (long)TOLD_MAX && tare_sys_may_grow((uint64_t)size + LIMIT_ROOM))
		tare_sys6(SYS_writev, fd, (long)parts, 2, 0, 0, 0);
	tare_sys_close(fd);
}
