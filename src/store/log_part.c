/* SPDX-License-Identifier: Apache-2.0 */
#include "store/log_part.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 255, HOLES_MAX = 1 << 24 };

void tare_log_part_free(struct tare_log_part *part)
{
	free(part->name);
	free(part->holes);
	*part = (struct tare_log_part){ 0 };
}

void tare_log_part_add_hole(struct tare_log_part *part, uint64_t position, uint64_t bytes,
			    uint32_t gap)
{
	part->holes = tare_array_reserve(part->holes, &part->hole_cap, part->hole_nr + 1,
					 sizeof(*part->holes));
	part->holes[part->hole_nr++] = (struct tare_log_hole){ position, bytes, gap };
}

/* The numbers in the order in which they are written. */
#define NUMBERS(X)                                                                                 \
	X(begin)                                                                                   \
	X(file_end)                                                                                \
	X(end)                                                                                     \
	X(first_stamp)                                                                             \
	X(last_stamp)                                                                              \
	X(records)                                                                                 \
	X(unknown)                                                                                 \
	X(repaired)                                                                                \
	X(lost)
#define FLAGS(X)                                                                                   \
	X(0, has_file)                                                                             \
	X(1, has_ring)                                                                             \
	X(2, is_finished)                                                                          \
	X(3, is_header_damaged)                                                                    \
	X(4, is_ring_damaged)

void tare_log_part_encode(struct tare_pack *out, const struct tare_log_part *part)
{
	struct tare_pack holes = { 0 };
	uint64_t flags = 0;

#define FLAG(bit, name) flags |= (uint64_t)part->name << bit;
	FLAGS(FLAG)
#undef FLAG
	tare_pack_number(out, strlen(part->name));
	tare_pack_bytes(out, part->name, strlen(part->name));
	tare_pack_bytes(out, &part->header, sizeof(part->header));
	tare_pack_number(out, flags);
#define NUMBER(name) tare_pack_number(out, part->name);
	NUMBERS(NUMBER)
#undef NUMBER
	for (size_t i = 0; i < part->hole_nr; i++) {
		tare_pack_number(&holes, part->holes[i].position);
		tare_pack_number(&holes, part->holes[i].bytes);
		tare_pack_number(&holes, part->holes[i].gap);
	}
	tare_pack_number(out, part->hole_nr);
	tare_pack_zipped(out, holes.data, holes.len);
	tare_pack_free(&holes);
}

static void decode_holes(struct tare_log_part *part, struct tare_unpack *in)
{
	uint64_t n = tare_unpack_number(in);
	struct tare_pack bytes = { 0 };
	struct tare_unpack holes;

	if (n > HOLES_MAX || !tare_unpack_zipped(in, &bytes, (size_t)n * 3 * TARE_VARINT_MAX)) {
		in->is_bad = true;
		tare_pack_free(&bytes);
		return;
	}
	holes = (struct tare_unpack){ bytes.data, bytes.data + bytes.len, false };
	for (uint64_t i = 0; i < n && !holes.is_bad; i++) {
		uint64_t position = tare_unpack_number(&holes), size = tare_unpack_number(&holes);

		tare_log_part_add_hole(part, position, size, (uint32_t)tare_unpack_number(&holes));
	}
	in->is_bad |= holes.is_bad;
	tare_pack_free(&bytes);
}

bool tare_log_part_decode(struct tare_log_part *part, const void *bytes, size_t size)
{
	struct tare_unpack in = { bytes, (const uint8_t *)bytes + size, false };
	uint64_t length = tare_unpack_number(&in), flags;
	const uint8_t *name = tare_unpack_bytes(&in, length),
		      *header = tare_unpack_bytes(&in, sizeof(part->header));

	*part = (struct tare_log_part){ 0 };
	/* A name is one of a file in the folder of the recording, never a path. */
	if (!header || length == 0 || length > NAME_MAX_BYTES || memchr(name, '/', length) ||
	    memchr(name, '\0', length))
		return false;
	memcpy(&part->header, header, sizeof(part->header));
	part->name = tare_xstrndup((const char *)name, length);
	flags = tare_unpack_number(&in);
#define FLAG(bit, name) part->name = flags >> bit & 1;
	FLAGS(FLAG)
#undef FLAG
#define NUMBER(name) part->name = tare_unpack_number(&in);
	NUMBERS(NUMBER)
#undef NUMBER
	decode_holes(part, &in);
	if (in.is_bad)
		tare_log_part_free(part);
	return !in.is_bad;
}
