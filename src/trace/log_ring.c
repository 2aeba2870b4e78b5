/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what the ring of a log has that its file lacks: copies each lane of the ring, and places the lane's records
 * behind those of the file.
 */
#include "trace/log_private.h"

#include "base/array.h"
#include "record/lane.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100 }; /* to copy a lane that is being written and drained */

struct ring {
	int fd;
	uint64_t file_bytes;
	uint32_t lane_bytes;
};

static bool read_header(int fd, struct tare_ring_header *h)
{
	return tare_log_pread(fd, h, sizeof(*h), 0) == sizeof(*h) && !memcmp(h->magic, TARE_RING_MAGIC, sizeof(h->magic)) &&
	       h->version <= TARE_FORMAT_VERSION && tare_lane_bytes_are_sane(h->lane_bytes);
}

static bool read_lane(const struct ring *ring, uint32_t index, struct tare_lane *lane)
{
	return tare_log_pread(ring->fd, lane, sizeof(*lane), TARE_RING_HEADER_BYTES + index * sizeof(*lane)) ==
	       sizeof(*lane);
}

/* Positions from..to of a lane. What the file lacks stays zero. */
static uint8_t *copy_lane(const struct ring *ring, uint32_t index, uint64_t from, uint64_t to)
{
	uint64_t size = tare_lane_bytes(ring->lane_bytes, index), base = tare_lane_offset(ring->lane_bytes, index);
	uint64_t at = from % size, first = to - from < size - at ? to - from : size - at;
	uint8_t *copy = tare_xcalloc(1, to - from + TARE_CELL);

	tare_log_pread(ring->fd, copy, first, base + at);
	tare_log_pread(ring->fd, copy + first, to - from - first, base);
	return copy;
}

static struct tare_log_lane *add_lane(struct tare_log *log, uint32_t index)
{
	return TARE_ADD(log->lanes, log->lane_nr, log->lane_cap, (struct tare_log_lane){ .index = index });
}

static struct tare_rec_lost lost_of(const struct tare_lane *lane)
{
	return (struct tare_rec_lost){
		.records = lane->lost > lane->lost_told ? lane->lost - lane->lost_told : 0,
		.first = lane->lost_first,
		.last = lane->lost_last,
		.tid = lane->tid,
		.reason = lane->lost_reason,
	};
}

/* Which position a record in a lane of `size` bytes has, by its seal; UINT64_MAX: it is none. */
static uint64_t position_of(const struct tare_record *rec, uint64_t at, uint64_t size)
{
	uint64_t position = tare_seal_position(rec->seal);

	return rec->kind && rec->cells && position % size == at ? position : UINT64_MAX;
}

/*
 * Counts that contradict each other: seals tell which positions the lane has. Up to the last of them, from the first
 * on that no newer one has overwritten.
 */
static void salvage(struct tare_log *log, struct tare_log_lane *kept, const struct ring *ring)
{
	uint64_t size = tare_lane_bytes(ring->lane_bytes, kept->index), from = UINT64_MAX, to = 0;
	uint8_t *bytes = copy_lane(ring, kept->index, 0, size);

	for (uint64_t at = 0; at < size; at += TARE_CELL) {
		const struct tare_record *rec = (const struct tare_record *)(const void *)(bytes + at);
		uint64_t position = position_of(rec, at, size);

		if (position != UINT64_MAX && position + (uint64_t)rec->cells * TARE_CELL > to)
			to = position + (uint64_t)rec->cells * TARE_CELL;
	}
	for (uint64_t at = 0; at < size; at += TARE_CELL) {
		uint64_t position = position_of((const struct tare_record *)(const void *)(bytes + at), at, size);

		if (position != UINT64_MAX && position + size >= to && position < from)
			from = position;
	}
	free(bytes);
	log->info.is_ring_damaged = true;
	log->cut[kept->index] = from;
	kept->from = kept->to = 0;
	if (from == UINT64_MAX)
		return; /* then the file is all there is */
	kept->from = from;
	kept->to = to;
	kept->bytes = copy_lane(ring, kept->index, from, to);
}

/*
 * What the lane has that is not in the file. While it is copied, its thread may go on and a drainer make room; as
 * long as head is not a whole lane beyond the copy's begin, nothing in the copy was overwritten.
 */
static void take_lane(struct tare_log *log, const struct ring *ring, uint32_t index)
{
	uint64_t size = tare_lane_bytes(ring->lane_bytes, index);
	struct tare_log_lane *kept = add_lane(log, index);
	struct tare_lane lane, after;

	if (!read_lane(ring, index, &lane))
		return;
	for (int i = 0; i < TRIES; i++) {
		if (lane.head - lane.tail > size || (lane.head | lane.tail) % TARE_CELL) {
			free(kept->bytes);
			kept->bytes = NULL;
			salvage(log, kept, ring);
			return;
		}
		log->cut[index] = lane.tail;
		kept->from = lane.tail;
		kept->to = lane.has_no_file ? lane.tail : lane.head;
		kept->lost = lost_of(&lane);
		free(kept->bytes);
		kept->bytes = copy_lane(ring, index, kept->from, kept->to);
		if (!read_lane(ring, index, &after) || after.head - lane.tail <= size)
			return;
		lane = after;
	}
	log->info.is_ring_damaged = true;
	kept->to = kept->from;
}

