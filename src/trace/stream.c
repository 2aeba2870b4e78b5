/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a stream one by one, and many at once. They come in blocks: of segments, or as reorder.c makes them of a log. What is the
 * same for many records of a block, as the way from ticks to time, is found once for all of them. A log may have hundreds of runs of
 * blocks of segments, of which few overlap: each has memory from its first record to its last.
 */
#include "trace/stream.h"

#include "base/array.h"
#include "trace/log_private.h"
#include "trace/near_line.h"
#include "trace/outline.h"

#include <limits.h>
#include <stdlib.h>

void tare_stream_open(struct tare_rstream *s)
{
	if (s->is_run)
		tare_store_begin(&s->run, true, false);
	else
		s->reorder = tare_reorder_new(s->log, s->ranges, s->range_nr, s->lag.lag);
}

static void free_times(struct tare_rstream *s)
{
	free(s->times);
	free(s->again);
	free(s->heads);
	free(s->columns);
	s->times = s->again = NULL;
	s->heads = NULL;
	s->columns = NULL;
	s->time_cap = s->again_cap = s->head_cap = s->column_cap = 0;
}

void tare_stream_free(struct tare_rstream *s)
{
	tare_reorder_free(s->reorder);
	tare_store_cursor_free(&s->run);
	free_times(s);
}

void tare_stream_close(struct tare_rstream *s)
{
	tare_stream_free(s);
	if (!s->is_log_shared)
		tare_log_close(s->log);
	free(s->ranges);
}

void tare_stream_rewind(struct tare_rstream *s, bool is_outline)
{
	s->has_structs = tare_log_has_runs(s->log);
	s->is_outline = is_outline && s->has_structs;
	s->is_begun = false;
	s->block = NULL;
	s->at = s->run_at = s->run_begin = 0;
	if (!s->is_run) {
		tare_reorder_rewind(s->reorder);
		return;
	}
	tare_store_begin(&s->run, true, false);
	s->run.is_outline = is_outline;
	s->run.has_columns = !is_outline;
}

void tare_stream_pass_over(struct tare_rstream *s, uint64_t stamp)
{
	if (s->reorder)
		tare_reorder_pass_over(s->reorder, stamp);
}

/* ---- blocks ---- */

/* pre: it is in no run. */
static const struct tare_record *head_at(const struct tare_rstream *s, size_t i)
{
	return (const struct tare_record *)(const void *)s->block->records[i].data;
}

/* Is there a block whose records come many at once, and are all told? */
static bool has_many(const struct tare_rstream *s)
{
	return s->block && s->has_structs && !s->is_outline;
}

/* The run that a record is in, NULL: in none. pre: `i` is not before where this was called for last. */
static const struct tare_tensor_run *run_at(struct tare_rstream *s, size_t i)
{
	const struct tare_record_block *b = s->block;

	if (i < s->run_begin)
		return NULL;
	while (s->run_at < b->run_nr && b->runs[s->run_at].end <= i)
		s->run_at++;
	s->run_begin = s->run_at < b->run_nr ? b->runs[s->run_at].begin : SIZE_MAX;
	return s->run_begin <= i ? &b->runs[s->run_at] : NULL;
}

static const struct tare_record *record_of(struct tare_rstream *s, const struct tare_tensor_run *run, size_t i)
{
	tare_tensor_columns_get(&run->columns, i - run->begin, &s->tensor);
	return &s->tensor.head;
}

/* Of records from `i` on as far as they lie on the line; returns behind the last. */
static size_t take_near(struct tare_rstream *s, size_t i, const struct tare_near_line *line)
{
	const uint64_t *stamps = s->block->stamps;
	size_t n = s->block->n;
	int64_t *times = s->times;

	for (; i < n && tare_near_line_has(line, stamps[i]); i++)
		times[i] = tare_near_line_ns(line, stamps[i]);
	return i;
}

/* All differences are less than half of what a stamp can be. */
static bool are_ascending(const uint64_t *stamps, size_t n)
{
	uint64_t all = 0;

	for (size_t i = 1; i < n; i++)
		all |= stamps[i] - stamps[i - 1];
	return !(all >> 63);
}

static bool is_after_last(const struct tare_rstream *s, size_t i)
{
	return i == 0 || i >= s->block->n || s->times[i - 1] <= s->times[i];
}

/* Along one line times ascend as stamps do, so only where one begins they are compared. */
static void take_times(const struct tare_recording *r, struct tare_rstream *s)
{
	s->are_times_in_order = are_ascending(s->block->stamps, s->block->n);
	s->times = tare_array_reserve(s->times, &s->time_cap, s->block->n, sizeof(*s->times));
	for (size_t i = 0, end; i < s->block->n; i = end) {
		uint64_t stamp = s->block->stamps[i];
		struct tare_near_line line;

		s->times[i] = tare_recording_ns(r, s->process, stamp);
		line = tare_near_line(s->process, stamp, s->times[i]);
		end = take_near(s, i + 1, &line);
		s->are_times_in_order &= is_after_last(s, i) && (end == i + 1 || is_after_last(s, i + 1));
	}
}

