/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "doubt": calls that shared a stretch were given shares of what was measured, between bounds. When a process
 * ends, the counter says what it had: what its rows differ by, within their bounds, is in the rows of those that it
 * shared with, whose sum is known.
 */
#include "ledger/settle/settle.h"

#include <stdlib.h>

/* By how much the row may be larger than it is (`is_more`), or smaller. */
static int64_t room_of(const struct tare_bucket *b, bool is_more)
{
	int64_t low = b->now.low > 0 ? b->now.low : 0;
	int64_t room = is_more ? b->now.high - b->now.bytes : b->now.bytes - low;

	return b->now.low < b->now.high && room > 0 ? room : 0;
}

/* Of two rows, the smaller that has room for all; else the larger. */
static bool is_better(const struct tare_bucket *a, const struct tare_bucket *b, bool is_more, int64_t wanted)
{
	int64_t x = room_of(a, is_more), y = room_of(b, is_more);

	if ((x >= wanted) != (y >= wanted))
		return x >= wanted;
	if (x != y)
		return x >= wanted ? x < y : x > y;
	return a->process != b->process ? a->process < b->process : a->account < b->account;
}

static bool is_of_other(const struct tare_bucket *b, const bool *is_leaving)
{
	return b->process >= 0 && !is_leaving[b->process] && tare_bucket_is_device(b);
}

int64_t tare_fold_doubt_room(const struct tare_fold *f, const struct tare_device_fold *d, const bool *is_leaving,
                             bool is_more)
{
	int64_t room = 0;

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &f->buckets[i];

		if (b->process >= 0 && is_leaving[b->process] && tare_bucket_is_device(b))
			room += room_of(b, is_more);
	}
	return room;
}

int64_t tare_fold_doubt_settle(struct tare_fold *f, struct tare_device_fold *d, const bool *is_leaving, int64_t bytes)
{
	bool is_more = bytes > 0;
	int64_t left = llabs(bytes);

	while (left > 0) {
		struct tare_bucket *best = NULL;
		int64_t part;

		for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
			struct tare_bucket *b = &f->buckets[i];

			if (is_of_other(b, is_leaving) && room_of(b, is_more) > 0 && (!best || is_better(b, best, is_more, left)))
				best = b;
		}
		if (!best)
			break;
		part = room_of(best, is_more) < left ? room_of(best, is_more) : left;
		left -= part;
		tare_fold_book(f, (int)(best - f->buckets),
		               &(struct tare_amount){ .bytes = is_more ? part : -part,
		                                      .evidence = 1 + TARE_EVIDENCE_INFERRED });
	}
	return is_more ? llabs(bytes) - left : left - llabs(bytes);
}
