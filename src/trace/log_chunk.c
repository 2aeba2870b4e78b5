/* SPDX-License-Identifier: Apache-2.0 */
/* Where a position of a log lies in its files (chunk.h), for readers. */
#include "trace/log_private.h"

#include "base/bisect.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LOOKED_AT = 2 * TARE_BLOCK_MAX, /* of a chunk, for records: a block may begin before it */
	SURE = 2,                       /* so many records say how large chunks are */
};

/* The number of bytes behind the header of the first file. */
static uint64_t body_bytes(const struct tare_log *log)
{
	struct stat st;

	if (log->fd < 0 || fstat(log->fd, &st) < 0 || (uint64_t)st.st_size < log->info.header.header_bytes)
		return 0;
	return (uint64_t)st.st_size - log->info.header.header_bytes;
}

/*
 * Looking for chunks is reading the folder, which may have those of thousands of logs. There are none if no position
 * behind chunk 0 was given to a block, as the ring says; or if chunk 0 was not filled and all of it is written.
 */
static bool may_have_chunks(const struct tare_log *log)
{
	uint32_t chunk_bytes = log->info.header.chunk_bytes;

	if (!tare_chunk_bytes_are_sane(chunk_bytes))
		return chunk_bytes != 0;
	if (log->info.has_ring && !log->info.is_ring_damaged)
		return log->given > chunk_bytes;
	return log->first_bytes == 0 || log->first_bytes >= chunk_bytes / 2;
}

/* How many records at the begin of a chunk have the seals that they have if chunks are of this size. */
static int count_records(const uint8_t *bytes, size_t size, uint32_t number, uint32_t chunk_bytes)
{
	uint64_t begin = (uint64_t)number * chunk_bytes;
	int nr = 0;

	for (size_t at = 0; at + sizeof(struct tare_record) <= size; at += TARE_CELL) {
		struct tare_record head;

		memcpy(&head, bytes + at, sizeof(head));
		nr += head.kind && head.cells && head.seal == tare_seal(begin + at);
	}
	return nr;
}

/* Of which size chunks are by what lies in this one; `said` where that may be. */
static uint32_t size_by_records(const uint8_t *bytes, size_t size, uint32_t number, uint32_t said)
{
	if (tare_chunk_bytes_are_sane(said) && count_records(bytes, size, number, said))
		return said;
	for (uint32_t c = TARE_CHUNK_BYTES_MIN; c <= TARE_CHUNK_BYTES_MAX; c *= 2)
		if (count_records(bytes, size, number, c) >= SURE)
			return c;
	return 0;
}

static uint32_t size_by_chunk(const struct tare_log *log, uint32_t number)
{
	TARE_FREED_HERE char *path = tare_chunk_path(log->path, number);
	int fd = tare_log_file_open(path);
	TARE_FREED_HERE uint8_t *bytes = tare_xmalloc(LOOKED_AT);
	size_t size = fd >= 0 ? tare_log_pread(fd, bytes, LOOKED_AT, 0) : 0;
	uint32_t found = size_by_records(bytes, size, number, log->info.header.chunk_bytes);

	if (fd >= 0)
		close(fd);
	return found;
}

/* What the header says, if no chunk contradicts it. */
static uint32_t find_size(struct tare_log *log)
{
	uint32_t said = log->info.header.chunk_bytes, found = 0;

	for (size_t i = 0; i < log->list.nr && !found; i++)
		found = size_by_chunk(log, log->list.items[i].number);
	if (!found)
		found = tare_chunk_bytes_are_sane(said) ? said : TARE_CHUNK_BYTES;
	if (said && found != said)
		log->info.is_header_damaged = true;
	return found;
}

void tare_log_find_chunks(struct tare_log *log)
{
	const struct tare_file_header *h = &log->info.header;

	log->chunks = (struct tare_chunks){ .header_bytes = h->header_bytes };
	log->first_bytes = log->info.has_file ? body_bytes(log) : 0;
	log->list.nr = 0;
	if (h->base || !may_have_chunks(log))
		return;
	tare_chunk_list_read(&log->list, log->path);
	log->info.header.chunk_bytes = log->chunks.chunk_bytes = find_size(log);
}

uint64_t tare_log_files_end(const struct tare_log *log)
{
	uint64_t chunk_bytes = log->chunks.chunk_bytes, end = log->first_bytes;

	for (size_t i = 0; i < log->list.nr; i++) {
		const struct tare_chunk_file *file = &log->list.items[i];
		uint64_t bytes = file->bytes < chunk_bytes ? file->bytes : chunk_bytes;

		/* A writer has just made an empty chunk, and is about to write there. */
		if (bytes && file->number * chunk_bytes + bytes > end)
			end = file->number * chunk_bytes + bytes;
	}
	return log->info.header.base + end;
}

