/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a log record by record: finds the end of each record, steps over gaps, and cuts a damaged record where the
 * next one begins.
 */
#include "trace/log.h"

#include "base/array.h"
#include "base/xalloc.h"
#include "record/encode.h"
#include "trace/log_private.h"

#include <string.h>

/* From `position` on: the file, then what the ring has behind it. */
static void read_bytes(struct tare_log *log, uint8_t *to, uint64_t size, uint64_t position)
{
	const struct tare_log_info *info = &log->info;
	uint64_t from_file = 0;

	if (position < info->file_end) {
		from_file = info->file_end - position;
		if (from_file > size)
			from_file = size;
		tare_log_read_files(log, to, from_file, position);
	}
	memset(to + from_file, 0, size - from_file);
	if (position + size > info->file_end) {
		uint64_t at = position > info->file_end ? position : info->file_end;

		memcpy(to + (at - position), log->ring + (at - info->file_end), position + size - at);
	}
}

uint64_t tare_log_hold(struct tare_log *log, uint64_t most)
{
	const struct tare_log_info *info = &log->info;
	uint64_t size = info->end - info->begin;

	if (log->stored || info->has_ring || !size || size > most)
		return 0;
	log->held.bytes = tare_xmalloc(size);
	log->held.begin = info->begin;
	log->held.end = info->end;
	read_bytes(log, log->held.bytes, size, info->begin);
	return size;
}

static void read_window(struct tare_log *log, uint64_t position)
{
	uint64_t size = log->limit - position, most = log->is_glance ? LOG_GLANCE : LOG_WINDOW;

	size = size < most ? size : most;
	log->own_window = tare_array_reserve(log->own_window, &log->window_cap, size, 1);
	read_bytes(log, log->own_window, size, position);
	log->window = log->own_window;
	log->window_begin = position;
	log->window_end = position + size;
}

/* Fills the window from `position` on. */
static void fill_window(struct tare_log *log, uint64_t position)
{
	if (!log->held.bytes || position < log->held.begin || log->limit > log->held.end) {
		read_window(log, position);
		return;
	}
	log->window = log->held.bytes;
	log->window_begin = log->held.begin;
	log->window_end = log->held.end;
}

/* Makes sure that the longest record at `position`, and the head after it, lie in the window. */
static void need_window(struct tare_log *log, uint64_t position)
{
	uint64_t end = position + (log->is_glance ? LOG_GLANCE_RECORD_MAX : LOG_RECORD_MAX) + TARE_CELL;

	if (end > log->limit)
		end = log->limit;
	if (position < log->window_begin || end > log->window_end)
		fill_window(log, position);
}

static const uint8_t *bytes_at(const struct tare_log *log, uint64_t position)
{
	return log->window + (position - log->window_begin);
}

static bool is_sealed(const struct tare_log *log, uint64_t position)
{
	struct tare_record head;

	if (position < log->window_begin || position + sizeof(head) > log->window_end)
		return false;
	memcpy(&head, bytes_at(log, position), sizeof(head));
	return head.seal == tare_seal(position) && head.kind != 0 && head.cells != 0 && head.cells <= TARE_MAX_CELLS;
}

/* How long a record with these fields is as a rule; 0 where that is not known. */
static uint64_t usual_size(const struct tare_log *log, uint64_t position, const struct tare_kind_info *info)
{
	const uint8_t *bytes = bytes_at(log, position);

	if (!info || info->kind == TARE_KIND_PAD || log->window_end - position < info->fixed)
		return 0;
	if (info->tail == TARE_TAIL_NONE)
		return tare_encode_size(info->fixed, 0);
	return tare_encode_size(info->fixed,
	                        tare_decode_tail_length(info, bytes) * (info->tail == TARE_TAIL_PCS ? 8u : 1u));
}

/*
 * The end of the record at `position`, 0 if there is no telling. It is where the record says, unless
 * that is wrong: another record begins before it, or not there but where a record of this kind and
 * tail would end.
 */
static uint64_t end_of(const struct tare_log *log, uint64_t position, const struct tare_record *head,
                       const struct tare_kind_info *info)
{
	uint64_t size = usual_size(log, position, info);
	uint64_t said = position + (uint64_t)head->cells * TARE_CELL, usual = position + size;

	if (said > usual)
		for (uint64_t at = position + TARE_CELL; at < said && at < log->window_end; at += TARE_CELL)
			if (is_sealed(log, at))
				return at;
	if (said < usual && !is_sealed(log, said) && is_sealed(log, usual))
		return usual;
	if (position < log->info.file_end && said > log->info.file_end)
		return 0; /* the file was cut, or is being written; what follows is of the ring */
	return said <= log->window_end ? said : 0;
}

