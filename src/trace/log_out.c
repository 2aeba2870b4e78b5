/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the bytes of logs into their files by position: opens the chunk that a position lies in, and keeps one file
 * open at a time.
 */
#include "trace/log_out.h"

#include "trace/chunk_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int tare_log_out_close_file(struct tare_log_out *out)
{
	int rc = out->fd >= 0 && close(out->fd) != 0 ? -errno : 0;

	out->fd = -1;
	return rc;
}

static int open_chunk(struct tare_log_out *out, uint64_t chunk)
{
	char *path;
	int rc;

	if (out->fd >= 0 && out->chunk == chunk)
		return 0;
	tare_log_out_close_file(out);
	path = tare_chunk_path(out->path, chunk);
	out->chunk = chunk;
	out->fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | (chunk ? O_CREAT : 0), 0600);
	rc = out->fd < 0 ? -errno : 0;
	if (chunk && out->fd >= 0)
		fchmod(out->fd, 0600); /* a umask of 0777 would leave nothing of that */
	free(path);
	return rc;
}

static int write_part(const struct tare_log_out *out, const struct tare_chunk_part *part, const uint8_t *bytes)
{
	uint64_t done = 0;

	while (done < part->size) {
		ssize_t n = pwrite(out->fd, bytes + done, part->size - done, (off_t)(part->offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (uint64_t)n;
	}
	return 0;
}

/* The lock, which goes with the descriptor: log_trim.c cuts nothing that only this file has. */
static int write_in_first(struct tare_log_out *out, const struct tare_chunk_part *part, const uint8_t *bytes)
{
	int rc = open_chunk(out, 0);

	if (rc == 0 && flock(out->fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		rc = -EAGAIN;
	if (rc == 0)
		rc = write_part(out, part, bytes);
	tare_log_out_close_file(out);
	return rc;
}

int tare_log_out_write(struct tare_log_out *out, const void *bytes, uint64_t size, uint64_t position)
{
	const uint8_t *at = bytes;
	struct tare_chunk_part part;
	int rc = 0;

	for (; rc == 0 && size > 0; at += part.size, position += part.size, size -= part.size) {
		part = tare_chunk_part(&out->chunks, position, size);
		rc = open_chunk(out, part.chunk);
		if (rc == 0) {
			rc = write_part(out, &part, at);
		} else if (part.chunk) {
			part = tare_chunk_part_in_first(&out->chunks, position, part.size);
			rc = write_in_first(out, &part, at);
		}
	}
	return rc;
}
