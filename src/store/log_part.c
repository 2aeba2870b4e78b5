/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes and decodes what a segment says of a log: its header, the positions and holes of its lanes, and what is
 * missing.
 */
#include "store/log_part.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 255, HOLES_MAX = 1 << 24 };

void tare_log_part_add_hole(struct tare_log_part *part, uint64_t position, uint64_t bytes, uint32_t gap)
{
	TARE_APPEND(part->holes, part->hole_nr, part->hole_cap) = (struct tare_log_hole){ position, bytes, gap };
}

void tare_log_part_add_lane(struct tare_log_part *part, uint64_t lane, uint64_t position)
{
	for (size_t i = 0; i < part->lane_nr; i++)
		if (part->lane_ends[i].lane == lane) {
			part->lane_ends[i].position = position;
			return;
		}
	TARE_APPEND(part->lane_ends, part->lane_nr, part->lane_cap) = (struct tare_log_lane_end){ lane, position };
}

static uint64_t first_of(uint64_t a, uint64_t b)
{
	return b && (!a || b < a) ? b : a;
}

void tare_log_part_join(struct tare_log_part *part, const struct tare_log_part *later)
{
	part->records += later->records;
	part->unknown += later->unknown;
	part->repaired += later->repaired;
	part->lost += later->lost;
	for (size_t i = 0; i < later->hole_nr; i++)
		tare_log_part_add_hole(part, later->holes[i].position, later->holes[i].bytes, later->holes[i].gap);
	for (size_t i = 0; i < later->lane_nr; i++)
		tare_log_part_add_lane(part, later->lane_ends[i].lane, later->lane_ends[i].position);
	part->has_ring = later->has_ring;
	part->is_finished = later->is_finished;
	part->is_begun = later->is_begun;
	part->is_header_damaged |= later->is_header_damaged;
	part->is_ring_damaged |= later->is_ring_damaged;
	part->first_stamp = first_of(part->first_stamp, later->first_stamp);
	if (part->last_stamp < later->last_stamp)
		part->last_stamp = later->last_stamp;
	part->file_end = later->file_end;
	part->end = later->end;
}

/* The numbers in the order in which they are written. */
#define NUMBERS(X)                                                                                                     \
	X(begin)                                                                                                           \
	X(file_end)                                                                                                        \
	X(end)                                                                                                             \
	X(first_stamp)                                                                                                     \
	X(last_stamp)                                                                                                      \
	X(records)                                                                                                         \
	X(unknown)                                                                                                         \
	X(repaired)                                                                                                        \
	X(lost)
#define FLAGS(X)                                                                                                       \
	X(0, has_file)                                                                                                     \
	X(1, has_ring)                                                                                                     \
	X(2, is_finished)                                                                                                  \
	X(3, is_header_damaged)                                                                                            \
	X(4, is_ring_damaged)                                                                                              \
	X(5, is_begun)

static void encode_list(struct tare_pack *out, struct tare_pack *list, size_t items)
{
	tare_pack_number(out, items);
	tare_pack_zipped(out, list->data, list->len);
	list->len = 0;
}

void tare_log_part_encode(struct tare_pack *out, const struct tare_log_part *part)
{
	struct tare_pack list = { 0 };
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
		tare_pack_number(&list, part->holes[i].position);
		tare_pack_number(&list, part->holes[i].bytes);
		tare_pack_number(&list, part->holes[i].gap);
	}
	encode_list(out, &list, part->hole_nr);
	for (size_t i = 0; i < part->lane_nr; i++) {
		tare_pack_number(&list, part->lane_ends[i].lane);
		tare_pack_number(&list, part->lane_ends[i].position);
	}
	encode_list(out, &list, part->lane_nr);
	tare_pack_free(&list);
}

/* The numbers of a list of items, of which there may be at most `max`; the caller frees `list`. */
static uint64_t decode_list(struct tare_unpack *in, size_t numbers, uint64_t max, struct tare_pack *list,
                            struct tare_unpack *items)
{
	uint64_t n = tare_unpack_number(in);

	if (n > max || !tare_unpack_zipped(in, list, (size_t)n * numbers * TARE_VARINT_MAX)) {
		in->is_bad = true;
		n = 0;
	}
	*items = (struct tare_unpack){ list->data, list->data + list->len, false };
	return n;
}

static void decode_holes(struct tare_log_part *part, struct tare_unpack *in)
{
	TARE_FREED_BY(tare_pack_free) struct tare_pack list = { 0 };
	struct tare_unpack holes;
	uint64_t n = decode_list(in, 3, HOLES_MAX, &list, &holes);

	for (uint64_t i = 0; i < n && !holes.is_bad; i++) {
		uint64_t position = tare_unpack_number(&holes), size = tare_unpack_number(&holes);

		tare_log_part_add_hole(part, position, size, (uint32_t)tare_unpack_number(&holes));
	}
	in->is_bad |= n && holes.is_bad;
}

static void decode_lanes(struct tare_log_part *part, struct tare_unpack *in)
{
	TARE_FREED_BY(tare_pack_free) struct tare_pack list = { 0 };
	struct tare_unpack lanes;
	uint64_t n = decode_list(in, 2, TARE_LANES_MAX, &list, &lanes);

	for (uint64_t i = 0; i < n && !lanes.is_bad; i++) {
		uint64_t lane = tare_unpack_number(&lanes);

		tare_log_part_add_lane(part, lane, tare_unpack_number(&lanes));
	}
	in->is_bad |= n && lanes.is_bad;
}

bool tare_log_part_decode(struct tare_log_part *part, const void *bytes, size_t size)
{
	struct tare_unpack in = { bytes, (const uint8_t *)bytes + size, false };
	uint64_t length = tare_unpack_number(&in), flags;
	const uint8_t *name = tare_unpack_bytes(&in, length), *header = tare_unpack_bytes(&in, sizeof(part->header));

	*part = (struct tare_log_part){ 0 };
	/* A name is one of a file in the folder of the recording, never a path. */
	if (!header || length == 0 || length > NAME_MAX_BYTES || memchr(name, '/', length) || memchr(name, '\0', length))
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
	if (!in.is_bad)
		decode_lanes(part, &in);
	if (in.is_bad)
		tare_log_part_free(part);
	return !in.is_bad;
}