/* A length that cannot be stands for all there is, without the zeros that fill the last cell. */
static uint64_t tail_length(struct tare_log_record *rec, const struct tare_record *head, const uint8_t *tail,
                            uint64_t item_size)
{
	static const uint8_t zero[sizeof(uint64_t)];
	uint64_t room = rec->bytes > rec->said->fixed ? rec->bytes - rec->said->fixed : 0;
	uint64_t said = tare_decode_tail_length(rec->said, head);

	room /= item_size;
	if (said <= room)
		return said;
	rec->is_repaired = true;
	while (room > 0 && !memcmp(tail + (room - 1) * item_size, zero, item_size))
		room--;
	return room;
}

/* `head`: of the record as it lies in the log, `bytes` all of it. */
static void find_tail(struct tare_log_record *rec, const struct tare_record *head, const uint8_t *bytes)
{
	const uint8_t *tail = bytes + rec->said->fixed;

	if (rec->said->tail == TARE_TAIL_TEXT) {
		rec->text = (const char *)tail;
		rec->text_len = tail_length(rec, head, tail, 1);
	} else if (rec->said->tail == TARE_TAIL_PCS) {
		rec->pcs = (const uint64_t *)(const void *)tail;
		rec->depth = (uint32_t)tail_length(rec, head, tail, sizeof(uint64_t));
	}
}

/* From another version: the fields into the struct of this one, and the tail that this one expects. */
static __attribute__((noinline)) void translate(struct tare_log *log, struct tare_log_record *rec)
{
	static const uint64_t no_pcs[1];
	const struct tare_schema_kind *kind = tare_schema_kind(log->schema, rec->said->kind);

	rec->info = kind->info;
	if (!kind->info || kind->is_same)
		return;
	tare_schema_read(kind, rec->rec.head, log->scratch);
	rec->rec.head = (const struct tare_record *)(const void *)log->scratch;
	if (kind->info->tail != TARE_TAIL_TEXT)
		rec->text = NULL;
	else if (!rec->text)
		rec->text = "";
	if (kind->info->tail != TARE_TAIL_PCS)
		rec->pcs = NULL;
	else if (!rec->pcs)
		rec->pcs = no_pcs;
}

/* The fields that a record lacks are 0. */
static __attribute__((noinline)) void complete(struct tare_log *log, struct tare_log_record *rec, const uint8_t *bytes)
{
	memset(log->said, 0, sizeof(log->said));
	memcpy(log->said, bytes, rec->bytes);
	rec->rec.head = (const struct tare_record *)(const void *)log->said;
}

/* `said`: how a record of its kind lies in this log. Inline, because every record of a file comes through here. */
static inline __attribute__((always_inline)) void fill(struct tare_log *log, struct tare_log_record *rec,
                                                       const struct tare_kind_info *said, const uint8_t *bytes)
{
	const struct tare_record *head = (const struct tare_record *)(const void *)bytes;

	rec->is_repaired = rec->bytes != (uint64_t)head->cells * TARE_CELL;
	rec->info = rec->said = said;
	rec->rec.head = head;
	rec->raw = bytes;
	if (!said)
		return;
	/* What segments have has room for all of it. */
	if (rec->bytes < said->fixed && !log->stored)
		complete(log, rec, bytes);
	if (said->tail != TARE_TAIL_NONE)
		find_tail(rec, rec->rec.head, bytes);
	if (log->schema)
		translate(log, rec);
}

void tare_log_fill(struct tare_log *log, struct tare_log_record *rec, const uint8_t *bytes)
{
	const struct tare_record *head = (const struct tare_record *)(const void *)bytes;

	fill(log, rec, tare_schema_layout(log->schema, head->kind), bytes);
}

