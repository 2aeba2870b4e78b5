/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting a record into memory, the seal last. Safe inside a recorded process: everything is inline,
 * nothing is allocated, only memcpy and memset are called.
 *
 *     struct tare_rec_string rec = { .head = { .kind = TARE_KIND_STRING, .stamp = now }, .id = 1, .bytes = n };
 *     uint64_t size = tare_encode_size(sizeof(rec), n);
 *
 *     if (size)
 *             tare_encode(buffer, size, 0, position, &rec, sizeof(rec), text, n);
 */
#ifndef TARE_RECORD_ENCODE_H
#define TARE_RECORD_ENCODE_H

#include "record/schema_text.h"

#include <string.h>

/* Bytes of a record in a log; 0 if it is longer than a record can be. */
static inline uint64_t tare_encode_size(size_t fixed, size_t tail)
{
	size_t max = TARE_MAX_CELLS * TARE_CELL;

	if (fixed > max || tail > max - fixed)
		return 0;
	return (fixed + tail + TARE_CELL - 1) / TARE_CELL * TARE_CELL;
}

/* Copies into `bytes`, which is a ring of `ring_bytes` (a power of two) and may wrap. */
static inline void tare_encode_copy(void *bytes, uint64_t ring_bytes, uint64_t position, const void *from, size_t size)
{
	uint64_t at = position & (ring_bytes - 1);
	size_t first = size < ring_bytes - at ? size : (size_t)(ring_bytes - at);

	memcpy((uint8_t *)bytes + at, from, first);
	memcpy(bytes, (const uint8_t *)from + first, size - first);
}

/* The release store that makes a record count: whoever sees the seal sees the record. */
static inline void tare_encode_seal(struct tare_record *head, uint64_t position)
{
	__atomic_store_n(&head->seal, tare_seal(position), __ATOMIC_RELEASE);
}

/*
 * Writes the record of `position` where that position lies in the ring `bytes`. pre: `rec` starts
 * with a struct tare_record whose kind and stamp are set; `size` is what tare_encode_size() gave;
 * the caller owns position .. position + size.
 */
static inline void tare_encode(void *bytes, uint64_t ring_bytes, uint64_t position, uint64_t size, const void *rec,
                               size_t fixed, const void *tail, size_t tail_size)
{
	static const uint8_t zero[TARE_CELL];
	struct tare_record *at = (struct tare_record *)((uint8_t *)bytes + (position & (ring_bytes - 1)));
	struct tare_record head;

	memcpy(&head, rec, sizeof(head));
	head.cells = (uint16_t)(size / TARE_CELL);
	/* The seal stays what it was, which is never the seal of this position. */
	memcpy((uint8_t *)at + 4, (const uint8_t *)&head + 4, sizeof(head) - 4);
	tare_encode_copy(bytes, ring_bytes, position + sizeof(head), (const uint8_t *)rec + sizeof(head),
	                 fixed - sizeof(head));
	if (tail_size > 0)
		tare_encode_copy(bytes, ring_bytes, position + fixed, tail, tail_size);
	tare_encode_copy(bytes, ring_bytes, position + fixed + tail_size, zero, (size_t)(size - fixed - tail_size));
	tare_encode_seal(at, position);
}

/* What is the same in every file header; the rest is zero. tare_schema_text follows it in the file. */
static inline void tare_encode_header(struct tare_file_header *h, enum tare_role role, enum tare_clock clock)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, TARE_FORMAT_MAGIC, sizeof(h->magic));
	h->endian = TARE_ENDIAN_MARK;
	h->version = TARE_FORMAT_VERSION;
	h->header_bytes = TARE_LOG_BEGIN;
	h->schema = tare_schema_sum(tare_schema_text, sizeof(tare_schema_text) - 1);
	h->role = role;
	h->clock = clock;
	memcpy(h->tool, TARE_VERSION, sizeof(TARE_VERSION) < sizeof(h->tool) ? sizeof(TARE_VERSION) : sizeof(h->tool) - 1);
}

#endif
