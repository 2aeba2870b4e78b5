/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/tare-file-XXXXXX";

static void enter(void)
{
	CHECK(mkdtemp(folder) && chdir(folder) == 0);
}

static void leave(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	CHECK_INT(system(command), 0);
}

static int read_code(const char *path, size_t limit, struct tare_err *err)
{
	struct tare_str text = { 0 };
	int rc;

	*err = (struct tare_err){ 0 };
	alarm(5);
	rc = tare_file_read(&text, path, limit, err);
	alarm(0);
	CHECK(rc || text.len <= limit);
	tare_str_free(&text);
	return rc;
}

TEST(what_is_no_file_is_a_sentence_and_no_hang)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct tare_err err;

	enter();
	CHECK_INT(mkfifo("fifo", 0600), 0);
	CHECK_INT(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	CHECK_INT(read_code("fifo", 100, &err), TARE_E_FORMAT);
	CHECK(strstr(err.text, "fifo: is a pipe"));
	CHECK_INT(read_code("socket", 100, &err), TARE_E_FORMAT);
	CHECK(strstr(err.text, "a socket"));
	CHECK_INT(read_code(".", 100, &err), TARE_E_FORMAT);
	CHECK(strstr(err.text, "a folder"));
	CHECK_INT(read_code("/dev/zero", 100, &err), TARE_E_FORMAT);
	CHECK(strstr(err.text, "a device"));
	CHECK_INT(read_code("none", 100, &err), TARE_E_NOT_FOUND);
	close(fd);
	leave();
}

TEST(a_file_may_be_as_large_as_its_limit)
{
	struct tare_str text = { 0 };
	struct tare_err err;

	enter();
	tare_str_add_repeat(&text, "0123456789", 10);
	CHECK_INT(tare_file_write("file", &text, 0600), 0);
	CHECK_INT(read_code("file", 100, &err), 0);
	CHECK_INT(read_code("file", 99, &err), TARE_E_LIMIT);
	CHECK_INT(truncate("file", (off_t)1 << 40), 0); /* it says a terabyte, and holds nothing */
	CHECK_INT(read_code("file", 1 << 20, &err), TARE_E_LIMIT);
	tare_str_free(&text);
	leave();
}

TEST(a_pipe_is_input_until_its_writers_are_gone)
{
	struct tare_str text = { 0 };
	char path[32];
	int fds[2];

	CHECK_INT(pipe(fds), 0);
	CHECK_INT(write(fds[1], "a,b\n", 4), 4);
	close(fds[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	CHECK_INT(tare_file_read_input(&text, path, 100, NULL), 0);
	CHECK_STR(tare_str_text(&text), "a,b\n");
	tare_str_free(&text);
	close(fds[0]);
}

TEST(a_fifo_that_nobody_writes_is_empty_input)
{
	struct tare_str text = { 0 };

	enter();
	CHECK_INT(mkfifo("fifo", 0600), 0);
	alarm(5);
	CHECK_INT(tare_file_read_input(&text, "fifo", 100, NULL), 0);
	alarm(0);
	CHECK_INT(text.len, 0);
	tare_str_free(&text);
	leave();
}

TEST(private_files_are_private_and_others_follow_the_umask)
{
	struct tare_str text = { 0 };
	struct stat st;

	enter();
	tare_str_add(&text, "x\n");
	for (int i = 0; i < 3; i++) {
		static const mode_t masks[] = { 0, 022, 0777 };

		umask(masks[i]);
		CHECK_INT(tare_file_write("private", &text, 0600), 0);
		CHECK_INT(stat("private", &st), 0);
		CHECK_INT(st.st_mode & 0777, 0600);
		CHECK_INT(tare_file_write("named", &text, 0666), 0);
		CHECK_INT(stat("named", &st), 0);
		CHECK_INT(st.st_mode & 0777, 0666 & ~masks[i]);
	}
	umask(022);
	tare_str_free(&text);
	leave();
}

TEST(a_link_stays_a_link)
{
	struct tare_str text = { 0 };
	struct stat st;

	enter();
	tare_str_add(&text, "x\n");
	CHECK_INT(symlink("target", "link"), 0);
	CHECK_INT(tare_file_write("link", &text, 0600), 0);
	CHECK(lstat("link", &st) == 0 && S_ISLNK(st.st_mode));
	CHECK(stat("target", &st) == 0 && st.st_size == 2);
	tare_str_free(&text);
	leave();
}

/* Nobody can sync what is not open; who skips it does not try. */
TEST(a_process_that_skips_syncs_waits_for_no_disk)
{
	pid_t child;
	int status;

	CHECK_INT(tare_file_sync(-1), EBADF);
	child = fork();
	if (child == 0) {
		tare_file_skip_sync();
		_exit(tare_file_sync(-1));
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_INT(tare_file_sync(-1), EBADF);
}
