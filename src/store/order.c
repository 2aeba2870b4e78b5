/* SPDX-License-Identifier: Apache-2.0 */
/* What the heads of blocks say about the order of a log's events. */
#include "store/store.h"

static const struct tare_segment_block *head_of(const struct tare_store *s, const struct tare_stored_log *log, size_t i)
{
	const struct tare_stored_block *block = &log->events[i];

	return &s->segments[block->segment].entries[block->entry].head;
}

/* The last stamp of a block, or its first if the last cannot be believed. */
static uint64_t last_of(const struct tare_segment_block *head, uint64_t max)
{
	return head->last - head->first <= max ? head->last : head->first;
}

/* How far a block begins before `high`. */
static uint64_t behind(const struct tare_segment_block *head, uint64_t high)
{
	return high > head->first ? high - head->first : 0;
}

struct tare_store_order tare_store_order(const struct tare_store *s, const struct tare_stored_log *log, uint64_t max)
{
	struct tare_store_order order = { 0 };
	uint64_t high = 0;

	for (size_t i = 0; i < log->event_nr; i++) {
		const struct tare_segment_block *head = head_of(s, log, i);
		uint64_t lag = behind(head, high), last = last_of(head, max);

		order.has_outliers |= last != head->last || lag > max;
		if (lag > order.lag && lag <= max)
			order.lag = lag;
		high = last > high ? last : high;
	}
	return order;
}

uint64_t tare_store_first(const struct tare_store_cursor *c)
{
	return head_of(c->store, c->log, c->next)->first;
}

bool tare_store_next_run(const struct tare_store *s, const struct tare_stored_log *log, uint64_t max,
                         struct tare_store_cursor *c)
{
	size_t i = c->until;
	uint64_t high = 0;

	c->store = s;
	c->log = log;
	c->from = i;
	for (; i < log->event_nr; i++) {
		const struct tare_segment_block *head = head_of(s, log, i);
		uint64_t lag = behind(head, high), last = last_of(head, max);

		if (lag > 0 && lag <= max)
			break;
		high = last > high ? last : high;
	}
	c->until = i;
	return c->until > c->from;
}
