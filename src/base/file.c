/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, reads and writes whole files by name, whatever kind of file the name stands for. */
#include "base/file.h"

#include "base/print.h"
#include "base/private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind_of(mode_t mode)
{
	return S_ISDIR(mode) ? "a folder" : S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

/* Without O_NONBLOCK, opening a FIFO waits for somebody at its other end. */
static int open_kind(const char *path, bool may_be_pipe, struct tare_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int rc = 0;

	if (fd < 0 && errno == ENXIO)
		return tare_err_set(err, TARE_E_FORMAT, "%s: is a socket and no file; name a file", path);
	if (fd < 0)
		return tare_err_set_errno(err, errno, "%s: cannot be read", path);
	if (fstat(fd, &st) != 0)
		rc = tare_err_set_errno(err, errno, "%s: cannot be read", path);
	else if (!S_ISREG(st.st_mode) && !(may_be_pipe && S_ISFIFO(st.st_mode)))
		rc = tare_err_set(err, TARE_E_FORMAT, "%s: is %s and no file; name a file", path, kind_of(st.st_mode));
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int tare_file_open(const char *path, struct tare_err *err)
{
	return open_kind(path, false, err);
}

int tare_file_open_input(const char *path, struct tare_err *err)
{
	int fd;

	if (strcmp(path, "-"))
		return open_kind(path, true, err);
	fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? tare_err_set_errno(err, errno, "standard input: cannot be read") : fd;
}

ssize_t tare_file_read_some(int fd, void *bytes, size_t size)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	for (;;) {
		ssize_t n = read(fd, bytes, size);

		if (n >= 0)
			return n;
		if (errno == EAGAIN ? poll(&wait, 1, -1) < 0 && errno != EINTR : errno != EINTR)
			return -errno;
	}
}

/* Files of /proc and /sys, and pipes, do not say how long they are. */
static int read_all(struct tare_str *out, int fd, const char *name, size_t limit, struct tare_err *err)
{
	size_t start = out->len;
	char part[65536];
	int rc = 0;

	for (ssize_t n = 1; n && !rc;) {
		n = tare_file_read_some(fd, part, sizeof(part));
		if (n < 0)
			rc = tare_err_set_errno(err, (int)-n, "%s: cannot be read", name);
		else if ((size_t)n > limit - (out->len - start))
			rc = tare_err_set(err, TARE_E_LIMIT, "%s: is larger than %zu MiB, which a file of this kind never is", name,
			                  limit >> 20);
		else
			tare_str_add_n(out, part, (size_t)n);
	}
	if (rc && out->data)
		tare_str_cut(out, start);
	return rc;
}

static int read_kind(struct tare_str *out, const char *path, bool may_be_pipe, size_t limit, struct tare_err *err)
{
	int fd = open_kind(path, may_be_pipe, err), rc;

	if (fd < 0)
		return fd;
	rc = read_all(out, fd, path, limit, err);
	close(fd);
	return rc;
}

int tare_file_read(struct tare_str *out, const char *path, size_t limit, struct tare_err *err)
{
	return read_kind(out, path, false, limit, err);
}

int tare_file_read_input(struct tare_str *out, const char *path, size_t limit, struct tare_err *err)
{
	if (!strcmp(path, "-"))
		return read_all(out, STDIN_FILENO, "standard input", limit, err);
	return read_kind(out, path, true, limit, err);
}

int tare_file_read_open(struct tare_str *out, int fd, size_t limit, struct tare_err *err)
{
	return read_all(out, fd, "the file", limit, err);
}

bool tare_file_name(int fd, char name[PATH_MAX])
{
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, name, PATH_MAX - 1);
	if (len <= 0 || name[0] != '/')
		return false;
	name[len] = '\0';
	return true;
}

static int write_bytes(int fd, const struct tare_str *bytes)
{
	int failure;

	if (fd < 0)
		return errno ? -errno : -EIO;
	failure = tare_file_write_all(fd, tare_str_text(bytes), bytes->len);
	if (close(fd) != 0 && !failure)
		failure = errno;
	return -failure;
}

static int write_text(int fd, const struct tare_str *text)
{
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	int rc;

	if (!file)
		return errno ? -errno : -EIO;
	rc = tare_print(file, text);
	if (fclose(file) != 0 && !rc)
		rc = errno ? -errno : -EIO;
	return rc;
}

/* Text goes the way of everything that people read; bytes are what they are. */
static int write_fd(int fd, const struct tare_str *text, bool is_text)
{
	return is_text ? write_text(fd, text) : write_bytes(fd, text);
}

static mode_t less_umask(mode_t mode)
{
	return mode & ~(mode & 077 ? tare_private_users_mask() : 0);
}

static int replace(const char *path, const struct tare_str *text, mode_t mode, bool is_text)
{
	TARE_FREED_BY(tare_str_free) struct tare_str fresh = { 0 };
	int fd, rc;

	tare_str_addf(&fresh, "%s.new", path);
	unlink(fresh.data);
	fd = open(fresh.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	rc = write_fd(fd, text, is_text);
	/* Some file systems have no modes. */
	if (!rc && chmod(fresh.data, less_umask(mode)) != 0 && errno != EPERM && errno != ENOTSUP)
		rc = -errno;
	if (!rc && rename(fresh.data, path) != 0)
		rc = -errno;
	if (rc)
		unlink(fresh.data);
	return rc;
}

static int write_file(const char *path, const struct tare_str *text, mode_t mode, bool is_text)
{
	struct stat st;

	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return write_fd(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, less_umask(mode)), text,
		                is_text);
	return replace(path, text, mode, is_text);
}

int tare_file_write(const char *path, const struct tare_str *text, mode_t mode)
{
	return write_file(path, text, mode, true);
}

int tare_file_write_bytes(const char *path, const struct tare_str *bytes, mode_t mode)
{
	return write_file(path, bytes, mode, false);
}

void tare_file_reserve(const char *path, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return;
	fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size);
	close(fd);
}

int tare_file_overwrite(const char *path, const struct tare_str *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW), failure = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		failure = errno;
	else if (!S_ISREG(st.st_mode) || (uint64_t)st.st_blocks * 512 < text->len)
		failure = ENOSPC;
	if (!failure)
		failure = tare_file_write_all(fd, text->data, text->len);
	if (!failure && ftruncate(fd, (off_t)text->len) != 0)
		failure = errno;
	if (fd >= 0)
		close(fd);
	return -failure;
}

int tare_file_write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

static bool skips_sync;

void tare_file_skip_sync(void)
{
	skips_sync = true;
}

int tare_file_sync(int fd)
{
	return skips_sync || fsync(fd) == 0 ? 0 : errno;
}

int tare_file_close_synced(int fd, int failure)
{
	if (!failure)
		failure = tare_file_sync(fd);
	if (close(fd) < 0 && !failure)
		failure = errno;
	return failure;
}
