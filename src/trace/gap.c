/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the gaps of a log, places at which records are missing, and between which stamps the missing records of a gap
 * were made.
 */
#include "trace/gap.h"

#include "base/xalloc.h"

#include <stdlib.h>

/*
 * The thread of a lane writes in order, so what is missing of a lane is newer than what is there before it. Where a
 * whole block is missing nobody knows of which lane it was: it may be as old as the log.
 */
static void begin(struct tare_gaps *g, uint64_t after)
{
	if (!g->count++ || after < g->first)
		g->first = after;
}

static void begin_in_lane(struct tare_gaps *g, uint32_t lane)
{
	begin(g, g->last_of[lane]);
	g->open = lane;
	g->is_open = true;
}

static void end(struct tare_gaps *g, uint64_t before)
{
	if (g->last < before)
		g->last = before;
	g->is_open = false;
}

static void add_gap(struct tare_gaps *g, const struct tare_log_info *info, const struct tare_log_record *rec)
{
	if (rec->gap == TARE_GAP_MISSING) {
		g->is_missing = true;
		return;
	}
	if (!info->header.has_lanes || rec->position < g->block_end) {
		begin_in_lane(g, g->lane);
		return;
	}
	begin(g, 0);
	g->open = 0;
	g->is_open = true;
}

static void add_block(struct tare_gaps *g, const struct tare_log_record *rec)
{
	g->lane = 1 + rec->rec.lane->lane;
	g->block_end = rec->position + rec->bytes + rec->rec.lane->bytes;
	if (g->is_missing)
		begin_in_lane(g, g->lane);
	g->is_missing = false;
}

static void add_record(struct tare_gaps *g, const struct tare_log_record *rec)
{
	uint64_t stamp = rec->rec.head->stamp;

	if (rec->position >= g->block_end)
		g->lane = 0;
	if (rec->is_repaired)
		begin_in_lane(g, g->lane);
	if (g->is_open && (g->open == 0 || g->open == g->lane))
		end(g, stamp);
	if (g->last_of[g->lane] < stamp)
		g->last_of[g->lane] = stamp;
	if (g->highest < stamp)
		g->highest = stamp;
}

void tare_gaps_add(struct tare_gaps *g, const struct tare_log_info *info, enum tare_log_step step,
                   const struct tare_log_record *rec)
{
	if (!g->last_of)
		g->last_of = tare_xcalloc(1 + TARE_LANES_MAX, sizeof(*g->last_of));
	if (step == TARE_LOG_GAP)
		add_gap(g, info, rec);
	else if (info->header.has_lanes && rec->info && rec->info->kind == TARE_KIND_LANE &&
	         rec->rec.lane->lane < TARE_LANES_MAX)
		add_block(g, rec);
	else
		add_record(g, rec);
}

void tare_gaps_end(struct tare_gaps *g, const struct tare_log_info *info)
{
	/* Where the header or the ring is damaged, anything may be missing, or have a wrong time. */
	if (info->is_header_damaged || info->is_ring_damaged)
		begin(g, 0);
	if (g->is_open || info->is_header_damaged || info->is_ring_damaged)
		end(g, g->highest);
	/* Segments know how many records are missing with their blocks; of a gap in a log nobody knows. */
	if (info->is_damaged) {
		g->records = g->count || !info->is_damage_counted ? 0 : info->damaged_records;
		begin(g, info->damaged_first);
		end(g, info->damaged_last);
	}
	free(g->last_of);
	g->last_of = NULL;
}
