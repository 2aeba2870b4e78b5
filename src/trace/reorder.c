/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the records of a lane into the order of their stamps: they are read one behind the other into memory, and those before which no
 * other one can come any more become a block. Most are in order as they come, and few are far from where they belong.
 */
#include "trace/reorder.h"

#include "base/array.h"
#include "base/comparator.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

enum {
	USUAL_RECORDS = 512, /* of a block: what is read and what is made of it stay in the nearer memory */
	HELD_MAX = 64 << 20, /* bytes held back; beyond, order is given up before memory */
	NEAR = 16,           /* places that a record is moved by at once; where one is farther off, all are sorted */
	OUTLIER_RUN_MAX = 3,
};

struct held {
	uint64_t stamp, position;
	size_t at;      /* of its bytes; those of a later record of the log are behind it */
	uint32_t bytes; /* in the log … */
	uint32_t room;  /* … and in memory */
	uint32_t segment;
};

/* Bytes of records, one behind the other. */
struct bytes {
	uint8_t *data;
	size_t len, cap;
};

struct tare_reorder {
	struct tare_log *log;
	const struct tare_range *ranges;
	size_t range_nr, range; /* how many there are, which is read */
	size_t first_range;     /* those before are left out */
	uint64_t max_lag;
	struct tare_lag now;
	struct held
		*held; /* in their order, unless is_unsorted; those before `given` were given, those before `due` can be */
	size_t n, cap, given, due;
	bool is_unsorted;
	struct bytes bytes, spare;
	struct tare_record_block block;
	uint64_t *stamps;
	size_t stamp_cap;
	bool is_drained; /* the log has no more */
};

void tare_lag_add(struct tare_lag *lag, uint64_t stamp)
{
	if (stamp >= lag->high) {
		lag->high = stamp;
		lag->outlier_run = 0;
	} else if (lag->high - stamp <= TARE_REORDER_LAG_MAX) {
		if (lag->high - stamp > lag->lag)
			lag->lag = lag->high - stamp;
		lag->outlier_run = 0;
	} else if (++lag->outlier_run == OUTLIER_RUN_MAX) {
		/* One damaged stamp from the far future, not all of these from the past. */
		lag->high = stamp;
		lag->outlier_run = 0;
	}
}

static void free_memory(struct tare_reorder *r)
{
	free(r->held);
	free(r->bytes.data);
	free(r->spare.data);
	free(r->block.records);
	free(r->stamps);
	r->held = NULL;
	r->bytes = r->spare = (struct bytes){ 0 };
	r->block = (struct tare_record_block){ 0 };
	r->stamps = NULL;
	r->n = r->cap = r->given = r->due = r->stamp_cap = 0;
}

void tare_reorder_free(struct tare_reorder *r)
{
	if (!r)
		return;
	free_memory(r);
	free(r);
}

void tare_reorder_rewind(struct tare_reorder *r)
{
	r->n = r->given = r->due = r->bytes.len = 0;
	r->is_unsorted = r->is_drained = false;
	r->range = r->first_range;
	if (r->range_nr > 0)
		tare_log_set_range(r->log, r->ranges[r->range].begin, r->ranges[r->range].end);
	r->now = (struct tare_lag){ 0 };
}

/* A record is at most max_lag behind one before it: where one is that old, none before it is later than `stamp`. */
void tare_reorder_pass_over(struct tare_reorder *r, uint64_t stamp)
{
	r->first_range = 0;
	for (size_t i = r->range_nr; i-- > 0 && stamp > r->max_lag;) {
		uint64_t first = r->ranges[i].first;

		if (first && first <= stamp - r->max_lag) {
			r->first_range = i;
			return;
		}
	}
}

struct tare_reorder *tare_reorder_new(struct tare_log *log, const struct tare_range *ranges, size_t range_nr,
                                      uint64_t lag)
{
	struct tare_reorder *r = tare_xcalloc(1, sizeof(*r));

	r->log = log;
	r->ranges = ranges;
	r->range_nr = range_nr;
	r->max_lag = lag;
	tare_reorder_rewind(r);
	return r;
}

/* ---- into memory ---- */

static bool next_in_log(struct tare_reorder *r, struct tare_log_record *rec)
{
	enum tare_log_step step;

	while (r->range < r->range_nr) {
		while ((step = tare_log_next(r->log, rec)) != TARE_LOG_END)
			if (step == TARE_LOG_RECORD && rec->info && rec->info->is_event)
				return true;
		if (++r->range < r->range_nr)
			tare_log_set_range(r->log, r->ranges[r->range].begin, r->ranges[r->range].end);
	}
	return false;
}

static uint8_t *make_room(struct bytes *b, size_t size)
{
	b->data = tare_array_reserve(b->data, &b->cap, b->len + size, 1);
	b->len += size;
	return b->data + b->len - size;
}