static bool take_record(struct tare_log *log, struct tare_log_record *rec)
{
	uint64_t position = log->position, end;
	const struct tare_kind_info *said;
	struct tare_record head;
	const uint8_t *bytes;

	if (!is_sealed(log, position))
		return false;
	bytes = bytes_at(log, position);
	memcpy(&head, bytes, sizeof(head));
	said = tare_schema_layout(log->schema, head.kind);
	end = end_of(log, position, &head, said);
	if (!end)
		return false;
	rec->position = position;
	rec->bytes = end - position;
	rec->is_in_ring = position >= log->info.file_end;
	fill(log, rec, said, bytes);
	log->counts.records++;
	log->counts.unknown += !rec->info;
	log->counts.repaired += rec->is_repaired;
	if (rec->info && rec->info->kind == TARE_KIND_LOST)
		log->counts.lost += rec->rec.lost->records;
	log->position = end;
	return true;
}

/* The next position worth looking at after one where no record is. */
static uint64_t step_over(struct tare_log *log, uint64_t position)
{
	const struct tare_log_info *info = &log->info;
	position += TARE_CELL;
	/* Holes of a sparse file can be huge, so ask now and then where they end. */
	if (position < info->file_end && position % 65536 == 0)
		position = tare_log_next_data(log, position);
	return position;
}

static bool is_zero_cell(const struct tare_log *log, uint64_t position)
{
	static const uint8_t zero[TARE_CELL];

	return position < log->window_begin || position >= log->window_end ||
	       !memcmp(log->window + (position - log->window_begin), zero, sizeof(zero));
}

/* Returns the kind of the record that ends it, NULL where none does. */
static const struct tare_kind_info *take_gap(struct tare_log *log, struct tare_log_record *rec)
{
	const struct tare_log_info *info = &log->info;
	uint64_t begin = log->position, at = begin;
	bool is_empty = true, is_cut = false;
	struct tare_log_record next = { 0 };
	struct tare_log_counts counts = log->counts;

	do {
		is_empty = is_empty && is_zero_cell(log, at);
		is_cut = is_cut || is_sealed(log, at); /* one that does not end before the log does */
		at = step_over(log, at);
		next = (struct tare_log_record){ 0 };
		if (at >= log->limit)
			break;
		need_window(log, at);
		log->position = at;
	} while (!take_record(log, &next));
	/* The record after the gap was only looked at. */
	log->counts = counts;
	log->position = at < log->limit ? at : log->limit;
	rec->position = begin;
	rec->bytes = log->position - begin;
	if (is_cut)
		rec->gap = TARE_GAP_CUT;
	else
		rec->gap = is_empty ? TARE_GAP_EMPTY : TARE_GAP_UNFINISHED;
	if (log->position == info->end && log->cut_bytes > 0) {
		rec->bytes += log->cut_bytes;
		log->is_cut_told = true;
	}
	return next.info;
}

/*
 * While drainers write, a window may have the end of a block and not its begin: it was read when the begin was not
 * written yet, and the end was. Records of such a block are the ring's. The begin is written first, so a window that is
 * read now has it; where it does not, the block is damaged. False: this was looked at again.
 */
static bool look_again(struct tare_log *log, uint64_t position)
{
	if (!log->info.has_ring || position >= log->info.file_end)
		return false;
	if (log->again.end <= position) {
		log->again.end = position + TARE_CELL;
		log->again.times = 0;
	}
	if (log->again.times++ == LOG_LOOKS)
		return false;
	log->position = position;
	fill_window(log, position);
	return true;
}

/*
 * A block may be being written in this gap: there are bytes in it, or a record behind it that is of no block. A gap of
 * zeros before a block is room that a drainer took in vain.
 */
static bool may_be_being_written(const struct tare_log *log, const struct tare_log_record *gap,
                                 const struct tare_kind_info *next)
{
	return log->info.header.has_lanes && (gap->gap == TARE_GAP_UNFINISHED || (next && next->kind != TARE_KIND_LANE));
}

/* Of the head of a block only the begin is there: no lane goes back. */
static bool is_half_a_head(const struct tare_log *log, const struct tare_rec_lane *block)
{
	return block->bytes == 0 ||
	       (log->expected && block->lane < TARE_LANES_MAX && block->from + 1 < log->expected[block->lane]);
}

