/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is linked with NVIDIA's libraries, and finds them before the simulated ones (by an RPATH, or by an
 * LD_LIBRARY_PATH that a script set), has loaded them before anything of ours runs. So it is begun once more, before its first
 * line, with the simulated ones of the same names preloaded: what is loaded already answers to its soname.
 */
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simgpu/libs/loader.h"

#define MARK "TARE_SIM_AGAIN" /* PID:LIST, for the process that began again */
enum { LIST_MAX = 8192, TEXT_MAX = 2 * LIST_MAX };

extern char **environ;

static bool is_other_file(const char *a, const char *b)
{
	struct stat one, two;

	return stat(a, &one) == 0 && stat(b, &two) == 0 && (one.st_dev != two.st_dev || one.st_ino != two.st_ino);
}

/* Adds the simulated library in place of which this one was loaded. */
static int collect(struct dl_phdr_info *info, size_t size, void *list)
{
	char path[PATH_MAX];
	size_t length = strlen(list);

	(void)size;
	if (!*info->dlpi_name || !sim_loader_is_simulated(info->dlpi_name) ||
	    !sim_loader_path(info->dlpi_name, path, sizeof(path)) || !is_other_file(info->dlpi_name, path))
		return 0;
	if (length + strlen(path) + 2 > LIST_MAX || strpbrk(path, " :"))
		return 0;
	sprintf((char *)list + length, ":%s", path);
	return 0;
}

/* Takes the list out of LD_PRELOAD again, which children get. False: this process has not begun again. */
static bool has_begun_again(void)
{
	const char *mark = getenv(MARK), *list = mark ? strchr(mark, ':') : NULL;
	char *preload = getenv("LD_PRELOAD"), *at = preload && list ? strstr(preload, list) : NULL;
	bool is = mark && strtol(mark, NULL, 10) == (long)getpid();

	if (at)
		memmove(at, at + strlen(list), strlen(at + strlen(list)) + 1);
	if (mark)
		unsetenv(MARK);
	return is;
}

/* The file that runs; false: it is the dynamic linker, called by name, whose own arguments are not known. */
static bool find_program(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	const char *slash;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	return slash && strncmp(slash, "/ld-", 4) != 0 && strncmp(slash, "/ld.so", 6) != 0;
}

static void begin_again(char **argv, const char *list)
{
	static char preload[TEXT_MAX], mark[TEXT_MAX];
	const char *old = getenv("LD_PRELOAD");
	size_t count = 0, n = 0, i;
	char program[PATH_MAX], **envp;

	/* One that opens this library itself runs already, and is not begun again. */
	if (!old || !strstr(old, "/libtare_sim.so") || !find_program(program) ||
	    (size_t)snprintf(preload, sizeof(preload), "LD_PRELOAD=%s%s", old, list) >= sizeof(preload))
		return;
	snprintf(mark, sizeof(mark), MARK "=%ld%s", (long)getpid(), list);
	while (environ[count])
		count++;
	envp = malloc((count + 2) * sizeof(*envp));
	if (!envp)
		return;
	for (i = 0; i < count; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0)
			envp[n++] = environ[i];
	envp[n++] = preload;
	envp[n++] = mark;
	envp[n] = NULL;
	execve(program, argv, envp);
	free(envp); /* it goes on with what it has, and is told of it */
}

void sim_loader_again(char **argv)
{
	static char list[LIST_MAX];

	if (has_begun_again())
		return;
	dl_iterate_phdr(collect, list);
	if (*list)
		begin_again(argv, list);
}
