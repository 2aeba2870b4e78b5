/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether a program that is about to be executed can be recorded. */
#include "recorder/exec_env.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/base/plib.h"
#include "recorder/base/program_memory.h"
#include "recorder/base/room.h"
#include "recorder/base/sys.h"
#include "recorder/recorder.h"

#define LINE         256 /* what the kernel reads of a script */
#define SCRIPTS_MAX  5   /* so many of them may name one another */
#define DEFAULT_PATH "/bin:/usr/bin"

static bool look(const struct tare_exec_target *target, struct stat *out)
{
	return tare_sys6(SYS_newfstatat, target->folder, (long)target->path, (long)out, target->flags, 0, 0) == 0 &&
	       S_ISREG(out->st_mode);
}

static int open_target(const struct tare_exec_target *target)
{
	char path[64];
	int how = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC; /* it may be something else by now */
	int fd = (int)tare_sys6(SYS_openat, target->folder, (long)target->path, how, 0, 0, 0);

	if (fd >= 0 || !(target->flags & AT_EMPTY_PATH))
		return fd;
	tare_plib_format(path, sizeof(path), "/proc/self/fd/%u", (uint32_t)target->folder);
	return tare_sys_open(path, how, 0);
}

/* Cuts the name of the interpreter out of "#! name argument". */
static char *interpreter(char *line)
{
	char *name = line + 2, *end;

	while (*name == ' ' || *name == '\t')
		name++;
	for (end = name; *end && *end != ' ' && *end != '\t' && *end != '\n'; end++)
		;
	*end = '\0';
	return name;
}

/* Also of a script whose interpreter is: that is what runs. Only files are opened: a FIFO would wait. */
static bool is_32_bit(const struct tare_exec_target *target)
{
	struct tare_exec_target at = *target;
	char line[LINE + 1];
	struct stat st;
	long n;
	int i, fd;

	for (i = 0; i < SCRIPTS_MAX; i++) {
		if (!look(&at, &st))
			return false;
		fd = open_target(&at);
		if (fd < 0)
			return false;
		n = tare_sys_read(fd, line, LINE);
		tare_sys_close(fd);
		line[n > 0 ? n : 0] = '\0';
		if (n < 5 || line[0] != '#' || line[1] != '!')
			return n >= 5 && tare_plib_starts(line, "\177ELF\1");
		at = (struct tare_exec_target){ .folder = AT_FDCWD, .path = interpreter(line) };
	}
	return false;
}

static const char *search_path(struct tare_program_memory *memory)
{
	char **at;

	for (at = environ; at && *at; at++) {
		const char *value = tare_program_value(memory, *at, "PATH");

		if (value)
			return value;
	}
	return DEFAULT_PATH;
}

/* FILE in the next folder of `path`; NULL behind the last. */
static const char *next_candidate(const char *path, const char *file, char *out, size_t size)
{
	size_t n = 0;

	while (*path && *path != ':' && n + 2 < size)
		out[n++] = *path++;
	if (n)
		out[n++] = '/';
	tare_plib_format(out + n, size - n, "%s", file);
	while (*path && *path != ':')
		path++;
	return *path ? path + 1 : NULL;
}

/* The first that may be executed; libc looks for it in the same way. */
static bool found_is_32_bit(const char *file)
{
	struct tare_program_memory memory = { 0 };
	const char *path = search_path(&memory);
	char *candidate;
	bool is = false;

	if (tare_program_length(&memory, file, NAME_MAX + 1) > NAME_MAX)
		return false;
	candidate = tare_room_take(PATH_MAX);
	while (candidate && path) {
		struct tare_exec_target target = { .folder = AT_FDCWD, .path = candidate };
		struct stat st;

		path = next_candidate(path, file, candidate, PATH_MAX);
		if (!look(&target, &st) || !(st.st_mode & 0111))
			continue;
		is = is_32_bit(&target);
		break;
	}
	tare_room_give(candidate);
	return is;
}

static bool has_slash(const char *path)
{
	struct tare_program_memory memory = { 0 };
	size_t n = tare_program_length(&memory, path, PATH_MAX);

	return n == PATH_MAX || tare_plib_first(path, '/');
}

/* Behind a chroot or in another mount namespace the library may be out of reach. */
static bool library_is_there(void)
{
	int fd = tare_sys_open(tare_config.library, O_RDONLY, 0);

	if (fd >= 0)
		tare_sys_close(fd);
	return fd >= 0;
}

bool tare_exec_target_loads_us(const struct tare_exec_target *target)
{
	if (!library_is_there())
		return false;
	return target->is_searched && !has_slash(target->path) ? !found_is_32_bit(target->path) : !is_32_bit(target);
}
