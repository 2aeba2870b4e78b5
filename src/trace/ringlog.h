/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draining a ring into its log, by `tare` or by a recorded thread: the same code on both sides, so
 * it is all inline, allocates nothing and writes through a function the caller gives.
 *
 * Draining needs no lock to be right: byte p of the log always goes to offset header_bytes + p of
 * the file, and tail only moves forward. What is written is a copy, taken while tail did not move: the
 * ring itself may be filled anew at any time by a thread that saw another drainer finish first. The
 * lock merely keeps two drainers from doing it twice.
 */
#ifndef TARE_TRACE_RINGLOG_H
#define TARE_TRACE_RINGLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

/* Writes `size` bytes at `offset` of the log's file; 0, or a negative errno. */
typedef int tare_ringlog_write(void *arg, const void *bytes, uint64_t size, uint64_t offset);

/* The ring is mapped twice in a row, so that no range of it is ever broken in two. */
struct tare_ringlog {
	struct tare_ring_header *ring;
	const uint8_t *bytes;
	tare_ringlog_write *write;
	void *arg;
	uint8_t *copy; /* of this drainer alone, TARE_RINGLOG_COPY bytes */
	uint64_t stuck_at; /* an unfinished record was seen here … */
	uint64_t stuck_ns; /* … at this time */
};

#define TARE_RINGLOG_COPY	 (256u << 10) /* a few of the largest records */
/* A thread needs nanoseconds to finish a record, unless it is kept from running: quotas, a full machine. */
#define TARE_RINGLOG_PATIENCE_NS 2000000000u

static inline const struct tare_record *tare_ringlog_record(const struct tare_ringlog *log,
							    uint64_t position)
{
	return (const struct tare_record *)(log->bytes + (position & (log->ring->ring_bytes - 1)));
}

static inline bool tare_ringlog_finished(const struct tare_ringlog *log, uint64_t position)
{
	const struct tare_record *rec = tare_ringlog_record(log, position);

	return __atomic_load_n(&rec->seal, __ATOMIC_ACQUIRE) == tare_seal(position) &&
	       rec->cells != 0 && rec->cells <= TARE_MAX_CELLS;
}

/* The end of the finished records that begin at `from` and end by `limit`. */
static inline uint64_t tare_ringlog_finished_until(const struct tare_ringlog *log, uint64_t from,
						   uint64_t limit)
{
	uint64_t position = from, next;

	while (position < limit && tare_ringlog_finished(log, position)) {
		next = position + (uint64_t)tare_ringlog_record(log, position)->cells * TARE_CELL;
		if (next > limit)
			break;
		position = next;
	}
	return position;
}

/* Copies positions from..end. False: tail moved meanwhile, so some of it may be newer than that. */
static inline bool tare_ringlog_copy(struct tare_ringlog *log, uint64_t from, uint64_t end)
{
	__builtin_memcpy(log->copy, log->bytes + (from & (log->ring->ring_bytes - 1)), end - from);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&log->ring->tail, __ATOMIC_RELAXED) == from;
}

/*
 * Writes what is finished to the file and frees it in the ring, up to TARE_RINGLOG_COPY bytes. A
 * record that stays unfinished for TARE_RINGLOG_PATIENCE_NS (its thread died in it) is written as it is
 * and stepped over; with `last` at once. Returns the bytes that are in the file now and were not
 * before, whoever wrote them, or a negative errno of the write.
 */
static inline int64_t tare_ringlog_drain(struct tare_ringlog *log, uint64_t now_ns, bool last)
{
	struct tare_ring_header *ring = log->ring;
	uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	uint64_t end, seen, limit = head - tail > TARE_RINGLOG_COPY ? tail + TARE_RINGLOG_COPY : head;
	int err;

	if (head - tail > ring->ring_bytes || ((head | tail) & (TARE_CELL - 1)))
		return 0; /* damaged: never follow it */
	end = tare_ringlog_finished_until(log, tail, limit);
	if (end == tail && tail < head) {
		if (log->stuck_at != tail + 1) {
			log->stuck_at = tail + 1;
			log->stuck_ns = now_ns;
		}
		if (!last && now_ns - log->stuck_ns < TARE_RINGLOG_PATIENCE_NS)
			return 0;
		do
			end += TARE_CELL;
		while (end < limit && !tare_ringlog_finished(log, end));
	}
	if (end == tail)
		return 0;
	if (!tare_ringlog_copy(log, tail, end))
		return (int64_t)(end - tail); /* another has written it */
	err = log->write(log->arg, log->copy, end - tail, TARE_HEADER_BYTES + tail);
	if (err < 0)
		return err;
	seen = tail;
	while (seen < end && !__atomic_compare_exchange_n(&ring->tail, &seen, end, false,
							  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		continue;
	return (int64_t)(end - tail);
}

#endif
