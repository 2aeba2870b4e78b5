/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a stream one by one. A log in segments is in order, and is read by blocks: what is the same for many records
 * of a block, as the way from ticks to time, is found once for all of them.
 */
#include "trace/stream.h"

#include "base/array.h"
#include "trace/log_private.h"

#include <stdlib.h>

/* A record of the block that is read. */
struct tare_ready {
	const struct tare_record *head;
	int64_t ns;
	int64_t again_ns; /* of an outline: when one comes that makes this one needless; INT64_MAX: none does */
	uint32_t bytes;
};

void tare_stream_open(struct tare_rstream *s)
{
	s->reorder = tare_reorder_new(s->log, s->ranges, s->range_nr, s->lag.lag);
	s->has_blocks = s->range_nr == 1 && s->lag.lag == 0 && tare_log_has_blocks(s->log);
}

void tare_stream_free(struct tare_rstream *s)
{
	tare_reorder_free(s->reorder);
	free(s->ready);
}

void tare_stream_rewind(struct tare_rstream *s, bool is_outline)
{
	tare_reorder_rewind(s->reorder);
	s->is_outline = is_outline && s->has_blocks;
	s->is_begun = false;
	s->ready_at = s->ready_nr = 0;
	if (s->is_outline)
		tare_log_read_outline(s->log);
}

/* ---- blocks ---- */

static void take_times(const struct tare_recording *r, struct tare_rstream *s)
{
	struct tare_clock_line line = { 0 };
	int64_t shift = 0;

	for (size_t i = 0; i < s->ready_nr; i++) {
		uint64_t stamp = s->ready[i].head->stamp;

		if (stamp < line.from || stamp >= line.until) {
			line = tare_clockmap_line(s->process->clock, stamp);
			shift = tare_recording_ns(r, s->process, stamp) -
				tare_clock_line_ns(&line, stamp);
		}
		s->ready[i].ns = tare_clock_line_ns(&line, stamp) + shift;
	}
}

/* What makes an event of an outline needless: a later one of the same place. Events of other places are all given. */
enum { DEVICES = 64, PLACE_PHASE = DEVICES + 1, PLACE_NR };

/* -1: it is no such event. */
static int place_of(const struct tare_record *head)
{
	const struct tare_rec_tensor *rec = (const void *)head;

	if (head->kind == TARE_KIND_PHASE)
		return PLACE_PHASE;
	return head->kind == TARE_KIND_TENSOR && rec->device >= -1 && rec->device < DEVICES
		       ? rec->device + 1
		       : -1;
}

static void forget(int64_t next[PLACE_NR])
{
	for (int i = 0; i < PLACE_NR; i++)
		next[i] = INT64_MAX;
}

/* The first of a stream is always given: something begins with it. */
static void take_outline(struct tare_rstream *s)
{
	struct tare_ready *first = NULL;
	int64_t next[PLACE_NR];
	bool is_any = false;

	forget(next);
	for (size_t i = s->ready_nr; i-- > 0;) {
		int place = place_of(s->ready[i].head);

		if (place >= 0) {
			first = &s->ready[i];
			first->again_ns = next[place];
			next[place] = first->ns;
		} else if (is_any) {
			forget(next);
		}
		is_any = place >= 0;
	}
	if (first && !s->is_begun)
		first->again_ns = INT64_MAX;
	s->is_begun |= first != NULL;
}

static bool next_block(const struct tare_recording *r, struct tare_rstream *s)
{
	const struct tare_record_block *block;

	do {
		const struct tare_kind_info *info = NULL;
		uint16_t kind = 0;

		block = tare_log_next_block(s->log);
		if (!block)
			return false;
		s->ready_at = s->ready_nr = 0;
		s->ready = tare_array_reserve(s->ready, &s->ready_cap, block->n, sizeof(*s->ready));
		for (size_t i = 0; i < block->n; i++) {
			const struct tare_record *head = (const void *)block->records[i].data;

			if (head->kind != kind)
				info = tare_decode_kind(head->kind);
			kind = head->kind;
			if (info && info->is_event)
				s->ready[s->ready_nr++] =
					(struct tare_ready){ head, 0, INT64_MAX,
							     block->records[i].bytes };
		}
	} while (!s->ready_nr);
	take_times(r, s);
	if (s->is_outline)
		take_outline(s);
	return true;
}

void tare_stream_complete(struct tare_rstream *s)
{
	const struct tare_record *head = s->next.rec.head;

	if (!s->has_blocks)
		return;
	s->next = (struct tare_log_record){ .bytes = s->ready[s->ready_at - 1].bytes };
	tare_log_fill(s->log, &s->next, (const uint8_t *)head);
}

/* Of another kind than the record before it. */
static void set_kind(struct tare_rstream *s, const struct tare_record *head)
{
	s->next =
		(struct tare_log_record){ .info = tare_decode_kind(head->kind), .rec.head = head };
}

static bool next_ready(const struct tare_recording *r, struct tare_rstream *s)
{
	const struct tare_ready *ready;

	do {
		if (s->ready_at == s->ready_nr && !next_block(r, s))
			return false;
		ready = &s->ready[s->ready_at++];
	} while (ready->again_ns < r->others_ns);
	s->next_ns = ready->ns;
	s->next.rec.head = ready->head;
	if (!s->next.info || s->next.info->kind != ready->head->kind)
		set_kind(s, ready->head);
	if (s->next.info->tail != TARE_TAIL_NONE)
		tare_stream_complete(s);
	return true;
}

bool tare_stream_next(const struct tare_recording *r, struct tare_rstream *s)
{
	if (s->has_blocks) {
		s->has_next = next_ready(r, s);
		return s->has_next;
	}
	s->has_next = tare_reorder_next(s->reorder, &s->next);
	if (s->has_next)
		s->next_ns = tare_recording_ns(r, s->process, s->next.rec.head->stamp);
	return s->has_next;
}
