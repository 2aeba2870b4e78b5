/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of exec and its kin, so that programs which the recorded program starts are recorded, too: with an environment
 * of its own making it would leave the recorder out. A program that cannot load the recorder (32 bits, setuid) is
 * started without it, because the dynamic linker would complain on its stderr. These hooks may run in a vfork child
 * and on a stack of 16 KiB.
 */
#include "recorder/base/parts.h"

#include <alloca.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h> /* _Exit */
#include <unistd.h>

#include "recorder/base/sys.h"
#include "recorder/elf/libdl.h"
#include "recorder/exec_env.h"
#include "recorder/recorder.h"

typedef int execve_fn(const char *, char *const[], char *const[]);
typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                     char *const[], char *const[]);

/*
 * Found at the start: a forked child of a program with threads may have copied the dynamic linker's
 * lock while it was held, and must not ask it anything.
 */
static struct {
	execve_fn *execve, *execvpe;
	int (*fexecve)(int, char *const[], char *const[]);
	int (*execveat)(int, const char *, char *const[], char *const[], int); /* glibc 2.34 */
	spawn_fn *posix_spawn, *posix_spawnp;
} real;

void tare_exec_start(void)
{
	real.execve = (execve_fn *)tare_resolve_next("execve");
	real.execvpe = (execve_fn *)tare_resolve_next("execvpe");
	real.fexecve = (int (*)(int, char *const[], char *const[]))tare_resolve_next("fexecve");
	real.execveat = (int (*)(int, const char *, char *const[], char *const[], int))tare_resolve_next("execveat");
	real.posix_spawn = (spawn_fn *)tare_resolve_next("posix_spawn");
	real.posix_spawnp = (spawn_fn *)tare_resolve_next("posix_spawnp");
}

static void begin(struct tare_exec_env *env, const char *path, bool is_searched, char *const envp[])
{
	struct tare_exec_target target = { .folder = AT_FDCWD, .path = path, .is_searched = is_searched };

	tare_start_once();
	tare_exec_env_begin(env, &target, envp);
}

TARE_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	struct tare_exec_env env;

	begin(&env, path, false, envp);
	do
		real.execve(path, argv, env.envp);
	while (tare_exec_env_again(&env, errno));
	return -1;
}

TARE_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	struct tare_exec_env env;

	begin(&env, file, true, envp);
	do
		real.execvpe(file, argv, env.envp);
	while (tare_exec_env_again(&env, errno));
	return -1;
}

TARE_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	struct tare_exec_target target = { .folder = fd, .path = "", .flags = AT_EMPTY_PATH };
	struct tare_exec_env env;

	tare_start_once();
	if (!envp)
		return real.fexecve(fd, argv, envp); /* libc refuses it */
	tare_exec_env_begin(&env, &target, envp);
	do
		real.fexecve(fd, argv, env.envp);
	while (tare_exec_env_again(&env, errno));
	return -1;
}

/* Exported by us, it is also found where libc has none. */
static void run_execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
	if (real.execveat)
		real.execveat(folder, path, argv, envp, flags);
	else
		errno = (int)-tare_sys_always(SYS_execveat, folder, (long)path, (long)argv, (long)envp, flags, 0);
}

TARE_EXPORT int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
	struct tare_exec_target target = { .folder = folder, .path = path, .flags = flags };
	struct tare_exec_env env;

	tare_start_once();
	tare_exec_env_begin(&env, &target, envp);
	do
		run_execveat(folder, path, argv, env.envp, flags);
	while (tare_exec_env_again(&env, errno));
	return -1;
}

/* The rest of the family, which inside libc would not come by the two above. */
TARE_EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

TARE_EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* argv from the arguments of a function (first, …, NULL), on the stack of that function. */
#define LISTED(first, args)                                                                                            \
	({                                                                                                                 \
		size_t n_ = 1;                                                                                                 \
		char **argv_;                                                                                                  \
		va_start(args, first);                                                                                         \
		while (va_arg(args, char *))                                                                                   \
			n_++;                                                                                                      \
		va_end(args);                                                                                                  \
		argv_ = alloca((n_ + 1) * sizeof(char *));                                                                     \
		argv_[0] = (char *)(first);                                                                                    \
		va_start(args, first);                                                                                         \
		for (n_ = 1; (argv_[n_] = va_arg(args, char *)); n_++)                                                         \
			;                                                                                                          \
		argv_;                                                                                                         \
	})

TARE_EXPORT int execl(const char *path, const char *first, ...)
{
	va_list args;
	char **argv = LISTED(first, args);

	va_end(args);
	return execv(path, argv);
}

TARE_EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list args;
	char **argv = LISTED(first, args);

	va_end(args);
	return execvp(file, argv);
}

TARE_EXPORT int execle(const char *path, const char *first, ...)
{
	va_list args;
	char **argv = LISTED(first, args);
	char *const *envp = va_arg(args, char *const *);

	va_end(args);
	return execve(path, argv, envp);
}

TARE_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	struct tare_exec_env env;
	int failure;

	begin(&env, path, false, envp);
	do
		failure = real.posix_spawn(pid, path, actions, attributes, argv, env.envp);
	while (tare_exec_env_again(&env, failure));
	return failure;
}

TARE_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	struct tare_exec_env env;
	int failure;

	begin(&env, file, true, envp);
	do
		failure = real.posix_spawnp(pid, file, actions, attributes, argv, env.envp);
	while (tare_exec_env_again(&env, failure));
	return failure;
}

/* The program ends without its destructors. In a vfork child this is not the program. */
TARE_EXPORT void _exit(int status)
{
	tare_finish(2);
	tare_finish_with(status);
	for (;;)
		tare_sys_always(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

TARE_EXPORT void _Exit(int status)
{
	_exit(status);
}
