/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked with the start code of `tare` (when the compat option is on) and with old symbol versions:
 * constructors ran, exit functions run, and what a newer glibc renamed still works.
 */
#include "test.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int constructed;
static char *seen_arg;

__attribute__((constructor)) static void construct(int argc, char **argv)
{
	constructed++;
	seen_arg = argc > 0 ? argv[0] : NULL;
}

TEST(constructors_ran_once_with_arguments)
{
	CHECK_INT(constructed, 1);
	CHECK(seen_arg && strstr(seen_arg, "t_start"));
}

static int at_exit_pipe;

static void say_exit(void)
{
	CHECK(write(at_exit_pipe, "x", 1) == 1);
}

__attribute__((destructor)) static void destruct(void)
{
	if (at_exit_pipe)
		CHECK(write(at_exit_pipe, "d", 1) == 1);
}

TEST(exit_functions_and_destructors_run)
{
	int fds[2], status;
	char got[8] = "";
	pid_t pid;

	CHECK(pipe(fds) == 0);
	pid = fork();
	if (pid == 0) {
		at_exit_pipe = fds[1];
		atexit(say_exit);
		exit(0);
	}
	close(fds[1]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK_INT(read(fds[0], got, sizeof(got) - 1), 2); /* both wrote before the wait was over */
	CHECK_STR(got, "xd");
}

static __thread int local = 5;

static void *thread(void *arg)
{
	return (char *)arg + local;
}

TEST(threads_libraries_and_mathematics)
{
	char base[8];
	pthread_t t;
	void *result, *self;

	CHECK(pthread_create(&t, NULL, thread, base) == 0);
	CHECK(pthread_join(t, &result) == 0);
	CHECK(result == base + 5);
	self = dlopen(NULL, RTLD_NOW);
	CHECK(self && dlsym(self, "malloc"));
	CHECK(!dlopen("/no/such/library.so", RTLD_NOW) && dlerror());
	CHECK(fabs(pow(2, local) - 32) < 1e-9 && fabs(exp(log(local)) - 5) < 1e-9);
}

TEST(stat_family_agrees_and_keeps_errno)
{
	char path[] = "/tmp/t_start-XXXXXX", name[64];
	struct stat a, b, c;
	int fd = mkostemp(path, O_CLOEXEC);

	CHECK(fd >= 0 && write(fd, path, 9) == 9);
	snprintf(name, sizeof(name), "%s.link", path);
	CHECK(symlink(path, name) == 0);
	CHECK(stat(name, &a) == 0 && fstat(fd, &b) == 0 && lstat(name, &c) == 0);
	unlink(name);
	unlink(path);
	CHECK(a.st_ino == b.st_ino && a.st_size == 9 && b.st_size == 9);
	CHECK(S_ISLNK(c.st_mode) && c.st_ino != a.st_ino);
	CHECK(fstatat(fd, "", &c, AT_EMPTY_PATH) == 0 && c.st_ino == a.st_ino);
	CHECK(stat("/no/such/file", &a) == -1 && errno == ENOENT);
	CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CHECK_INT(gettid(), getpid());
}