static void take(struct tare_log *log, struct ring *ring)
{
	struct tare_log_info *info = &log->info;
	struct tare_ring_header h, after;
	uint32_t nr;

	if (!read_header(ring->fd, &h)) {
		info->is_ring_damaged = true;
		return;
	}
	info->has_ring = true;
	info->is_finished = h.finished == 1;
	if (!info->has_file)
		info->header = h.file;
	ring->lane_bytes = h.lane_bytes;
	nr = h.lane_nr < TARE_LANES_MAX ? h.lane_nr : TARE_LANES_MAX;
	for (uint32_t i = 0; i < nr; i++)
		take_lane(log, ring, i);
	/* What a lane lost while it was copied is in the log by now. */
	log->given = read_header(ring->fd, &after) ? after.log_end : UINT64_MAX;
	if (h.lost)
		add_lane(log, TARE_LANES_MAX)->lost = (struct tare_rec_lost){
			.records = h.lost, .first = h.lost_first, .last = h.lost_last, .reason = TARE_LOST_NO_LANE
		};
}

void tare_log_load_ring(struct tare_log *log, const char *ring_path)
{
	struct ring ring = { .fd = open(ring_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	struct stat st;

	if (ring.fd < 0)
		return;
	if (fstat(ring.fd, &st) == 0 && S_ISREG(st.st_mode))
		take(log, &ring);
	close(ring.fd);
}

/* How a LOST record lies in this log; NULL: its version had none. */
static const struct tare_schema_kind *lost_kind(const struct tare_log *log)
{
	return tare_schema_kind_of(log->schema, tare_decode_kind(TARE_KIND_LOST));
}

static uint64_t lost_size(const struct tare_log *log)
{
	const struct tare_schema_kind *kind = log->schema ? lost_kind(log) : NULL;
	uint64_t size = kind ? kind->said.fixed : log->schema ? 0 : sizeof(struct tare_rec_lost);

	return (size + TARE_CELL - 1) / TARE_CELL * TARE_CELL;
}

static uint64_t space_of(const struct tare_log *log, const struct tare_log_lane *lane)
{
	return (lane->to > lane->from ? TARE_LANE_HEAD + lane->to - lane->from : 0) +
	       (lane->lost.records ? lost_size(log) : 0);
}

/* As a drainer would have written it, at `position`. */
static uint64_t place_block(uint8_t *to, const struct tare_log_lane *lane, uint64_t position)
{
	struct tare_rec_lane head = {
		.head = { .seal = tare_seal(position), .kind = TARE_KIND_LANE, .cells = TARE_LANE_HEAD / TARE_CELL },
		.lane = lane->index,
		.bytes = (uint32_t)(lane->to - lane->from),
		.from = lane->from,
	};

	if (!head.bytes)
		return 0;
	memcpy(to + TARE_LANE_HEAD, lane->bytes, head.bytes);
	memcpy(&head.head.stamp, lane->bytes + offsetof(struct tare_record, stamp), sizeof(head.head.stamp));
	memcpy(to, &head, sizeof(head));
	tare_lane_reseal(to + TARE_LANE_HEAD, head.bytes, lane->from, position + TARE_LANE_HEAD);
	return TARE_LANE_HEAD + head.bytes;
}

/* As the thread would have written it, had it had room. */
static uint64_t place_lost(const struct tare_log *log, uint8_t *to, const struct tare_log_lane *lane, uint64_t position)
{
	uint64_t size = lost_size(log);
	struct tare_rec_lost rec = lane->lost;
	struct tare_record head = {
		.seal = tare_seal(position), .kind = TARE_KIND_LOST, .cells = (uint16_t)(size / TARE_CELL), .stamp = rec.last
	};

	if (!rec.records || !size)
		return 0;
	rec.head = head;
	if (log->schema)
		tare_schema_write(lost_kind(log), &rec, to);
	else
		memcpy(to, &rec, sizeof(rec));
	return size;
}

void tare_log_place_ring(struct tare_log *log)
{
	uint64_t size = 0, at = 0;

	for (size_t i = 0; i < log->lane_nr; i++)
		size += space_of(log, &log->lanes[i]);
	log->ring = tare_xcalloc(1, size + TARE_CELL);
	for (size_t i = 0; i < log->lane_nr; i++) {
		at += place_block(log->ring + at, &log->lanes[i], log->info.file_end + at);
		at += place_lost(log, log->ring + at, &log->lanes[i], log->info.file_end + at);
	}
	log->ring_end = log->info.file_end + at;
}