/* INT64_MAX: none comes. */
static void forget(int64_t next[TARE_PLACE_NR])
{
	for (int i = 0; i < TARE_PLACE_NR; i++)
		next[i] = INT64_MAX;
}

/* The first of a stream is always given: something begins with it, unless it only frees. */
static void take_outline(struct tare_rstream *s)
{
	int64_t next[TARE_PLACE_NR], *first = NULL;
	bool is_any = false;

	forget(next);
	for (size_t i = s->block->n; i-- > 0;) {
		int place = tare_outline_place(head_at(s, i));

		s->again[i] = INT64_MAX;
		if (place >= 0) {
			s->again[i] = next[place];
			first = tare_outline_begins(place) ? &s->again[i] : first;
			next[place] = s->times[i];
		} else if (is_any) {
			forget(next);
		}
		is_any = place >= 0;
	}
	if (first && !s->is_begun)
		*first = INT64_MAX;
	s->is_begun |= first != NULL;
}

/*
 * Of a block that has its ends only, those between are needed if others come before the last: it is read again then.
 */
static void complete_block(const struct tare_recording *r, struct tare_rstream *s)
{
	if (s->block != &s->run.ends.block || s->times[s->block->n - 1] < r->others_ns)
		return;
	s->block = tare_store_whole_block(&s->run);
	if (s->block)
		take_times(r, s);
}

static const struct tare_record_block *read_block(struct tare_rstream *s)
{
	const struct tare_record_block *b;

	if (!s->is_run)
		return tare_reorder_block(s->reorder, &s->segment);
	b = tare_store_next_block(&s->run);
	s->segment = s->run.segment;
	return b;
}

static bool next_block(const struct tare_recording *r, struct tare_rstream *s)
{
	s->at = s->run_at = s->run_begin = 0;
	s->is_waiting = false;
	do {
		s->block = read_block(s);
		if (!s->block) {
			free_times(s);
			return false;
		}
		take_times(r, s);
		complete_block(r, s);
	} while (!s->block);
	if (!s->is_outline)
		return true;
	s->again = tare_array_reserve(s->again, &s->again_cap, s->block->n, sizeof(*s->again));
	take_outline(s);
	return true;
}

void tare_stream_complete(struct tare_rstream *s)
{
	const struct tare_record *head = s->next.rec.head;
	const struct tare_block_record of_run = { .data = (const uint8_t *)head, .bytes = sizeof(s->tensor) };
	const struct tare_block_record *rec = head == &s->tensor.head ? &of_run : &s->block->records[s->at - 1];

	s->next = (struct tare_log_record){ .position = rec->position, .bytes = rec->bytes };
	tare_log_fill(s->log, &s->next, rec->data);
}

/* Of another kind than the record before it. */
static void set_kind(struct tare_rstream *s, const struct tare_record *head)
{
	s->next = (struct tare_log_record){ .info = tare_decode_kind(head->kind), .rec.head = head };
	s->kind = head->kind;
}

/* To the next that is no table, nor needless in an outline. */
static bool next_in_block(const struct tare_recording *r, struct tare_rstream *s)
{
	for (;;) {
		const struct tare_tensor_run *run;
		size_t i = s->at++;

		if (!s->block || i >= s->block->n) {
			if (!next_block(r, s))
				return false;
			continue;
		}
		if (s->is_outline && s->again[i] < r->others_ns)
			continue;
		run = run_at(s, i);
		s->next.rec.head = run ? record_of(s, run, i) : head_at(s, i);
		s->next_ns = s->times[i];
		if (s->kind != s->next.rec.head->kind)
			set_kind(s, s->next.rec.head);
		if (!tare_schema_is_alike(s->log->schema, s->kind))
			tare_stream_complete(s);
		if (!s->next.info || !s->next.info->is_event)
			continue;
		if (s->next.info->tail != TARE_TAIL_NONE)
			tare_stream_complete(s);
		return true;
	}
}

bool tare_stream_first(const struct tare_recording *r, struct tare_rstream *s)
{
	if (!s->is_run)
		return tare_stream_next(r, s);
	s->bound.stamp = tare_store_first(&s->run);
	s->next.rec.head = &s->bound;
	s->next_ns = tare_recording_ns(r, s->process, s->bound.stamp);
	s->is_waiting = true;
	return true;
}

bool tare_stream_next(const struct tare_recording *r, struct tare_rstream *s)
{
	s->has_next = next_in_block(r, s);
	return s->has_next;
}

/* Behind the last of records begin .. end-1 of a run up to which all are of that ordinal of a device. */
static size_t end_of_device(const struct tare_tensor_run *run, size_t begin, size_t end, int16_t device)
{
	const struct tare_tensor_columns *c = &run->columns;

	if (run->is_of_one_device && c->others[0].device == device)
		return end;
	while (begin < end && c->others[c->which[begin - run->begin]].device == device)
		begin++;
	return begin;
}

/* The same of those before that time. */
static size_t end_of_time(const struct tare_rstream *s, size_t begin, size_t end, int64_t before)
{
	if (begin < end && s->are_times_in_order && s->times[end - 1] < before)
		return end;
	while (begin < end && s->times[begin] < before)
		begin++;
	return begin;
}

