/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a log that has no ring: gathers records in memory, writes them together, and counts those that a full disk
 * loses.
 */
#include "trace/writer.h"

#include "base/xalloc.h"
#include "record/encode.h"
#include "trace/log_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { GATHER = 1 << 17 }; /* two of the longest records; a power of two, as tare_encode() wants */

struct tare_writer {
	struct tare_log_out out;
	uint64_t written;  /* position up to which the file has everything */
	uint64_t position; /* of the next record */
	uint64_t lost, last_stamp;
	uint8_t *gathered; /* a ring of GATHER bytes: positions written .. position */
};

static int write_all(int fd, const void *bytes, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pwrite(fd, (const uint8_t *)bytes + done, size - done, (off_t)(offset + done));

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EINTR)
			return errno;
	}
	return 0;
}

static int code_of(int errnum)
{
	return tare_err_set_errno(NULL, errnum, "%s", "");
}

int tare_writer_flush(struct tare_writer *w)
{
	while (w->written < w->position) {
		uint64_t at = w->written % GATHER, size = w->position - w->written;
		int rc;

		if (size > GATHER - at)
			size = GATHER - at;
		rc = tare_log_out_write(&w->out, w->gathered + at, size, w->written);
		if (rc)
			return code_of(-rc);
		w->written += size;
	}
	return 0;
}

/* Makes room for `size` bytes; a disk that is full is asked again each time. */
static int make_room(struct tare_writer *w, uint64_t size)
{
	if (w->position + size - w->written <= GATHER)
		return 0;
	return tare_writer_flush(w);
}

static void put(struct tare_writer *w, uint64_t size, const void *rec, size_t fixed, const void *tail, size_t tail_size)
{
	tare_encode(w->gathered, GATHER, w->position, size, rec, fixed, tail, tail_size);
	w->position += size;
}

static int tell_lost(struct tare_writer *w)
{
	struct tare_rec_lost rec = { .head = { .kind = TARE_KIND_LOST } };
	uint64_t size = tare_encode_size(sizeof(rec), 0);
	int rc;

	if (w->lost == 0)
		return 0;
	rc = make_room(w, size);
	if (rc)
		return rc;
	rec.head.stamp = w->last_stamp;
	rec.records = w->lost;
	put(w, size, &rec, sizeof(rec), NULL, 0);
	w->lost = 0;
	return 0;
}

int tare_writer_add(struct tare_writer *w, const void *rec, size_t fixed, const void *tail, size_t tail_size)
{
	uint64_t size = tare_encode_size(fixed, tail_size);
	int rc;

	if (!size)
		return TARE_E_RANGE;
	memcpy(&w->last_stamp, (const uint8_t *)rec + offsetof(struct tare_record, stamp), sizeof(w->last_stamp));
	rc = tell_lost(w);
	if (!rc)
		rc = make_room(w, size);
	if (rc) {
		w->lost++;
		return rc;
	}
	put(w, size, rec, fixed, tail, tail_size);
	return 0;
}

int tare_writer_open(struct tare_writer **out, const char *path, const struct tare_file_header *header,
                     struct tare_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), errnum;
	struct tare_writer *w;

	if (fd < 0)
		return tare_err_set_errno(err, errno, "%s", path);
	errnum = write_all(fd, header, sizeof(*header), 0);
	if (!errnum)
		errnum = write_all(fd, tare_schema_text, sizeof(tare_schema_text), TARE_HEADER_BYTES);
	if (errnum) {
		close(fd);
		unlink(path);
		return tare_err_set_errno(err, errnum, "%s", path);
	}
	w = tare_xcalloc(1, sizeof(*w));
	w->out.path = tare_xstrdup(path);
	w->out.chunks = (struct tare_chunks){ TARE_LOG_BEGIN, header->chunk_bytes };
	w->out.fd = fd;
	w->gathered = tare_xcalloc(1, GATHER);
	*out = w;
	return 0;
}

int tare_writer_close(struct tare_writer *w)
{
	int rc, closed;

	if (!w)
		return 0;
	rc = tell_lost(w);
	if (!rc)
		rc = tare_writer_flush(w);
	closed = tare_log_out_close_file(&w->out);
	if (closed && !rc)
		rc = code_of(-closed);
	free(w->out.path);
	free(w->gathered);
	free(w);
	return rc;
}
