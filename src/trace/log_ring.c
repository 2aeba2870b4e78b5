/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/log_private.h"

#include "base/xalloc.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Takes what it has from the file's own size when the header cannot be right. */
static uint64_t ring_bytes_of(const struct tare_ring_header *h, uint64_t file_bytes)
{
	uint64_t most = file_bytes - TARE_RING_HEADER_BYTES, bytes = TARE_CELL;

	if (h->ring_bytes >= TARE_CELL && (h->ring_bytes & (h->ring_bytes - 1)) == 0 &&
	    h->ring_bytes <= most)
		return h->ring_bytes;
	while (bytes * 2 <= most)
		bytes *= 2;
	return bytes;
}

static bool is_whole_cell(uint64_t position)
{
	return position % TARE_CELL == 0;
}

static bool read_header(int fd, struct tare_ring_header *h)
{
	return tare_log_pread(fd, h, sizeof(*h), 0) == sizeof(*h) &&
	       !memcmp(h->magic, TARE_RING_MAGIC, sizeof(h->magic));
}

/* Copies positions from..to out of the ring in file fd. What the file lacks stays zero. */
static uint8_t *copy_ring(int fd, uint64_t ring_bytes, uint64_t from, uint64_t to)
{
	uint64_t at = from % ring_bytes, size = to - from;
	uint64_t first = size < ring_bytes - at ? size : ring_bytes - at;
	uint8_t *copy = tare_xcalloc(1, size + TARE_CELL);

	tare_log_pread(fd, copy, first, TARE_RING_HEADER_BYTES + at);
	tare_log_pread(fd, copy + first, size - first, TARE_RING_HEADER_BYTES);
	return copy;
}

static void take(struct tare_log *log, int fd, uint64_t file_bytes)
{
	struct tare_log_info *info = &log->info;
	struct tare_ring_header h, after;
	uint64_t ring_bytes, from, to, kept;

	if (!read_header(fd, &h) || h.version > TARE_FORMAT_VERSION)
		return;
	info->has_ring = true;
	info->is_finished = h.finished == 1;
	info->is_disk_full = h.full_disk != 0;
	info->lost = h.lost_records > h.lost_reported ? h.lost_records - h.lost_reported : 0;
	if (!info->has_file)
		info->header = h.file;
	ring_bytes = ring_bytes_of(&h, file_bytes);
	to = h.head;
	from = h.tail < info->file_end ? h.tail : info->file_end;
	if (h.tail > h.head || h.head - h.tail > ring_bytes || !is_whole_cell(h.head | h.tail)) {
		/* Seals tell what is good; so read all that can follow the file. */
		info->is_ring_damaged = true;
		from = info->file_end;
		to = from + ring_bytes;
	}
	if (to > ring_bytes && from < to - ring_bytes)
		from = to - ring_bytes;
	if (from >= to)
		return;
	log->ring = copy_ring(fd, ring_bytes, from, to);
	info->ring_begin = from;
	log->ring_end = to;
	/* What the program overwrote meanwhile had been written to the file before. */
	if (!read_header(fd, &after) || info->is_ring_damaged || after.head < to)
		return;
	kept = after.head > ring_bytes ? after.head - ring_bytes : 0;
	if (kept > from) {
		kept = kept < to ? kept : to;
		memmove(log->ring, log->ring + (kept - from), to - kept);
		info->ring_begin = kept;
	}
}

void tare_log_load_ring(struct tare_log *log, const char *ring_path)
{
	int fd = open(ring_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size >= TARE_RING_HEADER_BYTES + TARE_CELL)
		take(log, fd, (uint64_t)st.st_size);
	close(fd);
}
