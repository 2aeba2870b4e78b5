/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that start others with an environment of their own making would lose us there; and a
 * 32-bit program must not be asked to load us, because the dynamic linker says so on its stderr.
 * These hooks may run in a vfork child: they use the stack and nothing else.
 */
#include <alloca.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h> /* _Exit */
#include <string.h>
#include <unistd.h>

#include "recorder/elfsym.h"
#include "recorder/emit.h"
#include "recorder/environment.h"
#include "recorder/plib.h"
#include "recorder/recorder.h"
#include "recorder/resolve.h"
#include "recorder/ring/ring.h"
#include "recorder/sys.h"

#define PRELOAD "LD_PRELOAD="

static bool is_32_bit(const char *path)
{
	unsigned char ident[5] = {0};
	int fd;

	if (!path || !tare_plib_first(path, '/'))
		return false;
	fd = tare_sys_open(path, O_RDONLY, 0);
	if (fd < 0)
		return false;
	tare_sys_read(fd, ident, sizeof(ident));
	tare_sys_close(fd);
	return memcmp(ident, "\177ELF\1", 5) == 0;
}

static const char *find(char *const envp[], const char *name)
{
	size_t n = strlen(name);

	for (; envp && *envp; envp++)
		if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

static bool has_name_of(char *const envp[], const char *line)
{
	size_t n = (size_t)(tare_plib_first(line, '=') - line);

	for (; envp && *envp; envp++)
		if (strncmp(*envp, line, n) == 0)
			return true;
	return false;
}

static const char *in_list(const char *list, const char *path)
{
	const char *at = list ? strstr(list, path) : NULL;
	char after = at ? at[strlen(path)] : 'x';

	return at && (after == '\0' || after == ':' || after == ' ') ? at : NULL;
}

/* How many slots and bytes `edit` may need. */
static size_t count(char *const envp[])
{
	size_t n = 0;

	while (envp && envp[n])
		n++;
	return n;
}

/* LD_PRELOAD with our path in front of the program's own list, or, for 32 bits, without it. */
static char *edit_preload(const char *list, bool add, char *out, size_t size)
{
	const char *own = tare_config.library, *at = in_list(list, own);

	if (add) {
		tare_plib_format(out, size, PRELOAD "%s%s%s", own, list && *list ? ":" : "", list ? list : "");
	} else {
		const char *rest = at + strlen(own);

		tare_plib_format(out, size, PRELOAD);
		strncat(out, list, (size_t)(at - list));
		strncat(out, *rest ? rest + 1 : "", size - strlen(out) - 1);
	}
	return out;
}

/* `slots` has room for the program's variables and ours. */
static char **edit(char *const envp[], bool add, char **slots, char *preload, size_t preload_size)
{
	const char *list = find(envp, "LD_PRELOAD");
	size_t n = 0, i;

	slots[n++] = edit_preload(list, add, preload, preload_size);
	for (i = 0; envp && envp[i]; i++)
		if (strncmp(envp[i], PRELOAD, strlen(PRELOAD)) != 0)
			slots[n++] = envp[i];
	for (i = 0; add && i < TARE_ENVIRONMENT_MAX; i++) {
		bool is_ours;
		const char *line = tare_environment_carried((int)i, &is_ours);

		if (line && !has_name_of(envp, line))
			slots[n++] = (char *)line;
	}
	slots[n] = NULL;
	return slots;
}

enum change { KEEP, ADD, REMOVE };

static enum change change_for(const char *path, char *const envp[])
{
	bool is_there = in_list(find(envp, "LD_PRELOAD"), tare_config.library) != NULL;

	if (!tare_config.enabled || !tare_config.library[0])
		return KEEP;
	if (is_32_bit(path))
		return is_there ? REMOVE : KEEP;
	return is_there && find(envp, "TARE_RECORDING") ? KEEP : ADD;
}

/* The stack that an edited environment needs lives as long as the function that uses it. */
#define EDITED(path, envp)                                                                          \
	({                                                                                          \
		enum change change_ = change_for(path, envp);                                       \
		char **edited_ = (char **)envp;                                                     \
		if (change_ != KEEP) {                                                              \
			const char *list_ = find(envp, "LD_PRELOAD");                               \
			size_t size_ = strlen(PRELOAD) + strlen(tare_config.library) +              \
				       (list_ ? strlen(list_) : 0) + 2;                             \
			char **slots_ = alloca((count(envp) + TARE_ENVIRONMENT_MAX + 2) * sizeof(char *));       \
			char *preload_ = alloca(size_);                                             \
			edited_ = edit(envp, change_ == ADD, slots_, preload_, size_);      \
		}                                                                                   \
		edited_;                                                                            \
	})

typedef int execve_fn(const char *, char *const[], char *const[]);
typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
		     char *const[], char *const[]);

/*
 * Found at the start: a forked child of a program with threads may have copied the dynamic linker's
 * lock while it was held, and must not ask it anything.
 */
static struct {
	execve_fn *execve, *execvpe;
	spawn_fn *posix_spawn, *posix_spawnp;
} real;

void tare_exec_start(void)
{
	real.execve = (execve_fn *)tare_resolve_libc("execve");
	real.execvpe = (execve_fn *)tare_resolve_libc("execvpe");
	real.posix_spawn = (spawn_fn *)tare_resolve_libc("posix_spawn");
	real.posix_spawnp = (spawn_fn *)tare_resolve_libc("posix_spawnp");
}

TARE_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	tare_start_once();
	return real.execve(path, argv, EDITED(path, envp));
}

TARE_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	tare_start_once();
	return real.execvpe(file, argv, EDITED(file, envp));
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
#define LISTED(first, args)                                                                         \
	({                                                                                          \
		size_t n_ = 1;                                                                      \
		char **argv_;                                                                       \
		va_start(args, first);                                                              \
		while (va_arg(args, char *))                                                        \
			n_++;                                                                       \
		va_end(args);                                                                       \
		argv_ = alloca((n_ + 1) * sizeof(char *));                                          \
		argv_[0] = (char *)(first);                                                         \
		va_start(args, first);                                                              \
		for (n_ = 1; (argv_[n_] = va_arg(args, char *)); n_++)                              \
			;                                                                           \
		argv_;                                                                              \
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
	tare_start_once();
	return real.posix_spawn(pid, path, actions, attributes, argv, EDITED(path, envp));
}

TARE_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			     const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	tare_start_once();
	return real.posix_spawnp(pid, file, actions, attributes, argv, EDITED(file, envp));
}

/* The program ends without its destructors. In a vfork child this is not the program. */
TARE_EXPORT void _exit(int status)
{
	tare_finish(2);
	tare_finish_with(status);
	for (;;)
		tare_sys6(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

TARE_EXPORT void _Exit(int status)
{
	_exit(status);
}
