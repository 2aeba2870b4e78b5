/* SPDX-License-Identifier: Apache-2.0 */
/* How old the records are that lie in a log's files behind what is read of them. */
#include "trace/log_private.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A thread's records lie in the order of their stamps: of a block the first one is enough. */
static uint64_t oldest(struct tare_log *log)
{
	uint64_t found = UINT64_MAX, block_end = 0;
	struct tare_log_record rec;
	enum tare_log_step step;

	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END) {
		if (step != TARE_LOG_RECORD || !rec.info)
			continue;
		if (rec.info->kind == TARE_KIND_LANE)
			block_end = rec.position + rec.bytes + rec.rec.lane->bytes;
		if (!rec.info->is_event)
			continue;
		found = least(found, rec.rec.head->stamp);
		if (block_end > log->position)
			log->position = least(block_end, log->limit);
	}
	return found;
}

uint64_t tare_log_oldest_between(struct tare_log *log, uint64_t begin, uint64_t end)
{
	struct tare_log_info info = log->info;
	uint64_t ring_end = log->ring_end, cut_bytes = log->cut_bytes, found;

	if (begin >= end)
		return UINT64_MAX;
	log->info.file_end = log->info.end = log->ring_end = end;
	log->cut_bytes = 0;
	tare_log_set_range(log, begin, end);
	log->is_glance = true;
	found = oldest(log);
	log->is_glance = false;
	log->window_end = log->window_begin;
	log->info = info;
	log->ring_end = ring_end;
	log->cut_bytes = cut_bytes;
	return found;
}
