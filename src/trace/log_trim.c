/* SPDX-License-Identifier: Apache-2.0 */
/* Trims the begin of a log: removes whole chunks, and punches a hole into the chunk that stays. */
#include "trace/log.h"

#include "base/owned.h"
#include "trace/chunk_files.h"
#include "record/schema_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* False: what the header says is not to be believed, or the log begins later than at 0. */
static bool read_layout(int fd, struct tare_chunks *out)
{
	struct tare_file_header h;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) ||
	    memcmp(h.magic, TARE_FORMAT_MAGIC, sizeof(h.magic)) != 0 || h.endian != TARE_ENDIAN_MARK ||
	    h.version > TARE_FORMAT_VERSION || h.base != 0 || !tare_schema_is_begin(h.header_bytes) ||
	    (h.chunk_bytes && !tare_chunk_bytes_are_sane(h.chunk_bytes)))
		return false;
	*out = (struct tare_chunks){ h.header_bytes, h.chunk_bytes };
	return true;
}

static int punch(int fd, uint64_t offset, uint64_t size)
{
	if (size == 0 || fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size) == 0)
		return 0;
	return -errno;
}

/*
 * A writer that finds no chunk writes behind chunk 0 in the first file, and holds a lock on the file meanwhile. So while we
 * hold the lock and nothing lies behind chunk 0, cutting the file loses no record.
 */
static bool cut(int fd, const struct tare_chunks *c)
{
	struct stat st;
	bool is_cut = flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (!is_cut)
		return false;
	is_cut = fstat(fd, &st) == 0 && (uint64_t)st.st_size <= (uint64_t)c->header_bytes + c->chunk_bytes &&
	         (st.st_size <= (off_t)c->header_bytes || ftruncate(fd, c->header_bytes) == 0);
	flock(fd, LOCK_UN);
	return is_cut;
}

static int trim_first(int fd, const struct tare_chunks *c, uint64_t position)
{
	if (c->chunk_bytes && position >= c->chunk_bytes && cut(fd, c))
		return 0;
	return punch(fd, c->header_bytes, position);
}

static int trim_chunk(const char *path, uint64_t bytes, uint64_t chunk_bytes)
{
	int fd, rc;

	if (bytes >= chunk_bytes)
		return unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	rc = punch(fd, 0, bytes);
	close(fd);
	return rc;
}

static int trim_chunks(const char *log, uint64_t chunk_bytes, uint64_t position)
{
	TARE_FREED_BY(tare_chunk_list_free) struct tare_chunk_list list = { 0 };
	int rc = 0;

	tare_chunk_list_read(&list, log);
	for (size_t i = 0; i < list.nr && list.items[i].number * chunk_bytes < position; i++) {
		TARE_FREED_HERE char *path = tare_chunk_path(log, list.items[i].number);
		int one = trim_chunk(path, position - list.items[i].number * chunk_bytes, chunk_bytes);

		rc = rc ? rc : one;
	}
	return rc;
}

int tare_log_trim(const char *log, uint64_t position)
{
	int fd = open(log, O_RDWR | O_CLOEXEC | O_NONBLOCK), rc = 0, first;
	struct tare_chunks c;

	if (fd < 0)
		return -errno;
	if (!read_layout(fd, &c)) {
		close(fd);
		return -EBADMSG;
	}
	if (c.chunk_bytes)
		rc = trim_chunks(log, c.chunk_bytes, position);
	first = trim_first(fd, &c, position);
	close(fd);
	return rc ? rc : first;
}
