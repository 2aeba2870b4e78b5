/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a log. Position p lies in chunk p / chunk_bytes: chunk 0 is P-G.events, behind its header and schema;
 * chunk K is P-G.events.K, which has no header. So what nobody needs any more can be given back to the disk file by file.
 *
 *   chunk_bytes 16 MiB:  P-G.events    header, schema, positions 0 .. 16 MiB
 *                        P-G.events.1  positions 16 MiB .. 32 MiB
 *                        P-G.events.2  …
 *
 * Who cannot make a chunk (no inodes left, a folder that became read-only) writes into P-G.events, where the position
 * lies if there are no chunks: at header_bytes + p. That file is sparse then. A byte of the log has one value for ever
 * and is 0 before it is written, so a reader takes chunk K OR what P-G.events has at that place. A chunk that is
 * missing reads as zeros: it was given back, or is not written yet.
 *
 * For the recorder, too: calls no library.
 */
#ifndef TARE_RECORD_CHUNK_H
#define TARE_RECORD_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include "record/format.h"

enum {
	TARE_CHUNK_BYTES = 16 << 20,           /* of new logs */
	TARE_CHUNK_BYTES_MIN = TARE_BLOCK_MAX, /* a block lies in two chunks at most */
	TARE_CHUNK_BYTES_MAX = 1 << 30,
};

/* Powers of two only: damage of one bit makes none of another. */
static inline bool tare_chunk_bytes_are_sane(uint32_t chunk_bytes)
{
	return chunk_bytes >= TARE_CHUNK_BYTES_MIN && chunk_bytes <= TARE_CHUNK_BYTES_MAX &&
	       (chunk_bytes & (chunk_bytes - 1)) == 0;
}

/* How a log lies in its files. chunk_bytes: sane, or 0. */
struct tare_chunks {
	uint32_t header_bytes, chunk_bytes;
};

/* Positions that lie in one file, one behind the other. */
struct tare_chunk_part {
	uint64_t chunk, offset, size;
};

/* As if there were no chunks. */
static inline struct tare_chunk_part tare_chunk_part_in_first(const struct tare_chunks *c, uint64_t position,
                                                              uint64_t size)
{
	return (struct tare_chunk_part){ 0, c->header_bytes + position, size };
}

/* Where the first of `size` positions from `position` on lie; its size is at most that. */
static inline struct tare_chunk_part tare_chunk_part(const struct tare_chunks *c, uint64_t position, uint64_t size)
{
	uint64_t chunk = c->chunk_bytes ? position / c->chunk_bytes : 0, left;
	struct tare_chunk_part part = tare_chunk_part_in_first(c, position, size);

	if (!c->chunk_bytes)
		return part;
	left = (chunk + 1) * c->chunk_bytes - position;
	part.size = size < left ? size : left;
	part.chunk = chunk;
	if (chunk)
		part.offset = position - chunk * c->chunk_bytes;
	return part;
}

#endif