/* Of a block the positions from `cut` on. False: that is all of it. A lane whose counts are damaged is cut anywhere. */
static bool leave_out(struct tare_log *log, struct tare_log_record *rec, uint64_t cut)
{
	struct tare_rec_lane *block = (struct tare_rec_lane *)(void *)log->scratch;
	uint64_t end = log->position + rec->rec.lane->bytes;

	memcpy(block, rec->rec.lane, sizeof(*block));
	end = end < log->info.file_end ? end : log->info.file_end;
	if (block->from >= cut) {
		log->position = end;
		return false;
	}
	block->bytes = (uint32_t)(cut - block->from);
	rec->rec.lane = block;
	rec->raw = (const uint8_t *)block;
	log->left_out.begin = log->position + block->bytes;
	log->left_out.end = end;
	return true;
}

/*
 * A block begins. What the file has of a lane from `cut` on was being written when the log was opened; the ring has it
 * whole. Returns false if the block is left out. `missing`: how much of the lane lies between its last block and this.
 */
static bool enter_block(struct tare_log *log, struct tare_log_record *rec, uint64_t *missing)
{
	const struct tare_rec_lane *block = rec->rec.lane;
	uint64_t from = block->from, size = block->bytes, *expected;

	*missing = 0;
	if (!log->expected || !log->info.header.has_lanes || block->lane >= TARE_LANES_MAX || from % TARE_CELL ||
	    size % TARE_CELL)
		return true; /* damage: its records are read all the same */
	if (!rec->is_in_ring && log->info.has_ring && from + size > log->cut[block->lane] &&
	    !leave_out(log, rec, log->cut[block->lane]))
		return false;
	expected = &log->expected[block->lane];
	if (*expected && from > *expected - 1)
		*missing = from - (*expected - 1);
	*expected = from + rec->rec.lane->bytes + 1;
	return true;
}

/*
 * Between blocks there may be room that a drainer took in vain, and at the end of the file the begin of a block that
 * the ring still has.
 */
static bool is_no_loss(const struct tare_log *log, const struct tare_log_record *gap)
{
	return log->info.header.has_lanes &&
	       (gap->gap == TARE_GAP_EMPTY ||
	        (gap->gap == TARE_GAP_CUT && log->info.has_ring && log->position == log->info.file_end));
}

static enum tare_log_step take_missing(struct tare_log *log, struct tare_log_record *rec, uint64_t bytes)
{
	uint64_t position = rec->position;

	/* The next step is the block again, which then goes on where it does. */
	log->counts.records--;
	log->position = position;
	*rec = (struct tare_log_record){ .position = position, .bytes = bytes, .gap = TARE_GAP_MISSING };
	log->counts.gaps++;
	log->counts.gap_bytes += bytes;
	return TARE_LOG_GAP;
}

enum tare_log_step tare_log_next(struct tare_log *log, struct tare_log_record *rec)
{
	const struct tare_kind_info *next;
	uint64_t missing;

	if (log->stored)
		return tare_log_stored_next(log, rec);
	for (;;) {
		*rec = (struct tare_log_record){ 0 };
		if (log->left_out.end && log->position >= log->left_out.begin) {
			log->position = log->position > log->left_out.end ? log->position : log->left_out.end;
			log->left_out.end = 0;
		}
		if (log->position >= log->limit)
			break;
		need_window(log, log->position);
		if (!take_record(log, rec)) {
			next = take_gap(log, rec);
			if (may_be_being_written(log, rec, next) && look_again(log, rec->position))
				continue;
			if (is_no_loss(log, rec))
				continue;
			log->counts.gaps++;
			log->counts.gap_bytes += rec->bytes;
			return TARE_LOG_GAP;
		}
		if (rec->info && rec->info->kind == TARE_KIND_PAD) {
			log->counts.records--;
			continue;
		}
		if (!rec->info || rec->info->kind != TARE_KIND_LANE)
			return TARE_LOG_RECORD;
		if (is_half_a_head(log, rec->rec.lane) && look_again(log, rec->position)) {
			log->counts.records--;
			continue;
		}
		if (!enter_block(log, rec, &missing)) {
			log->counts.records--;
			continue;
		}
		return missing ? take_missing(log, rec, missing) : TARE_LOG_RECORD;
	}
	if (log->cut_bytes == 0 || log->is_cut_told)
		return TARE_LOG_END;
	log->is_cut_told = true;
	rec->position = log->info.end;
	rec->bytes = log->cut_bytes;
	rec->gap = TARE_GAP_CUT;
	log->counts.gaps++;
	log->counts.gap_bytes += rec->bytes;
	return TARE_LOG_GAP;
}
