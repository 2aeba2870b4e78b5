/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file that zstd or gzip may have packed. */
#include "import/files.h"

#include "base/file.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

struct tare_import_unpack {
	const char *path;
	int fd;
	char raw[1 << 16]; /* as it is in the file */
	size_t size, at;
	bool is_ended, is_cut;
	ZSTD_DCtx *zstd;  /* NULL: it is not packed by zstd */
	bool is_in_frame; /* of zstd */
	pid_t gzip;       /* 0: not packed by gzip */
};

static int fill(struct tare_import_unpack *u, struct tare_err *err)
{
	ssize_t n;

	if (u->at == u->size)
		u->at = u->size = 0;
	if (u->is_ended || u->size == sizeof(u->raw))
		return 0;
	n = tare_file_read_some(u->fd, u->raw + u->size, sizeof(u->raw) - u->size);
	if (n < 0)
		return tare_err_set_errno(err, (int)-n, "%s: cannot be read", u->path);
	u->is_ended = n == 0;
	u->size += (size_t)n;
	return 0;
}

static bool begins(const struct tare_import_unpack *u, const char *magic, size_t size)
{
	return u->size >= size && !memcmp(u->raw, magic, size);
}

/* Only what may be called between fork and exec. */
static void exec_gzip(int in, int out)
{
	char *argv[] = { "gzip", "-dc", NULL };

	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0) {
		close(STDERR_FILENO);
		execvp(argv[0], argv);
	}
	_exit(127);
}

/* From here on the file is what gzip says. */
static int start_gzip(struct tare_import_unpack *u, struct tare_err *err)
{
	int ends[2];

	if (lseek(u->fd, 0, SEEK_SET) != 0)
		return tare_err_set(err, TARE_E_FORMAT,
		                    "%s: is packed by gzip and comes through a pipe: gzip -dc FILE "
		                    "| tare import -",
		                    u->path);
	if (pipe2(ends, O_CLOEXEC))
		return tare_err_set_errno(err, errno, "%s: gzip cannot be started", u->path);
	u->gzip = fork();
	if (u->gzip == 0)
		exec_gzip(u->fd, ends[1]);
	close(ends[1]);
	close(u->fd);
	u->fd = ends[0];
	u->size = u->at = 0;
	u->is_ended = false;
	if (u->gzip > 0)
		return 0;
	u->gzip = 0;
	return tare_err_set_errno(err, errno, "%s: gzip cannot be started", u->path);
}

int tare_import_unpack_open(struct tare_import_unpack **out, int fd, const char *path, struct tare_err *err)
{
	struct tare_import_unpack *u = tare_xcalloc(1, sizeof(*u));
	int rc = 0;

	u->path = path;
	u->fd = fd;
	while (!rc && !u->is_ended && u->size < 4)
		rc = fill(u, err);
	if (!rc && begins(u, "\x28\xb5\x2f\xfd", 4)) {
		u->zstd = ZSTD_createDCtx();
		u->is_in_frame = true;
	} else if (!rc && begins(u, "\x1f\x8b", 2)) {
		rc = start_gzip(u, err);
	}
	if (rc)
		tare_import_unpack_close(u);
	else
		*out = u;
	return rc;
}

static ssize_t read_zstd(struct tare_import_unpack *u, void *bytes, size_t size, struct tare_err *err)
{
	ZSTD_outBuffer to = { bytes, size, 0 };

	while (!to.pos) {
		ZSTD_inBuffer from;
		size_t left;
		int rc = u->at == u->size ? fill(u, err) : 0;

		if (rc)
			return rc;
		from = (ZSTD_inBuffer){ u->raw, u->size, u->at };
		if (u->at == u->size && !u->is_in_frame)
			return 0;
		left = ZSTD_decompressStream(u->zstd, &to, &from);
		if (ZSTD_isError(left))
			return tare_err_set(err, TARE_E_CORRUPT,
			                    "%s: zstd cannot unpack it (%s): it is damaged, or not "
			                    "all of it is zstd's",
			                    u->path, ZSTD_getErrorName(left));
		u->is_in_frame = left != 0;
		u->is_cut = !to.pos && u->is_ended && from.pos == u->at;
		u->at = from.pos;
		if (u->is_cut)
			return 0;
	}
	return (ssize_t)to.pos;
}

static int end_gzip(struct tare_import_unpack *u, struct tare_err *err)
{
	int status = 0;

	while (u->gzip && waitpid(u->gzip, &status, 0) < 0 && errno == EINTR)
		;
	u->gzip = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return tare_err_set(err, TARE_E_FORMAT, "%s: is packed by gzip, and there is no program of that name", u->path);
	u->is_cut = status != 0;
	return 0;
}

ssize_t tare_import_unpack_read(struct tare_import_unpack *u, void *bytes, size_t size, struct tare_err *err)
{
	size_t n;
	int rc;

	if (u->zstd)
		return read_zstd(u, bytes, size, err);
	if (u->at == u->size) {
		rc = fill(u, err);
		if (!rc && !u->size && u->gzip)
			rc = end_gzip(u, err);
		if (rc)
			return rc;
	}
	n = u->size - u->at < size ? u->size - u->at : size;
	memcpy(bytes, u->raw + u->at, n);
	u->at += n;
	return (ssize_t)n;
}

bool tare_import_unpack_is_cut(const struct tare_import_unpack *u)
{
	return u->is_cut;
}

void tare_import_unpack_close(struct tare_import_unpack *u)
{
	close(u->fd);
	while (u->gzip && waitpid(u->gzip, NULL, 0) < 0 && errno == EINTR)
		;
	ZSTD_freeDCtx(u->zstd);
	free(u);
}