/* How much the last file has by now. */
static void look_at_last(struct tare_log *log)
{
	struct tare_chunk_file *last = log->list.nr ? &log->list.items[log->list.nr - 1] : NULL;
	int fd = last ? tare_log_chunk_file(log, last->number) : tare_log_file(log);
	struct stat st;

	if (!last && fd >= 0)
		log->first_bytes = body_bytes(log);
	else if (fd >= 0 && fstat(fd, &st) == 0)
		last->bytes = (uint64_t)st.st_size;
}

uint64_t tare_log_files_grown(struct tare_log *log, bool are_files_new)
{
	uint32_t chunk_bytes = log->info.header.chunk_bytes;

	if (are_files_new && tare_chunk_bytes_are_sane(chunk_bytes) && !log->info.header.base) {
		if (tare_log_file(log) >= 0)
			log->first_bytes = body_bytes(log);
		tare_chunk_list_read(&log->list, log->path);
		if (log->list.nr)
			log->chunks.chunk_bytes = chunk_bytes;
	} else {
		look_at_last(log);
	}
	return tare_log_files_end(log);
}

static struct tare_log *whole(struct tare_log *log)
{
	return log->whole ? log->whole : log;
}

/* The first chunk of the list from this one on; NULL: there is none. */
static const struct tare_chunk_file *chunk_from(const struct tare_log *log, uint64_t number)
{
	size_t low = 0;

	TARE_BISECT(low, log->list.nr, i, log->list.items[i].number < number);
	return low < log->list.nr ? &log->list.items[low] : NULL;
}

/* While there is a ring, a chunk may have been made since the folder was read. */
static int file_of(struct tare_log *log, uint64_t number)
{
	const struct tare_chunk_file *file;

	if (number == 0)
		return tare_log_file(log);
	file = chunk_from(log, number);
	return log->info.has_ring || (file && file->number == number) ? tare_log_chunk_file(log, (uint32_t)number) : -1;
}

/* Adds what the first file has of a part that belongs into a chunk. */
static void add_first(struct tare_log *log, uint8_t *to, uint64_t size, uint64_t position)
{
	struct tare_chunk_part part = tare_chunk_part_in_first(&log->chunks, position, size);
	TARE_FREED_HERE uint8_t *bytes = tare_xmalloc(size);
	int fd = tare_log_file(log);
	size_t got = fd >= 0 ? tare_log_pread(fd, bytes, size, part.offset) : 0;

	for (size_t i = 0; i < got; i++)
		to[i] |= bytes[i];
}

void tare_log_read_files(struct tare_log *log, uint8_t *to, uint64_t size, uint64_t position)
{
	struct tare_chunk_part part;
	size_t got;
	int fd;

	log = whole(log);
	position -= log->info.header.base;
	for (; size > 0; size -= part.size, to += part.size, position += part.size) {
		part = tare_chunk_part(&log->chunks, position, size);
		fd = file_of(log, part.chunk);
		got = fd >= 0 ? tare_log_pread(fd, to, part.size, part.offset) : 0;
		memset(to + got, 0, part.size - got);
		if (part.chunk && position < log->first_bytes)
			add_first(log, to, part.size, position);
	}
}

/* How many bytes from `offset` on are a hole; UINT64_MAX: all to the end of the file. */
static uint64_t hole_bytes(int fd, uint64_t offset)
{
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA);

	return data < 0 ? UINT64_MAX : (uint64_t)data - offset;
}

/* The same of one part, of which nothing behind it counts. */
static uint64_t hole_of(struct tare_log *log, const struct tare_chunk_part *part, uint64_t position)
{
	int fd = file_of(log, part->chunk), first;
	uint64_t hole = fd >= 0 ? hole_bytes(fd, part->offset) : UINT64_MAX, other = UINT64_MAX;

	if (part->chunk && position < log->first_bytes && (first = tare_log_file(log)) >= 0)
		other = hole_bytes(first, log->chunks.header_bytes + position);
	return hole < other ? hole : other;
}

/* The begin of the next chunk that may have something; UINT64_MAX: none has. */
static uint64_t next_begin(const struct tare_log *log, const struct tare_chunk_part *part)
{
	const struct tare_chunk_file *next = chunk_from(log, part->chunk + 1);
	uint64_t chunk_bytes = log->chunks.chunk_bytes, begin = (part->chunk + 1) * chunk_bytes;

	if (begin < log->first_bytes)
		return begin;
	return next ? next->number * chunk_bytes : UINT64_MAX;
}

uint64_t tare_log_next_data(struct tare_log *log, uint64_t position)
{
	uint64_t end = log->info.file_end; /* of a reader that goes on; the log itself had less when it was opened */
	uint64_t begin, hole;
	struct tare_chunk_part part;

	log = whole(log);
	begin = log->info.header.base;
	while (position < end) {
		part = tare_chunk_part(&log->chunks, position - begin, end - position);
		hole = hole_of(log, &part, position - begin);
		if (hole < part.size)
			return position + hole / TARE_CELL * TARE_CELL;
		if (!log->chunks.chunk_bytes || next_begin(log, &part) >= end)
			return end;
		position = next_begin(log, &part);
	}
	return end;
}