/* The ith record as one of a block of tensors; NULL: it is none, or does not lie like others. */
static const struct tare_rec_tensor *tensor_at(const struct tare_rstream *s, size_t i)
{
	const struct tare_block_record *rec = &s->block->records[i];

	return head_at(s, i)->kind == TARE_KIND_TENSOR && rec->bytes == sizeof(struct tare_rec_tensor)
	           ? (const struct tare_rec_tensor *)(const void *)rec->data
	           : NULL;
}

/* As tare_stream_run(), of records that lie one behind the other: each is one of `others`, and the rest of its columns is made here. */
static size_t make_run(struct tare_rstream *s, int64_t before, struct tare_tensor_columns *columns, int64_t **times)
{
	size_t begin = s->at, most = s->block->n - begin, n = 0;
	int16_t device = s->next.rec.tensor->device;
	const struct tare_rec_tensor *first = most ? tensor_at(s, begin) : NULL, *rec = first;
	uint64_t *addresses, *which;
	int64_t *bytes;

	if (!first)
		return 0;
	s->columns = tare_array_reserve(s->columns, &s->column_cap, 3 * most, sizeof(*s->columns));
	addresses = s->columns;
	which = addresses + most;
	bytes = (int64_t *)(which + most);
	for (; n < most && rec == first + n && rec->device == device && s->times[begin + n] < before; n++) {
		addresses[n] = rec->block;
		which[n] = n;
		bytes[n] = rec->bytes;
		rec = n + 1 < most ? tensor_at(s, begin + n + 1) : NULL;
	}
	*columns = (struct tare_tensor_columns){ s->block->stamps + begin, addresses, bytes, which, first };
	*times = s->times + begin;
	if (n) {
		s->next.rec.tensor = first + n - 1;
		s->next_ns = s->times[begin + n - 1];
	}
	s->at = begin + n;
	return n;
}

size_t tare_stream_run(struct tare_rstream *s, int64_t before, struct tare_tensor_columns *columns, int64_t **times)
{
	const struct tare_tensor_run *run;
	size_t begin = s->at, end;

	if (!has_many(s))
		return 0;
	if (!s->is_run)
		return make_run(s, before, columns, times);
	run = run_at(s, begin);
	if (!run)
		return 0;
	end = end_of_device(run, begin, run->end, s->next.rec.tensor->device);
	end = end_of_time(s, begin, end, before);
	*columns = tare_tensor_columns_from(run->columns, begin - run->begin);
	*times = s->times + begin;
	if (end > begin) {
		s->next.rec.head = record_of(s, run, end - 1);
		s->next_ns = s->times[end - 1];
	}
	s->at = end;
	return end - begin;
}

size_t tare_stream_phase_run(struct tare_rstream *s, int64_t before, const uint8_t **records, int64_t **times)
{
	size_t begin = s->at, end = begin, limit;
	const uint8_t *rec;

	if (!has_many(s) || run_at(s, begin))
		return 0;
	limit = s->run_begin < s->block->n ? s->run_begin : s->block->n;
	*records = rec = (const uint8_t *)s->next.rec.head + TARE_PHASE_STRIDE;
	*times = s->times + begin;
	for (; end < limit && s->times[end] < before; end++, rec += TARE_PHASE_STRIDE)
		if (s->block->records[end].data != rec || head_at(s, end)->kind != TARE_KIND_PHASE)
			break;
	if (end > begin) {
		s->next.rec.head = head_at(s, end - 1);
		s->next_ns = s->times[end - 1];
	}
	s->at = end;
	return end - begin;
}

/* The ordinal of the device of a record of the heap; INT_MIN: it is none. */
static int heap_of(const struct tare_record *head)
{
	if (head->kind == TARE_KIND_HEAP_BLOCK)
		return ((const struct tare_rec_heap_block *)(const void *)head)->device;
	if (head->kind == TARE_KIND_HEAP_FREED)
		return ((const struct tare_rec_heap_freed *)(const void *)head)->device;
	return INT_MIN;
}

size_t tare_stream_heap_run(struct tare_rstream *s, int64_t before, const struct tare_record *const **records,
                            int64_t **times)
{
	size_t begin = s->at, end = begin, limit;
	int device;

	if (!has_many(s) || run_at(s, begin))
		return 0;
	device = heap_of(s->next.rec.head);
	limit = s->run_begin < s->block->n ? s->run_begin : s->block->n;
	s->heads = tare_array_reserve(s->heads, &s->head_cap, limit - begin, sizeof(*s->heads));
	for (; end < limit && s->times[end] < before; end++) {
		s->heads[end - begin] = head_at(s, end);
		if (device == INT_MIN || heap_of(s->heads[end - begin]) != device)
			break;
	}
	*records = s->heads;
	*times = s->times + begin;
	if (end > begin) {
		s->next.rec.head = head_at(s, end - 1);
		s->next_ns = s->times[end - 1];
		if (s->kind != s->next.rec.head->kind)
			set_kind(s, s->next.rec.head);
	}
	s->at = end;
	return end - begin;
}
