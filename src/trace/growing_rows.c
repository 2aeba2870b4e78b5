/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Most of what a log gets are records of a few kinds, one behind the other in a block of a lane, that lie as the structs of this
 * version and change no table. A row of these is copied as it is; what comes behind it is read record by record.
 */
#include "trace/growing_private.h"

#include "base/array.h"
#include "trace/outline.h"

#include <string.h>

/* 0: it is of no such kind. */
static size_t size_of(const struct tare_record *head)
{
	const struct tare_kind_info *info = tare_outline_place(head) >= 0 ? tare_decode_kind(head->kind) : NULL;

	return info && info->tail == TARE_TAIL_NONE && info->fixed == (size_t)head->cells * TARE_CELL ? info->fixed : 0;
}

/* Where the row that begins at `at` ends, no later than `end`. `bytes`: of the log from there on. */
static uint64_t row_end(const uint8_t *bytes, uint64_t at, uint64_t end)
{
	size_t size;

	while (at + sizeof(struct tare_record) <= end) {
		const struct tare_record *head = (const struct tare_record *)(const void *)bytes;

		size = head->seal == tare_seal(at) ? size_of(head) : 0;
		if (!size || at + size > end)
			break;
		bytes += size;
		at += size;
	}
	return at;
}

static void hold_row(struct tare_growing *g, struct tare_growing_log *l, const uint8_t *bytes, size_t size)
{
	uint8_t *own = memcpy(tare_growing_reserve(g, size), bytes, size);
	struct tare_growing_lane *lane = &l->lanes[l->lane];
	struct tare_rprocess *p = l->process;

	g->slab->live--; /* as many as there are records */
	for (const uint8_t *end = own + size; own < end; g->slab->live++) {
		const struct tare_record *head = (const struct tare_record *)(const void *)own;

		TARE_APPEND(g->waiting.items, g->waiting.nr, g->waiting.cap) = (struct tare_held){
			.stamp = head->stamp, .process = p, .slab = g->slab, .head = head, .lane = (int16_t)l->lane
		};
		lane->last_stamp = head->stamp;
		p->last_stamp = head->stamp > p->last_stamp ? head->stamp : p->last_stamp;
		own += (size_t)head->cells * TARE_CELL;
	}
}

void tare_growing_take_row(struct tare_growing *g, struct tare_growing_log *l)
{
	struct tare_log *reader = l->reader;
	uint64_t at = l->position, end = l->block_end < reader->window_end ? l->block_end : reader->window_end;
	const uint8_t *bytes;

	if (!l->block_end || reader->schema || reader->position != at || at < reader->window_begin || at >= end ||
	    l->block_position + (at - l->block_begin) < l->lanes[l->lane].position || !l->process->first_stamp)
		return;
	bytes = reader->window + (at - reader->window_begin);
	end = row_end(bytes, at, end);
	if (end == at)
		return;
	hold_row(g, l, bytes, end - at);
	l->position = reader->position = end;
}