static size_t round_to_cells(size_t size)
{
	return (size + TARE_CELL - 1) / TARE_CELL * TARE_CELL;
}

/* The last one comes where it belongs; records of one stamp stay in the order of the log. */
static void insert(struct tare_reorder *r)
{
	const struct held new = r->held[r->n - 1];
	size_t i = r->n - 1, end = i > NEAR ? i - NEAR : 0;

	if (!r->max_lag || r->is_unsorted || !i || new.stamp >= r->held[i - 1].stamp)
		return; /* mostly */
	for (; i > end && new.stamp < r->held[i - 1].stamp; i--)
		r->held[i] = r->held[i - 1];
	r->held[i] = new;
	r->is_unsorted = i && new.stamp < r->held[i - 1].stamp;
}

static void hold(struct tare_reorder *r, const struct tare_log_record *rec)
{
	size_t size = rec->bytes < rec->said->fixed ? rec->said->fixed : rec->bytes, room = round_to_cells(size);
	uint8_t *to = make_room(&r->bytes, room);

	memcpy(to, rec->raw, rec->bytes);
	memset(to + rec->bytes, 0, room - rec->bytes);
	TARE_APPEND(r->held, r->n, r->cap) = (struct held){ .stamp = rec->rec.head->stamp,
		                                                .position = rec->position,
		                                                .at = r->bytes.len - room,
		                                                .bytes = (uint32_t)rec->bytes,
		                                                .room = (uint32_t)room,
		                                                .segment = rec->segment };
	insert(r);
}

/* ---- in order ---- */

TARE_COMPARATOR(by_stamp, struct held, TARE_RISING(stamp) TARE_RISING(at))

/* Nothing that is still to come belongs before it. */
static bool is_due(const struct tare_reorder *r, const struct held *h)
{
	return h->stamp < r->now.high && r->now.high - h->stamp > r->max_lag;
}

static void find_due(struct tare_reorder *r)
{
	if (r->is_unsorted)
		TARE_SORT(r->held, r->n, by_stamp);
	r->is_unsorted = false;
	r->due = r->n;
	if (r->is_drained || r->bytes.len > HELD_MAX || !r->max_lag)
		return;
	while (r->due && !is_due(r, &r->held[r->due - 1]))
		r->due--;
}

/* What was given goes, and the bytes of the others are in their order, as they are. */
static void forget_given(struct tare_reorder *r)
{
	struct bytes were = r->bytes;

	r->bytes = r->spare;
	r->spare = were;
	r->bytes.len = 0;
	r->n -= r->given;
	if (r->n)
		memmove(r->held, r->held + r->given, r->n * sizeof(*r->held));
	for (size_t i = 0; i < r->n; i++) {
		struct held *h = &r->held[i];

		memcpy(make_room(&r->bytes, h->room), were.data + h->at, h->room);
		h->at = r->bytes.len - h->room;
	}
	r->given = r->due = 0;
}

/* As many are read as were held back, so that each is moved few times however long that is. */
static void read_on(struct tare_reorder *r)
{
	size_t wanted = r->n > USUAL_RECORDS / 2 ? 2 * r->n : USUAL_RECORDS;
	struct tare_log_record rec;

	while (!r->is_drained && r->n < wanted && r->bytes.len <= HELD_MAX) {
		r->is_drained = !next_in_log(r, &rec);
		if (r->is_drained)
			break;
		tare_lag_add(&r->now, rec.rec.head->stamp);
		hold(r, &rec);
	}
	find_due(r);
}

/* Records from the first that is due on, as far as they are of one segment. */
static void give(struct tare_reorder *r, uint32_t segment)
{
	struct tare_record_block *b = &r->block;

	b->records = tare_array_reserve(b->records, &b->cap, r->due - r->given, sizeof(*b->records));
	r->stamps = tare_array_reserve(r->stamps, &r->stamp_cap, r->due - r->given, sizeof(*r->stamps));
	b->stamps = r->stamps;
	for (b->n = 0; r->given < r->due && r->held[r->given].segment == segment; b->n++) {
		const struct held *h = &r->held[r->given++];

		r->stamps[b->n] = h->stamp;
		b->records[b->n] = (struct tare_block_record){ r->bytes.data + h->at, h->position, h->bytes };
	}
}

const struct tare_record_block *tare_reorder_block(struct tare_reorder *r, uint32_t *segment)
{
	if (r->given == r->due) {
		forget_given(r);
		while (!r->due && !(r->is_drained && !r->n))
			read_on(r);
	}
	if (!r->due) {
		free_memory(r);
		return NULL;
	}
	*segment = r->held[r->given].segment;
	give(r, *segment);
	return &r->block;
}
