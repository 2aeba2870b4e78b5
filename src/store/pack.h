/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_PACK_H
#define TARE_STORE_PACK_H

#include "base/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes that grow, and bytes that are read: what the codec of segments writes and reads. Numbers are
 * varints (7 bits a byte, the lowest first), so a segment does not depend on the byte order of a machine.
 *
 * Nothing that is read is believed: a read beyond the end, or of something that cannot be, gives 0 and sets
 * `is_bad`, so that a caller may ask once, after several reads.
 */
struct tare_pack {
	uint8_t *data;
	size_t len, cap;
};

struct tare_unpack {
	const uint8_t *at, *end;
	bool is_bad;
};

void tare_pack_free(struct tare_pack *p); /* p is empty afterwards */
/* Room for `size` bytes at the end; the caller writes there and adds to `len`. */
uint8_t *tare_pack_room(struct tare_pack *p, size_t size);
void tare_pack_bytes(struct tare_pack *p, const void *bytes, size_t size);
void tare_pack_number(struct tare_pack *p, uint64_t v);
/* How long the bytes are, then the bytes, by zstd where that is shorter. */
void tare_pack_zipped(struct tare_pack *p, const void *bytes, size_t size);

uint64_t tare_unpack_number(struct tare_unpack *u);
/* `size` bytes as they lie there, or NULL. */
const uint8_t *tare_unpack_bytes(struct tare_unpack *u, size_t size);
/*
 * What tare_pack_zipped() wrote, of at most `limit` bytes, into `to`, whose former content is dropped. A few bytes
 * behind the end may be read as well: a varint needs no test of each of its bytes. False and is_bad: damage.
 */
bool tare_unpack_zipped(struct tare_unpack *u, struct tare_pack *to, size_t limit);
void tare_unpack_skip_zipped(struct tare_unpack *u);

enum { TARE_VARINT_MAX = 10 };

static inline uint8_t *tare_varint_put(uint8_t *to, uint64_t v)
{
	for (; v > 127; v >>= 7)
		*to++ = (uint8_t)(v | 128);
	*to++ = (uint8_t)v;
	return to;
}

/* pre: TARE_VARINT_MAX bytes may be read. */
static inline const uint8_t *tare_varint_get(const uint8_t *from, uint64_t *v)
{
	uint64_t value = *from++;
	int shift = 7;

	if (__builtin_expect(value > 127, 0)) {
		value &= 127;
		do {
			value |= (uint64_t)(*from & 127) << shift;
			shift += 7;
		} while (*from++ > 127 && shift < 70);
	}
	*v = value;
	return from;
}

/* Differences of both signs as small numbers: 0, -1, 1, -2 … are 0, 1, 2, 3 … */
static inline uint64_t tare_zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t tare_unzigzag(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

/* XXH64 with seed 0. */
uint64_t tare_checksum(const void *bytes, size_t size);

#endif
