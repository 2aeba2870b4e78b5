/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_LOG_PART_H
#define TARE_STORE_LOG_PART_H

#include "base/owned.h"
#include "store/pack.h"
#include "record/format.h"

/* What a segment says of a log besides its records: what a reader would have seen in its files. */
struct tare_log_part {
	TARE_OWNED char *name; /* "431-0", "tare": of the files, without .events */
	struct tare_file_header header;
	bool has_file, has_ring, is_finished;
	bool is_header_damaged, is_ring_damaged;
	bool is_begun;                 /* only up to `end`: what came later lies in the files of the log */
	uint64_t begin, file_end, end; /* positions, as in struct tare_log_info */
	uint64_t first_stamp;          /* of what belongs in the order of time; 0: nothing does */
	uint64_t last_stamp;
	/* Of the records that this segment has: of kinds that this version did not know, and with lengths that could not be. */
	uint64_t records, unknown, repaired, lost;
	/* Places without a whole record: told by one segment of the log. */
	TARE_OWNED struct tare_log_hole {
		uint64_t position, bytes;
		uint32_t gap; /* enum tare_log_gap */
	} * holes;
	size_t hole_nr, hole_cap;
	/* Of a log that is only begun: where the next block of a lane begins, if nothing is missing. */
	TARE_OWNED struct tare_log_lane_end {
		uint64_t lane, position; /* in the lane */
	} * lane_ends;
	size_t lane_nr, lane_cap;
};

TARE_FREES(tare_log_part_free, tare_log_part);
void tare_log_part_add_hole(struct tare_log_part *part, uint64_t position, uint64_t bytes, uint32_t gap);
void tare_log_part_add_lane(struct tare_log_part *part, uint64_t lane, uint64_t position);
/* `later` is of a later segment than `part`, of the same log: both together. */
void tare_log_part_join(struct tare_log_part *part, const struct tare_log_part *later);
void tare_log_part_encode(struct tare_pack *out, const struct tare_log_part *part);
/* False: damage; there is nothing to free then. */
bool tare_log_part_decode(struct tare_log_part *part, const void *bytes, size_t size);

#endif
