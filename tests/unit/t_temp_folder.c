/* SPDX-License-Identifier: Apache-2.0 */
/* Folders that are gone when a command ends, however it ends. */
#include "base/str.h"
#include "base/temp_folder.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the child that a test is about, for the test. */
static struct {
	char folder[256];
} * seen;

static void put(const char *folder, const char *name)
{
	struct tare_str path = { 0 };
	int fd;

	tare_str_addf(&path, "%s/%s", folder, name);
	if (name[strlen(name) - 1] == '/') {
		CHECK_INT(mkdir(tare_str_text(&path), 0700), 0);
	} else {
		fd = open(tare_str_text(&path), O_WRONLY | O_CREAT, 0600);
		CHECK(fd >= 0);
		close(fd);
	}
	tare_str_free(&path);
}

static char *make(void)
{
	char *folder = NULL;
	struct tare_err err = { 0 };

	CHECK_INT(tare_temp_folder_make(NULL, "tare-test-XXXXXX", &folder, &err), 0);
	put(folder, "file");
	put(folder, ".hidden");
	put(folder, "below/");
	put(folder, "below/again/");
	for (int i = 0; i < 100; i++) {
		char name[48];

		snprintf(name, sizeof(name), "below/again/a name that is rather long %d", i);
		put(folder, name);
	}
	return folder;
}

/* Where a folder is made while TMPDIR has that value; NULL: it is not there. */
static void check_place(const char *tmpdir, const char *place)
{
	const char *before = getenv("TMPDIR");
	char *folder = NULL, *kept = before ? strdup(before) : NULL;
	struct tare_err err = { 0 };

	if (tmpdir)
		setenv("TMPDIR", tmpdir, 1);
	else
		unsetenv("TMPDIR");
	CHECK_INT(tare_temp_folder_make(NULL, "tare-test-XXXXXX", &folder, &err), 0);
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
	CHECK(strncmp(folder, place, strlen(place)) == 0 && strncmp(folder + strlen(place), "/tare-test-", 11) == 0);
	tare_temp_folder_remove(folder);
}

TEST(it_is_where_tmpdir_says)
{
	char *folder = make();

	check_place(folder, folder);
	check_place(NULL, "/tmp");
	check_place("", "/tmp");
	check_place(".", "/tmp");
	tare_temp_folder_remove(folder);
}

/* Runs it in a child that has made a folder; how the child ended. The folder is gone. */
static int status_of(void (*run)(char *folder))
{
	int status;
	pid_t child;

	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child = fork();
	if (child == 0) {
		char *folder = make();

		snprintf(seen->folder, sizeof(seen->folder), "%s", folder);
		run(folder);
		_exit(99);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(seen->folder[0] && access(seen->folder, F_OK) != 0);
	return status;
}

TEST(a_folder_goes_with_all_in_it)
{
	char *folder = make(), *other = make();
	struct tare_str link = { 0 }, kept = { 0 };

	tare_str_addf(&link, "%s/below/link", folder);
	tare_str_addf(&kept, "%s/file", other);
	CHECK_INT(symlink(other, tare_str_text(&link)), 0);
	tare_temp_folder_remove(folder);
	CHECK(access(tare_str_text(&link), F_OK) != 0);
	CHECK_INT(access(tare_str_text(&kept), F_OK), 0); /* a link is not followed */
	tare_temp_folder_remove(other);
	CHECK(access(tare_str_text(&kept), F_OK) != 0);
	tare_temp_folder_remove(NULL);
	tare_str_free(&link);
	tare_str_free(&kept);
}

static void by_exit(char *folder)
{
	(void)folder;
	exit(3);
}

static void by_term(char *folder)
{
	(void)folder;
	raise(SIGTERM);
}

static void by_int(char *folder)
{
	(void)folder;
	raise(SIGINT);
}

static void by_pipe(char *folder)
{
	int ends[2];

	(void)folder;
	CHECK_INT(pipe(ends), 0);
	close(ends[0]);
	CHECK(write(ends[1], "", 1) < 0);
}

TEST(it_goes_however_the_program_ends)
{
	int status = status_of(by_exit);

	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	status = status_of(by_term);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	status = status_of(by_int);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	status = status_of(by_pipe);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}

/* A child of who made it leaves it alone; a writer is told to end, and has ended when the folder goes. */
static void with_writer(char *folder)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		raise(SIGTERM);
	waitpid(child, &status, 0);
	if (!WIFSIGNALED(status) || access(folder, F_OK) != 0)
		_exit(1);
	child = fork();
	if (child == 0) {
		tare_temp_folder_writer(0);
		for (;;)
			put(folder, "written");
	}
	tare_temp_folder_writer(child);
	usleep(50000);
	raise(SIGTERM);
}

TEST(who_writes_into_it_ends_first)
{
	int status = status_of(with_writer);

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void with_ignored(char *folder)
{
	raise(SIGHUP);
	_exit(access(folder, F_OK) == 0 ? (tare_temp_folder_remove(folder), 0) : 1);
}

TEST(an_ignored_signal_stays_so)
{
	int status;

	signal(SIGHUP, SIG_IGN);
	status = status_of(with_ignored);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	signal(SIGHUP, SIG_DFL);
}

static void with_kept(char *folder)
{
	tare_temp_folder_keep(folder);
	exit(0);
}

TEST(what_is_kept_stays)
{
	char *folder = make();
	int status;
	pid_t child = fork();

	if (child == 0) {
		tare_temp_folder_watch(folder);
		with_kept(folder);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(access(folder, F_OK), 0);
	tare_temp_folder_remove(folder);
}
